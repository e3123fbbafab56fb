/** What is opened to other pages, header by header, and that nothing else is: with cards everything else answers as without. */
import { NextRequest } from 'next/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { proxy } from '@/proxy';
import { CARD_VIEWS } from '@/lib/shared/embedding/views';
import { knownEmbedding, setEmbedding } from './settings';

const ORIGIN = 'https://outbox.example.com';
const ON = { origins: ['https://orders.example.com', 'http://localhost:4000'], session: false, keys: [] };
const before = knownEmbedding();

beforeEach(() => {
  vi.stubEnv('NEXTAUTH_URL', ORIGIN);
  vi.stubEnv('NODE_ENV', 'production');
});
afterEach(() => {
  setEmbedding(before);
  vi.unstubAllEnvs();
});

interface Asked {
  method?: string;
  headers?: Record<string, string>;
}
const SIGNED_IN = { headers: { cookie: '__Host-outbox-console.session=x' } };

function answered(pathname: string, asked: Asked = {}): { status: number; headers: Record<string, string> } {
  const { status, headers } = proxy(new NextRequest(`${ORIGIN}${pathname}`, asked));
  const nonce = headers.get('x-middleware-request-x-nonce') ?? 'no nonce';
  return { status, headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.replaceAll(nonce, '(nonce)')])) };
}

/** As before there were cards. */
const CLOSED = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
};
const policy = (ancestors: string): string =>
  `default-src 'self'; script-src 'nonce-(nonce)' 'strict-dynamic'; style-src 'self' 'nonce-(nonce)'; style-src-elem 'self' 'nonce-(nonce)'; style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors ${ancestors}; upgrade-insecure-requests`;
const PAGE = { ...CLOSED, 'content-security-policy': policy(`'none'`), 'cache-control': 'private, no-store' };

/** What a browser is told: not what the proxy tells Next. */
const told = (pathname: string, asked?: Asked): Record<string, string> =>
  Object.fromEntries(Object.entries(answered(pathname, asked).headers).filter(([name]) => !name.startsWith('x-middleware-')));

const CARDS = CARD_VIEWS.map((view) => `/embed/${view}`);
/** Other ways to the same file or page, and what only looks like it. */
const NEARLY = [
  '/embed',
  '/embed/',
  '/embed/nothing',
  '/embed/fate/',
  '/embed/fate/x',
  '/EMBED/fate',
  '/embed/Fate',
  '/embed/fat%65',
  '/embed%2ffate',
  '/embed/..%2f',
  '/embed/..%2flogin',
  '/embed/%2e%2e/login',
  '/embed/fate%2f..%2f..%2flogin',
  '/embed/../login',
  '/embed/fate/../../login',
  '//embed/fate',
  '/embed//fate',
  '/embed/fate.txt',
  '/embed/fate;x',
  '/embed/fate%00',
  '/embedding',
  '/x/embed/fate',
  '/embed.v2.js',
  '/Embed.v1.js',
  '/embed.v1.js.map',
  '/embed.v1%2ejs',
];
const OTHERS: [string, Asked?][] = [
  ...[
    '/',
    '/login',
    '/login?callbackUrl=/embed/fate',
    '/outboxes/a',
    '/outboxes/a/events?q=/embed/fate',
    '/find?key=1',
    '/nowhere',
  ].flatMap((one): [string, Asked?][] => [[one], [one, SIGNED_IN]]),
  ['/api/v1/fleet'],
  ['/api/embed/fate'],
  ['/api/health/live'],
  ['/icon.svg'],
  ['/outbox-console.schema.json'],
  ['/_next/data/x.json'],
  ['/', { method: 'POST', headers: { origin: 'https://orders.example.com' } }],
  ['/embed/fate', { method: 'POST', headers: { origin: 'https://orders.example.com' } }],
  ['/embed/%zz'],
];

