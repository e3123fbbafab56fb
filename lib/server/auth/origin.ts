import { environment, publicOriginOf } from '@/lib/env';
import { BASE_PATH, pathFromBase } from '@/lib/shared/base-path';

/** The origin the console is opened at. The starter has checked that it is configured. */
export function publicOrigin(): string {
  const origin = publicOriginOf(environment());
  if (origin === null) throw new Error('NEXTAUTH_URL: missing; the address people open is not known');
  return origin;
}

/** Why a request by cookie may not change anything, or null. Next allows a missing Origin, and checks nothing for route handlers. */
export function originProblem(headers: Headers, expected: string): string | null {
  const origin = headers.get('origin');
  if (origin === null) return 'The request does not say where it comes from (no Origin header)';
  if (origin !== expected) return 'The request comes from another origin';
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') return 'The request comes from another site';
  return null;
}

/** A path of our own to open after signing in, without the base path (a whole address has it, a path has not); `/` for anything else. */
export function ownPath(callbackUrl: unknown, origin: string, basePath = BASE_PATH): string {
  if (typeof callbackUrl !== 'string' || callbackUrl === '' || callbackUrl.length > 2_048) return '/';
  // Browsers read `\` as `/` and drop tabs and line ends: such an address leads elsewhere than it seems.
  if (/[\\\s]/.test(callbackUrl) || [...callbackUrl].some((character) => character < ' ')) return '/';
  if (!callbackUrl.startsWith('/') && !callbackUrl.startsWith(`${origin}/`)) return '/';
  if (!URL.canParse(callbackUrl, origin)) return '/';
  const url = new URL(callbackUrl, origin);
  if (url.origin !== origin || url.username !== '') return '/';
  const path = callbackUrl.startsWith('/') ? url.pathname : pathFromBase(url.pathname, basePath);
  if (path === null || path.startsWith('//') || path === '/login' || path.startsWith('/api/')) return '/';
  return `${path}${url.search}${url.hash}`;
}
