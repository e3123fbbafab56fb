/** Our cookies, and headers that proxy.ts passes to pages. */
import { randomBytes } from 'node:crypto';
import { BASE_PATH } from '@/lib/shared/base-path';

/**
 * `__Host-` binds a cookie to exactly this host, so that a sibling domain cannot set it; browsers accept it over https only, and with
 * `Path=/` only. So the base path is in the name: several consoles may share an origin.
 */
export const cookieName = (origin: string, cookie: string, basePath = BASE_PATH): string =>
  `${origin.startsWith('https://') ? '__Host-' : ''}outbox-console${basePath.replaceAll('/', '+')}.${cookie}`;

export const sessionCookieName = (origin: string): string => cookieName(origin, 'session');

/** The path a page was requested at; set by proxy.ts, never taken from the client. */
export const PATH_HEADER = 'x-outbox-console-path';
/** The nonce of this page's scripts and styles; set by proxy.ts, never taken from the client. */
export const NONCE_HEADER = 'x-nonce';

const BROWSER_DAYS = 180;

/** Recognises a browser at sign-in, so that guessing elsewhere does not lock out its user. Grants nothing; the store keeps digests. */
export const browserCookieName = (origin: string): string => cookieName(origin, 'browser');

export const newBrowserId = (): string => randomBytes(32).toString('base64url');

/** The id in the cookie; null if it is not ours. */
export const browserId = (cookie: string | undefined): string | null =>
  cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : null;

export function browserCookie(origin: string, id: string): string {
  const secure = origin.startsWith('https://') ? '; Secure' : '';
  return `${browserCookieName(origin)}=${id}; Path=/; Max-Age=${String(BROWSER_DAYS * 86_400)}; HttpOnly; SameSite=Lax${secure}`;
}