describe('a card', () => {
  it.each(CARDS)('may be framed at %s by the pages that are named, with embedding alone', (pathname) => {
    setEmbedding(ON);
    const { 'x-frame-options': _, 'cross-origin-opener-policy': __, ...rest } = PAGE;
    const open = {
      ...rest,
      'content-security-policy': policy('https://orders.example.com http://localhost:4000'),
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'cross-origin',
    };
    for (const asked of [{}, SIGNED_IN]) expect([answered(pathname, asked).status, told(pathname, asked)]).toEqual([200, open]);
    expect(told(`${pathname}?auth=token&host=https://evil.example`)).toEqual(open);
    // Next takes the nonce for its scripts from the policy it is handed.
    expect(answered(pathname).headers['x-middleware-request-content-security-policy']).toBe(open['content-security-policy']);
    setEmbedding(null);
    for (const asked of [{}, SIGNED_IN]) expect([answered(pathname, asked).status, told(pathname, asked)]).toEqual([200, PAGE]);
  });

  it('is opened at its own address alone', () => {
    setEmbedding(ON);
    for (const pathname of NEARLY)
      for (const asked of [{}, SIGNED_IN]) {
        expect(told(pathname, asked), pathname).toMatchObject(CLOSED);
        expect(told(pathname, asked)['content-security-policy'] ?? policy(`'none'`), pathname).toBe(policy(`'none'`));
        expect(told(pathname, asked), pathname).not.toHaveProperty('cross-origin-embedder-policy');
      }
  });

  it('leads nobody to the sign-in, with and without embedding', () => {
    for (const embedding of [ON, null]) {
      setEmbedding(embedding);
      for (const pathname of ['/embed', '/embed/', '/embed/nothing', ...CARDS])
        expect(told(pathname), pathname).not.toHaveProperty('location');
    }
  });
});

describe('the script', () => {
  it('is for every page to load with embedding, and not there without', () => {
    setEmbedding(ON);
    const script = { ...CLOSED, 'cross-origin-resource-policy': 'cross-origin', 'cache-control': 'public, max-age=300' };
    for (const asked of [{}, SIGNED_IN])
      expect([answered('/embed.v1.js', asked).status, told('/embed.v1.js', asked)]).toEqual([200, script]);
    setEmbedding(null);
    const none = { ...CLOSED, 'cache-control': 'no-store', 'content-type': 'text/plain' };
    for (const asked of [{}, SIGNED_IN]) expect([answered('/embed.v1.js', asked).status, told('/embed.v1.js', asked)]).toEqual([404, none]);
    expect(answered('/embed.v1%2ejs', SIGNED_IN).status).toBe(404);
  });
});

describe('everything else', () => {
  it('answers the same with embedding and without', () => {
    const all = [...OTHERS, ...NEARLY.filter((one) => one !== '/embed.v1%2ejs').map((one): [string, Asked?] => [one])];
    const each = (): unknown[] => all.map(([pathname, asked]) => [pathname, asked, answered(pathname, asked)]);
    setEmbedding(ON);
    const on = each();
    setEmbedding(null);
    expect(on).toEqual(each());
  });

  it('answers as before there were cards', () => {
    for (const embedding of [ON, null]) {
      setEmbedding(embedding);
      expect([answered('/outboxes/a').status, told('/outboxes/a')]).toEqual([
        307,
        { ...CLOSED, location: `${ORIGIN}/login?callbackUrl=%2Foutboxes%2Fa` },
      ]);
      for (const pathname of ['/login', '/api/v1/fleet', '/api/embed/fate']) expect(told(pathname)).toEqual(PAGE);
      expect(told('/outboxes/a', SIGNED_IN)).toEqual(PAGE);
      expect(told('/icon.svg')).toEqual({ ...CLOSED, 'content-security-policy': policy(`'none'`) });
      expect([answered('/embed/%zz').status, told('/embed/%zz')]).toEqual([
        400,
        { ...CLOSED, 'cache-control': 'no-store', 'content-type': 'application/problem+json' },
      ]);
    }
  });
});
