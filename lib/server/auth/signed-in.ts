import 'server-only';
import { getConsole } from '../console';
import { log } from '../log';
import { publicOrigin } from './origin';
import { readSessionToken } from './session';
import { sessionCookieName } from './session-cookie';

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
