import { describe, expect, it } from 'vitest';
import { cookieName } from './cookies';
import { originProblem, ownPath } from './origin';

const OURS = 'https://outbox.example.com';

describe('a changing request by cookie', () => {
  it.each([
    [OURS, null],
    [OURS, 'same-origin'],
  ])('passes from %s with Sec-Fetch-Site %s', (origin, site) => {
    expect(originProblem(headersOf(origin, site), OURS)).toBeNull();
  });

  const origins = [
    null,
    'null',
    '',
    'https://outbox.example.com.evil.com',
    'https://evil-outbox.example.com',
    'https://outbox.example.com:8443',
    'http://outbox.example.com',
    'HTTPS://OUTBOX.EXAMPLE.COM',
    'https://outbox.example.com/',
    'https://öutbox.example.com'.normalize(),
    'https://evil.com, https://outbox.example.com',
  ];
  const sites = [null, 'same-origin', 'same-site', 'cross-site', 'none'];
  it.each(origins.flatMap((origin) => sites.map((site) => [origin, site] as const)))(
    'is refused from %j with Sec-Fetch-Site %s',
    (origin, site) => {
      expect(originProblem(headersOf(origin, site), OURS)).not.toBeNull();
    },
  );

  it.each(['same-site', 'cross-site', 'none', 'SAME-ORIGIN'])('is refused with Sec-Fetch-Site %s whatever the origin says', (site) => {
    expect(originProblem(headersOf(OURS, site), OURS)).not.toBeNull();
  });
});

function headersOf(origin: string | null, site: string | null): Headers {
  const headers = new Headers();
  if (origin !== null) headers.set('origin', encodeURI(origin));
  if (site !== null) headers.set('sec-fetch-site', site);
  return headers;
}

describe('where to go after signing in', () => {
  it.each([
    ['/outboxes/escrow?window=24h#dead', '/outboxes/escrow?window=24h#dead'],
    [`${OURS}/audit?actor=mina`, '/audit?actor=mina'],
    ['/', '/'],
    ['/events?q=a%2Fb', '/events?q=a%2Fb'],
  ])('%j is %j', (given, path) => expect(ownPath(given, OURS)).toBe(path));

  it.each([
    undefined,
    null,
    7,
    ['/a', '/b'],
    '',
    '//evil.com',
    '///evil.com',
    '/\\evil.com',
    '\\\\evil.com',
    'https:evil.com',
    'outboxes/escrow',
    OURS,
    'https://evil.com/audit',
    'https://outbox.example.com@evil.com/',
    'https://user:pass@outbox.example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://outbox.example.com/',
    '/a\r\nLocation: https://evil.com',
    '/\tevil',
    ' /audit',
    '/login?callbackUrl=/login',
    '/api/auth/signout',
    '/..//evil.com',
    `/${'a'.repeat(10_000)}`,
  ])('%j is the front page', (given) => expect(ownPath(given, OURS)).toBe('/'));
});

describe('where to go after signing in, below a base path', () => {
  it.each([
    // As proxy.ts writes it: a path of ours.
    ['/outboxes/escrow?window=24h#dead', '/outboxes/escrow?window=24h#dead'],
    ['/outbox', '/outbox'],
    // As next-auth keeps it: the whole address.
    [`${OURS}/outbox/audit?actor=mina`, '/audit?actor=mina'],
    [`${OURS}/outbox`, '/'],
    [`${OURS}/outbox/`, '/'],
    [`${OURS}/outbox?q=a`, '/?q=a'],
    [`${OURS}/outbox/outbox/x`, '/outbox/x'],
  ])('%j is %j', (given, path) => expect(ownPath(given, OURS, '/outbox')).toBe(path));

  it.each([
    `${OURS}/`,
    `${OURS}/orders`,
    `${OURS}/outboxes/escrow`,
    `${OURS}/outbox/../orders`,
    `${OURS}/outbox//evil.com`,
    `${OURS}/outbox/login`,
    `${OURS}/outbox/api/auth/signout`,
    `https://evil.com/outbox/audit`,
    '/..//evil.com',
    '/api/v1/fleet',
  ])('%j is the front page', (given) => expect(ownPath(given, OURS, '/outbox')).toBe('/'));
});

describe('the name of a cookie', () => {
  it('is bound to the host over https, and at the root as ever', () => {
    expect(cookieName(OURS, 'session', '')).toBe('__Host-outbox-console.session');
    expect(cookieName('http://localhost:3000', 'browser', '')).toBe('outbox-console.browser');
  });

  it('is another below every path, as consoles may share an origin', () => {
    const names = ['', '/outbox', '/a/b', '/a.b', '/a_b', '/a-b', '/a'].map((basePath) => cookieName(OURS, 'session', basePath));
    expect(new Set(names).size).toBe(names.length);
    // RFC 6265: a token.
    for (const name of names) expect(name).toMatch(/^[\w!#$%&'*+.^`|~-]+$/);
  });
});
