import 'server-only';
import { decode } from 'next-auth/jwt';
import { environment } from '@/lib/env';
import type { KnownAskers } from '@/lib/identity/known-askers';
import type { Actor } from '@/lib/shared/permissions';
import { getConsole } from '../console';
import { log } from '../log';
import { sessionCookieName } from './cookies';
import { publicOrigin } from './origin';

/** Which session the signed cookie names, when its signature and time are good; anything else, forged or broken, is none. It holds no role: that is read from the store, each time. */
export async function readSessionId(cookie: string | undefined): Promise<string | null> {
  const { secret } = environment();
  if (cookie === undefined || cookie === '' || cookie.length > 4_096 || secret === undefined) return null;
  const token = await decode({ token: cookie, secret }).catch(() => null);
  return typeof token?.sid === 'string' && typeof token.sub === 'string' ? token.sid : null;
}

/** Whether there is a session to go on with. A store that cannot be asked means no: signing in will say so. */
export async function isSignedIn(jar: { get(name: string): { value: string } | undefined }): Promise<boolean> {
  const sid = await readSessionId(jar.get(sessionCookieName(publicOrigin()))?.value);
  if (sid === null) return false;
  try {
    return (await (await getConsole()).askers.ofSession(sid, false)) !== null;
  } catch (error) {
    log().warn({ err: error }, 'the session could not be checked');
    return false;
  }
}

/** What an Authorization header says. Schemes that are not ours are for somebody in front of us. */
export function bearerToken(authorization: string | null): { kind: 'none' | 'malformed' } | { kind: 'token'; token: string } {
  if (authorization === null || !/^bearer\b/i.test(authorization)) return { kind: 'none' };
  const match = /^bearer +([\x21-\x7e]{8,512})$/i.exec(authorization);
  return match?.[1] === undefined ? { kind: 'malformed' } : { kind: 'token', token: match[1] };
}

export interface Identification {
  actor: Actor | null;
  /** A cookie travels by itself, so what it asks for must come from our own pages; a token does not. */
  by: 'cookie' | 'token';
}

/** Who is asking; `fresh`: as the store has it now. A token that is wrong is nobody, even beside a good cookie. */
export async function identify(
  askers: KnownAskers,
  headers: Headers,
  cookie: (name: string) => string | undefined,
  fresh: boolean,
): Promise<Identification> {
  const bearer = bearerToken(headers.get('authorization'));
  if (bearer.kind !== 'none') return { actor: bearer.kind === 'token' ? await askers.ofToken(bearer.token, fresh) : null, by: 'token' };
  const sid = await readSessionId(cookie(sessionCookieName(publicOrigin())));
  return { actor: sid === null ? null : await askers.ofSession(sid, fresh), by: 'cookie' };
}
