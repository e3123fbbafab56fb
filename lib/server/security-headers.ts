import { BASE_PATH } from '@/lib/shared/base-path';
import type { OpenPart } from './embedding/settings';

/** Scripts run by nonce only; Mantine writes style attributes, which no nonce covers. Hot reload needs eval and a socket. */
export function contentSecurityPolicy(options: {
  nonce: string;
  https: boolean;
  development: boolean;
  /** Origins that may frame the page; nobody when left out. */
  ancestors?: readonly string[];
}): string {
  const { nonce, https, development, ancestors = [`'none'`] } = options;
  return [
    `default-src 'self'`,
    `script-src 'nonce-${nonce}' 'strict-dynamic'${development ? ` 'unsafe-eval'` : ''}`,
    `style-src 'self' 'nonce-${nonce}'`,
    `style-src-elem 'self' 'nonce-${nonce}'`,
    `style-src-attr 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self'`,
    `connect-src 'self'${development ? ' ws: wss:' : ''}`,
    `frame-src 'none'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors ${ancestors.join(' ')}`,
    ...(https ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
}

/** Long enough for a page's visits, short enough for a mended script to arrive everywhere soon. */
const SCRIPT_SECONDS = 300;

/** What is not for our own pages alone: a card in another page's frame, and the script that puts it there. X-Frame-Options knows no list. */
const OPEN: Record<OpenPart, Record<string, string | null>> = {
  card: {
    'X-Frame-Options': null,
    'Cross-Origin-Opener-Policy': null,
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  },
  script: { 'Cross-Origin-Resource-Policy': 'cross-origin', 'Cache-Control': `public, max-age=${SCRIPT_SECONDS}` },
};

/** The headers that are the same for every page, or those of what is opened to other origins. */
export function securityHeaders(https: boolean, opened: OpenPart | null = null): Record<string, string> {
  const headers: Record<string, string | null> = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
    // Below a base path the host is another's, and so is what holds for it and its subdomains.
    ...(https && BASE_PATH === '' ? { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : {}),
    ...(opened && OPEN[opened]),
  };
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
