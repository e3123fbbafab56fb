import NextAuth from 'next-auth';
import { cookies } from 'next/headers';
import { NextRequest } from 'next/server';
import 'server-only';
import { Problem } from '@/lib/shared/problems';
import { tried } from '@/lib/shared/tried';
import { getConsole } from '../console';
import { declare, type EntryDeclaration } from '../entry';
import { BadRequest } from '../input';
import { failureResponse, newReference } from '../problem-response';
import { authOptions } from './auth-options';
import { clientHeader } from './client-address';
import { browserCookie, browserCookieName, browserId, newBrowserId, sessionCookieName } from './cookies';
import { ownPath, publicOrigin } from './origin';
import { readSessionId } from './session';

/** The requests that next-auth gets: it answers all others in ways of its own, from pages that are not ours to a 500. */

const DOORS: Record<string, readonly string[]> = {
  csrf: ['GET'],
  session: ['GET'],
  providers: ['GET'],
  signin: ['GET'],
  error: ['GET'],
  signout: ['GET', 'POST'],
  'callback/credentials': ['POST'],
};
const ERROR_CODE = /^[A-Za-z_]{1,64}$/;

/** Throws Problem `not_found` for any other address, BadRequest for another method or a malformed `error`. */
export function requireDoor(method: string, path: readonly string[], search: URLSearchParams): void {
  const door = path.join('/');
  const methods = Object.hasOwn(DOORS, door) ? DOORS[door] : undefined;
  if (methods === undefined) throw new Problem('not_found', 'There is no such address; signing in begins at /login');
  if (!methods.includes(method === 'HEAD' ? 'GET' : method))
    throw new BadRequest(405, `Send ${methods.join(' or ')}`, { Allow: methods.join(', ') });
  if (search.getAll('error').some((code) => !ERROR_CODE.test(code))) throw new BadRequest(400, 'error is not one that signing in answers');
}

/** Throws BadRequest for a JSON body that is not an object of texts; other content types are not checked. */
export function requireForm(contentType: string | null, body: string): void {
  if (!/application\/json/i.test(contentType ?? '')) return;
  const form = tried(() => JSON.parse(body) as unknown);
  if (typeof form === 'object' && form !== null && Object.values(form).every((value) => typeof value === 'string')) return;
  throw new BadRequest(400, 'The body is not a form: send its fields as text');
}

const LIMIT_BYTES = 16_384;

/** The request that next-auth gets: with a small body, and a callback address of our own. */
async function tidied(request: NextRequest, origin: string): Promise<NextRequest> {
  const url = new URL(request.nextUrl);
  const callbackUrl = url.searchParams.get('callbackUrl');
  // Next-auth answers 500 to an invalid address.
  if (callbackUrl !== null) url.searchParams.set('callbackUrl', ownPath(callbackUrl, origin));
  // HEAD is passed on as GET, as next-auth does not know it.
  if (request.method !== 'POST') return new NextRequest(url, { headers: request.headers, method: 'GET' });
  if (Number(request.headers.get('content-length') ?? '0') > LIMIT_BYTES) throw new Problem('invalid', 'The form is too large');
  const body = await request.text();
  if (body.length > LIMIT_BYTES) throw new Problem('invalid', 'The form is too large');
  requireForm(request.headers.get('content-type'), body);
  return new NextRequest(url, { headers: request.headers, method: 'POST', body });
}

async function handle(request: NextRequest, context: { params: Promise<{ nextauth: string[] }> }): Promise<Response> {
  try {
    requireDoor(request.method, (await context.params).nextauth, request.nextUrl.searchParams);
    const origin = publicOrigin();
    const sent = request.headers.get('origin');
    // next-auth's own token protects these forms; a browser that names another origin is refused before.
    if (request.method === 'POST' && sent !== null && sent !== origin)
      throw new Problem('forbidden', 'The request comes from another origin');
    const console = await getConsole();
    const jar = await cookies();
    const previousSid = await readSessionId(jar.get(sessionCookieName(origin))?.value);
    const browser = browserId(jar.get(browserCookieName(origin))?.value) ?? newBrowserId();
    let signedIn = false;
    const notEnded: unknown[] = [];
    const options = authOptions(console, {
      address: request.headers.get(clientHeader()) ?? 'unknown',
      browser,
      previousSid,
      onSignIn: () => (signedIn = true),
      onNotEnded: (error) => notEnded.push(error),
    });
    const asked = await tidied(request, origin);
    // Signing in and out writes sessions, attempts and audit entries.
    const work = () => NextAuth(asked, context, options) as Promise<unknown>;
    const answer = await (asked.method === 'POST' ? console.underWay.run(work) : work());
    if (notEnded.length > 0)
      throw new Problem('unavailable', 'The session was not ended: the store does not answer', { cause: notEnded[0] });
    if (!(answer instanceof Response)) throw new Error('next-auth answered something that is no response');
    if (signedIn) answer.headers.append('Set-Cookie', browserCookie(origin, browser));
    answer.headers.set('Cache-Control', 'private, no-store');
    return answer;
  } catch (error) {
    return failureResponse(error, 'auth', newReference());
  }
}

export const authHandler: typeof handle & { entry: EntryDeclaration } = declare(handle, { id: 'auth', public: true });
