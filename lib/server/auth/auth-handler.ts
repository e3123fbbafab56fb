import 'server-only';
import NextAuth from 'next-auth';
import { cookies } from 'next/headers';
import { NextRequest } from 'next/server';
import { Problem } from '@/lib/shared/problems';
import { requireDoor, requireForm } from './auth-doors';
import { authOptions } from './auth-options';
import { getConsole } from '../console';
import { declare, type EntryDeclaration } from '../entry';
import { ownPath, publicOrigin } from './origin';
import { failureResponse, newReference } from '../problem-response';
import { readSessionToken } from './session';
import { clientHeader } from './client-address';
import { browserCookie, browserCookieName, browserId, newBrowserId, sessionCookieName } from './cookies';

const LIMIT_BYTES = 16_384;

type AuthContext = { params: Promise<{ nextauth: string[] }> };

/** The request as next-auth may see it: a small body, and an address to come back to that is our own. */
async function tidied(request: NextRequest, origin: string): Promise<NextRequest> {
  const url = new URL(request.nextUrl);
  const callbackUrl = url.searchParams.get('callbackUrl');
  // Next-auth answers 500 to an address that is none.
  if (callbackUrl !== null) url.searchParams.set('callbackUrl', ownPath(callbackUrl, origin));
  // HEAD asks for the head of what GET answers; next-auth does not know it.
  if (request.method !== 'POST') return new NextRequest(url, { headers: request.headers, method: 'GET' });
  if (Number(request.headers.get('content-length') ?? '0') > LIMIT_BYTES) throw new Problem('invalid', 'The form is too large');
  const body = await request.text();
  if (body.length > LIMIT_BYTES) throw new Problem('invalid', 'The form is too large');
  requireForm(request.headers.get('content-type'), body);
  return new NextRequest(url, { headers: request.headers, method: 'POST', body });
}

/** Sign-in, sign-out and what belongs to them, under /api/auth. */
async function handle(request: NextRequest, context: AuthContext): Promise<Response> {
  try {
    requireDoor(request.method, (await context.params).nextauth, request.nextUrl.searchParams);
    const origin = publicOrigin();
    const sent = request.headers.get('origin');
    // next-auth's own token protects these forms; a browser that says it comes from elsewhere is not even heard.
    if (request.method === 'POST' && sent !== null && sent !== origin)
      throw new Problem('forbidden', 'The request comes from another origin');
    const console = await getConsole();
    const jar = await cookies();
    const previous = await readSessionToken(jar.get(sessionCookieName(origin))?.value);
    const browser = browserId(jar.get(browserCookieName(origin))?.value) ?? newBrowserId();
    let signedIn = false;
    const options = authOptions(console, {
      address: request.headers.get(clientHeader()) ?? 'unknown',
      browser,
      previousSid: previous?.sid ?? null,
      onSignIn: () => (signedIn = true),
    });
    const asked = await tidied(request, origin);
    // Signing in and out writes sessions, attempts and entries of the audit.
    const ended = asked.method === 'POST' ? console.underWay.begin() : null;
    const answer = await (NextAuth(asked, context, options) as Promise<unknown>).finally(ended);
    if (!(answer instanceof Response)) throw new Error('next-auth answered something that is no response');
    if (signedIn) answer.headers.append('Set-Cookie', browserCookie(origin, browser));
    answer.headers.set('Cache-Control', 'private, no-store');
    return answer;
  } catch (error) {
    return failureResponse(error, 'auth', newReference());
  }
}

export const authHandler: typeof handle & { entry: EntryDeclaration } = declare(handle, { id: 'auth', public: true });
