/**
 * What a browser is known again by at the sign-in, so that guessing elsewhere does not lock out who has used it before. It says nothing
 * of anybody and opens nothing: of each account the store keeps digests of those it was signed in with.
 */
import { randomBytes } from 'node:crypto';

const DAYS = 180;

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
  return `${browserCookieName(origin)}=${id}; Path=/; Max-Age=${String(DAYS * 86_400)}; HttpOnly; SameSite=Lax${secure}`;
}
