/**
 * Runs before every page and route: security headers with a nonce of its own, and the way to /login for who has no
 * session cookie. A convenience and a second lock, never the only one: lib/server guards every entry point itself.
 */
import { NextResponse, type NextRequest } from 'next/server';
import { environment, isLoopback } from './lib/env';
import { publicOrigin } from './lib/server/auth/origin';
import { isOfCards, knownEmbedding, openPart, type OpenPart } from './lib/server/embedding/settings';
import { contentSecurityPolicy, securityHeaders } from './lib/server/security-headers';
import { BASE_PATH } from './lib/shared/base-path';
import { NONCE_HEADER, PATH_HEADER, sessionCookieName } from './lib/server/auth/cookies';

// The first: below a base path the other one misses its root.
export const config = { matcher: ['/', '/((?!_next/static/|favicon.ico$).*)'] };

const isPublic = (pathname: string): boolean =>
  pathname === '/login' || pathname.startsWith('/api/') || pathname.startsWith('/_next/') || isOfCards(pathname);
/** Files of public/, which hold nothing secret. */
const isFile = (pathname: string): boolean => /\.(svg|png|ico|json|txt|webmanifest)$/.test(pathname);

/** An address that Next would stumble over, and a change from elsewhere that it would answer as its own failure. */
function refusal(request: NextRequest, origin: string): { status: number; code: 'invalid' | 'forbidden'; detail: string } | null {
  try {
    decodeURIComponent(request.nextUrl.pathname);
  } catch {
    return { status: 400, code: 'invalid', detail: 'The address is not well formed' };
  }
  const sent = request.headers.get('origin');
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (reads || sent === null || sent === origin || request.nextUrl.pathname.startsWith('/api/')) return null;
  return { status: 403, code: 'forbidden', detail: 'The request comes from another origin' };
}

/** Somebody who typed 127.0.0.1 where the console is called localhost: one machine, but two homes for cookies. */
function canonical(request: NextRequest, origin: string): string | null {
  const [asked, ours] = [request.headers.get('host') ?? '', new URL(origin)];
  if (asked === ours.host || !URL.canParse(`http://${asked}`)) return null;
  const { hostname, port } = new URL(`http://${asked}`);
  const navigates = request.method === 'GET' && request.headers.get('sec-fetch-mode') === 'navigate';
  return navigates && isLoopback(hostname) && isLoopback(ours.hostname) && port === ours.port
    ? `${origin}${BASE_PATH}${request.nextUrl.pathname}${request.nextUrl.search}`
    : null;
}

export function proxy(request: NextRequest): NextResponse {
  const origin = publicOrigin();
  const https = origin.startsWith('https://');
  const { pathname, search } = request.nextUrl;
  const secured = (response: NextResponse, opened: OpenPart | null = null): NextResponse => {
    for (const [name, value] of Object.entries(securityHeaders(https, opened))) response.headers.set(name, value);
    return response;
  };

  const refused = refusal(request, origin);
  if (refused !== null) {
    const { status, code, detail } = refused;
    const body = JSON.stringify({ type: 'about:blank', title: code, status, code, detail });
    return secured(
      new NextResponse(body, { status, headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' } }),
    );
  }
  const elsewhere = canonical(request, origin);
  // Not a redirect: Next takes all loopback names for one and would make it relative, and so endless.
  if (elsewhere !== null) return secured(new NextResponse(null, { status: 200, headers: { Refresh: `0; url=${elsewhere}` } }));

  const signedIn = request.cookies.has(sessionCookieName(origin)) || request.headers.has('authorization');
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (reads && !signedIn && !isPublic(pathname) && !isFile(pathname)) {
    const to = new URL(`${BASE_PATH}/login`, origin);
    if (pathname !== '/') to.searchParams.set('callbackUrl', `${pathname}${search}`);
    return secured(NextResponse.redirect(to, 307));
  }

  const embedding = knownEmbedding();
  // A file is there for everybody who builds the console, and its address for those who are to use it.
  if (embedding === null && openPart(decodeURIComponent(pathname)) === 'script')
    return secured(new NextResponse('Not found', { status: 404, headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' } }));
  const opened = embedding === null ? null : openPart(pathname);
  if (opened === 'script') return secured(NextResponse.next(), opened);

  const nonce = Buffer.from(crypto.randomUUID()).toString('base64');
  const policy = contentSecurityPolicy({
    nonce,
    https,
    development: !environment().production,
    ancestors: opened === null ? undefined : embedding?.origins,
  });
  const headers = new Headers(request.headers);
  headers.set(NONCE_HEADER, nonce);
  headers.set(PATH_HEADER, `${pathname}${search}`);
  // Next takes the nonce for its own scripts from here.
  headers.set('Content-Security-Policy', policy);
  const response = secured(NextResponse.next({ request: { headers } }), opened);
  response.headers.set('Content-Security-Policy', policy);
  // Pages show what one person may see: no cache keeps them, and Back after sign-out finds nothing.
  if (!isFile(pathname)) response.headers.set('Cache-Control', 'private, no-store');
  return response;
}
