import 'server-only';
import { decode } from 'next-auth/jwt';
import { environment } from '@/lib/env';
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
