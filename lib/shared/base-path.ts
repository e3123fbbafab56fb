/** Where the console lives on its origin. next.config.js writes it into a build, from OUTBOX_CONSOLE_BASE_PATH; outside of one nobody has. */
declare const OUTBOX_CONSOLE_BASE_PATH: string | undefined;

/**
 * `/outbox`, or '' at the root. Next's links, router, redirects and assets begin with it by themselves; what a browser is told in
 * another way (fetch, plain anchors, full loads, absolute addresses) does not, and is written `${BASE_PATH}/api/…`.
 */
export const BASE_PATH: string = typeof OUTBOX_CONSOLE_BASE_PATH === 'undefined' ? '' : OUTBOX_CONSOLE_BASE_PATH;

/** A path of the origin as the console's own routes name it; null if it is outside. */
export const pathFromBase = (pathname: string, basePath: string): string | null =>
  pathname === basePath ? '/' : pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : null;
