import { decode } from 'next-auth/jwt';
import 'server-only';
import { environment } from '@/lib/env';
import type { KnownAskers } from '@/lib/identity/known-askers';
import type { Actor } from '@/lib/shared/permissions';
import { getConsole } from '../console';
import { log } from '../log';
import { sessionCookieName } from './cookies';
import { publicOrigin } from './origin';

/** What the signed cookie holds: who, and which session. Never a role: that is read from the store, each time. */
interface SessionToken {
  sub: string;
  sid: string;
}

/** The cookie's own words, when its signature and time are good; anything else, forged or broken, is nobody. */
export async function readSessionToken(cookie: string | undefined): Promise<SessionToken | null> {
  const { secret } = environment();
  if (cookie === undefined || cookie === '' || cookie.length > 4_096 || secret === undefined) return null;
  try {
    const token = await decode({ token: cookie, secret });
    return typeof token?.sid === 'string' && typeof token.sub === 'string' ? { sub: token.sub, sid: token.sid } : null;
  } catch {
    return null;
  }
}

/** Whether there is a session to go on with. A store that cannot be asked means no: signing in will say so. */
export async function isSignedIn(jar: { get(name: string): { value: string } | undefined }): Promise<boolean> {
  const token = await readSessionToken(jar.get(sessionCookieName(publicOrigin()))?.value);
  if (token === null) return false;
  try {
    return (await (await getConsole()).askers.ofSession(token.sid, false)) !== null;
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
  /** How: a cookie travels by itself, so what it asks for must come from our own pages; a token does not. */
  by: 'cookie' | 'token' | null;
}

/** Who is asking; `fresh`: as the store has it now. A token that is wrong is nobody, even beside a good cookie. */
export async function identify(
  askers: KnownAskers,
  headers: Headers,
  cookie: (name: string) => string | undefined,
  fresh: boolean,
): Promise<Identification> {
  const bearer = bearerToken(headers.get('authorization'));
  if (bearer.kind === 'malformed') return { actor: null, by: null };
  if (bearer.kind === 'token') {
    const actor = await askers.ofToken(bearer.token, fresh);
    return { actor, by: actor === null ? null : 'token' };
  }
  const token = await readSessionToken(cookie(sessionCookieName(publicOrigin())));
  const actor = token === null ? null : await askers.ofSession(token.sid, fresh);
  return { actor, by: actor === null ? null : 'cookie' };
}
