import 'server-only';
import { decode } from 'next-auth/jwt';
import { environment } from '@/lib/env';
import type { KnownAskers } from '@/lib/identity/known-askers';
import type { Actor } from '@/lib/shared/permissions';
import { getConsole } from '../console';
import { log } from '../log';
import { sessionCookieName } from './cookies';
import { publicOrigin } from './origin';

/** The session in a cookie with a valid signature and time, otherwise null. It holds no role: the store is read for that each time. */
export async function readSessionId(cookie: string | undefined): Promise<string | null> {
  const { secret } = environment();
  if (cookie === undefined || cookie === '' || cookie.length > 4_096 || secret === undefined) return null;
  const token = await decode({ token: cookie, secret }).catch(() => null);
  return typeof token?.sid === 'string' && typeof token.sub === 'string' ? token.sid : null;
}

/** Whether there is a valid session. False if the store does not answer: signing in then reports that. */
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

/** The bearer token of an Authorization header. Other schemes count as none: they may be for a proxy in front of us. */
export function bearerToken(
  authorization: string | null,
  charactersMax = 512,
): { kind: 'none' | 'malformed' } | { kind: 'token'; token: string } {
  if (authorization === null || !/^bearer\b/i.test(authorization)) return { kind: 'none' };
  const [, token = ''] = /^bearer +([\x21-\x7e]{8,})$/i.exec(authorization) ?? [];
  return token === '' || token.length > charactersMax ? { kind: 'malformed' } : { kind: 'token', token };
}

export interface Identification {
  actor: Actor | null;
  /** Browsers send a cookie by themselves, so its request must come from our own pages; a token is sent on purpose. */
  by: 'cookie' | 'token';
}

/** Who is asking; `fresh`: as in the store now. A wrong token gives no actor, even with a valid cookie. */
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
