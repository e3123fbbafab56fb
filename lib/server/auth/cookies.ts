/** Cookies that are ours, and headers that proxy.ts hands on to pages. */
import { randomBytes } from 'node:crypto';

/**
 * The session cookie's name. `__Host-` binds it to this very host over https, so that a sibling of the domain cannot
 * plant one; browsers take that prefix only there.
 */
export function sessionCookieName(origin: string): string {
  return origin.startsWith('https://') ? '__Host-outbox-console.session' : 'outbox-console.session';
}

/** How a page finds out which address it was asked for; set by proxy.ts, never taken from the client. */
export const PATH_HEADER = 'x-outbox-console-path';
/** The nonce of this page's scripts and styles; set by proxy.ts, never taken from the client. */
export const NONCE_HEADER = 'x-nonce';

const BROWSER_DAYS = 180;

/**
 * What a browser is known again by at the sign-in, so that guessing elsewhere does not lock out who has used it before. It says nothing
 * of anybody and opens nothing: of each account the store keeps digests of those it was signed in with.
 */
export function browserCookieName(origin: string): string {
  return origin.startsWith('https://') ? '__Host-outbox-console.browser' : 'outbox-console.browser';
}

export const newBrowserId = (): string => randomBytes(32).toString('base64url');

/** What the cookie holds; null when it is none of ours. */
export function browserId(cookie: string | undefined): string | null {
  return cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : null;
}

/** As `Set-Cookie` carries it. */
export function browserCookie(origin: string, id: string): string {
  const secure = origin.startsWith('https://') ? '; Secure' : '';
  return `${browserCookieName(origin)}=${id}; Path=/; Max-Age=${String(BROWSER_DAYS * 86_400)}; HttpOnly; SameSite=Lax${secure}`;
}
