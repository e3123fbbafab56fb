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
