/** Cookies that are ours, and headers that proxy.ts hands on to pages. */
import { randomBytes } from 'node:crypto';

/** `__Host-` binds a cookie to this very host, so that a sibling of the domain cannot plant one; browsers take it over https only. */
const nameOf = (origin: string, cookie: string): string => `${origin.startsWith('https://') ? '__Host-' : ''}outbox-console.${cookie}`;

export const sessionCookieName = (origin: string): string => nameOf(origin, 'session');

/** How a page finds out which address it was asked for; set by proxy.ts, never taken from the client. */
export const PATH_HEADER = 'x-outbox-console-path';
/** The nonce of this page's scripts and styles; set by proxy.ts, never taken from the client. */
export const NONCE_HEADER = 'x-nonce';

const BROWSER_DAYS = 180;

/** Tells a browser at the sign-in, so that guessing elsewhere does not lock out who has used it. It opens nothing: the store keeps digests by account. */
export const browserCookieName = (origin: string): string => nameOf(origin, 'browser');

export const newBrowserId = (): string => randomBytes(32).toString('base64url');

/** What the cookie holds; null when it is none of ours. */
export const browserId = (cookie: string | undefined): string | null =>
  cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : null;

/** As `Set-Cookie` carries it. */
export function browserCookie(origin: string, id: string): string {
  const secure = origin.startsWith('https://') ? '; Secure' : '';
  return `${browserCookieName(origin)}=${id}; Path=/; Max-Age=${String(BROWSER_DAYS * 86_400)}; HttpOnly; SameSite=Lax${secure}`;
}
