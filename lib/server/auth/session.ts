import 'server-only';
import { decode } from 'next-auth/jwt';
import { environment } from '@/lib/env';

/** What the signed cookie holds: who, and which session. Never a role: that is read from the store, each time. */
export interface SessionToken {
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
