import 'server-only';
import type { KnownAskers } from '@/lib/identity/known-askers';
import type { Actor } from '@/lib/shared/permissions';
import { publicOrigin } from './origin';
import { readSessionToken } from './session';
import { sessionCookieName } from './cookies';

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
