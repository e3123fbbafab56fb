/** What cards do not show, to whom, and what a console without them does not have. */
import type { APIRequestContext } from '@playwright/test';
import { CARD_VIEWS } from '@/lib/shared/embedding/views';
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { claimsOf, fourCards, framesOf, pageOf, startEmbedding, stateOf, type Embedding } from './support/embedding';
import { signCard, startHost } from './support/host';
import { SCREENS } from './support/screens';
import { secondConsole, type SecondConsole } from './support/second-console';

// One after the other: they share two hosts.
test.describe.configure({ mode: 'default' });
test.use({ viewport: { width: 1280, height: 4000 } });

const KEY = 'order-20001';
const started: { embedding?: Embedding; closed?: SecondConsole } = {};
function stage(): Embedding & { home: string; closed: SecondConsole } {
  const { embedding, closed } = started;
  if (embedding === undefined || closed === undefined) throw new Error('the consoles of this story have not been started');
  return Object.assign(embedding, { home: embedding.console.world.url, closed });
}

test.beforeAll(async ({ world }) => {
  started.embedding = await startEmbedding(world);
  started.closed = await secondConsole(world, (config) => {
    delete config.embedding;
  });
  await started.closed.start();
});
test.afterAll(async () => {
  await started.closed?.stop();
  await started.embedding?.stop();
});

interface Refused {
  name: string;
  code: 'token_expired' | 'token_invalid' | 'not_allowed' | 'invalid';
  token: () => Promise<string>;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const fate = { view: 'fate', key: KEY };
const REFUSED: Refused[] = [
  { name: 'expired', code: 'token_expired', token: () => signCard(fate, { ...stage().signing, shiftS: -400 }) },
  { name: 'early', code: 'token_invalid', token: () => signCard(fate, { ...stage().signing, shiftS: 120 }) },
  { name: 'for longer than 300 s', code: 'token_invalid', token: () => signCard(fate, { ...stage().signing, lifetimeS: 400 }) },
  {
    name: 'edited',
    code: 'token_invalid',
    token: async () => {
      const [header = '', payload = '', signature = ''] = (await signCard({ ...fate, key: 'other' }, stage().signing)).split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      return [header, encoded({ ...claims, key: KEY }), signature].join('.');
    },
  },
  {
    name: 'not signed',
    code: 'token_invalid',
    token: async () => {
      const [, payload = '', signature = ''] = (await signCard(fate, stage().signing)).split('.');
      return [encoded({ alg: 'none', kid: stage().signing.kid }), payload, signature].join('.');
    },
  },
  { name: 'by another algorithm', code: 'token_invalid', token: () => signCard(fate, { ...stage().signing, alg: 'HS512' }) },
  { name: 'by a key nobody knows', code: 'token_invalid', token: () => signCard(fate, { ...stage().signing, kid: 'nobody' }) },
  { name: 'by a key of another name', code: 'token_invalid', token: () => signCard(fate, { ...stage().signing, kid: 'limited' }) },
  {
    name: 'for another console',
    code: 'token_invalid',
    token: () => signCard(fate, { ...stage().signing, audience: 'https://other.example.com' }),
  },
  { name: 'for another view', code: 'not_allowed', token: () => signCard({ view: 'fleet' }, stage().signing) },
  { name: 'with a claim nobody knows', code: 'invalid', token: () => signCard({ ...fate, role: 'admin' }, stage().signing) },
];

test('a token that is not good shows nothing, and says why', async ({ page, playwright, watch }) => {
  const { home, listed, limited } = stage();
  watch.allow(/status of 40[013]/);
  const kinds: Refused[] = [
    ...REFUSED,
    { name: 'of a foreign outbox', code: 'not_allowed', token: () => signCard({ view: 'outbox', outbox: 'orders-kafka' }, limited) },
  ];
  const api = await playwright.request.newContext({ baseURL: home });
  for (const { name, code, token } of kinds) {
    const view = name === 'of a foreign outbox' ? 'outbox' : 'fate';
    const answer = await api.get(`/api/embed/${view}`, { headers: { authorization: `Bearer ${await token()}` } });
    expect(((await answer.json()) as { code: string }).code, name).toBe(code);
    expect(answer.status(), name).toBe({ token_expired: 401, token_invalid: 401, not_allowed: 403, invalid: 400 }[code]);
  }
  const good = { authorization: `Bearer ${await signCard(fate, stage().signing)}` };
  expect((await api.get('/api/embed/fate', { headers: good })).status()).toBe(200);
  expect((await api.get('/api/embed/fate?key=other', { headers: good })).status()).toBe(400);
  expect((await api.get('/api/v1/outboxes', { headers: good })).status()).toBe(401);
  await api.dispose();

  stage().token = async (query) => (await kinds[Number(query.get('kind'))]?.token()) ?? '';
  const cards = kinds.map(({ name }, index) => {
    const [view, what] = name === 'of a foreign outbox' ? ['outbox', 'outbox="orders-kafka"'] : ['fate', `key="${KEY}"`];
    return `<outbox-card console="${home}" id="k${String(index)}" view="${view ?? ''}" ${what ?? ''} token-url="/token?kind=${String(index)}"></outbox-card>`;
  });
  stage().page = pageOf(home, cards.join(''));
  await page.addInitScript(() => {
    addEventListener('outbox-card-state', ({ target, detail }: Event & { detail?: { code: string } }) => {
      (target as Element).setAttribute('data-code', String(detail?.code));
    });
  });
  await page.goto(listed.url);
  for (const [index, { name, code }] of kinds.entries()) {
    await expect(page.locator(`#k${String(index)}`), name).toHaveAttribute('data-code', code);
    await expect(page.locator(`#k${String(index)}`), name).toHaveAttribute('state', 'refused');
  }
  for (const frame of framesOf(page)) expect(await frame.locator('main').innerText()).not.toMatch(/order-20001|orders-kafka/);
});

test('a page that is not listed shows no card, nor does a listed one inside of it', async ({ page, watch }) => {
  const { home, listed, unlisted, signing } = stage();
  watch.allow(/frame-ancestors|ERR_BLOCKED_BY_RESPONSE|chrome-error/);
  stage().token = (query) => signCard(claimsOf(query), signing);
  stage().page = pageOf(home, fourCards(home, KEY));
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const around = await startHost(
    () =>
      `<!doctype html><title>Around</title><link rel="icon" href="data:,"><iframe title="host" width="900" height="900" src="${listed.url}"></iframe>`,
  );
  for (const address of [unlisted.url, around.url]) {
    await page.goto(address);
    const within = address === around.url ? page.frameLocator('iframe[title="host"]') : page;
    for (const view of CARD_VIEWS) await expect(within.locator(`outbox-card[view="${view}"]`)).toHaveAttribute('state', 'unreachable');
    for (const frame of page.frames().filter((one) => /embed|chrome-error/.test(one.url())))
      expect(await frame.locator('main').count()).toBe(0);
  }
  await around.close();
  expect(asked.filter((path) => path.startsWith('/api/embed') || path === '/token')).toEqual([]);

  await page.goto(listed.url);
  await expect(stateOf(page, 'fleet')).toHaveAttribute('state', 'live');
});

const ADDRESSES = [
  ...SCREENS.filter(({ path }) => !path.includes('{')).map(({ path }) => path),
  '/find?key=order-20001',
  '/nowhere',
  '/outbox-console.schema.json',
  '/icon.svg',
  '/api/health/live',
  '/api/auth/session',
  '/api/v1/outboxes',
  '/api/v1/nowhere',
  '/api/metrics',
];
/** Different at every request. */
const FLEETING = /^(date|etag|set-cookie|content-length|connection|keep-alive|x-request-id|transfer-encoding|link|last-modified)$/;

async function headersOf(context: APIRequestContext, address: string, home: string): Promise<Record<string, string>> {
  const answer = await context.get(address, { maxRedirects: 0 });
  const told = Object.entries(answer.headers()).filter(([name]) => !FLEETING.test(name));
  const plain = (value: string): string => value.replace(/nonce-[\w+/=-]+/g, 'nonce').replaceAll(home, '');
  return { ...Object.fromEntries(told.map(([name, value]) => [name, plain(value)])), status: String(answer.status()) };
}

test('all other addresses answer with the same headers, whether there are cards or not', async ({ playwright }) => {
  const { console, closed } = stage();
  const contexts = await Promise.all(
    [console, closed].map(async ({ world }) => {
      const { cookies } = await sessionOf(playwright.request, world, 'admin');
      const storageState = { cookies, origins: [] };
      return [
        await playwright.request.newContext({ baseURL: world.url }),
        await playwright.request.newContext({ baseURL: world.url, storageState }),
      ] as const;
    }),
  );
  for (const address of ADDRESSES) {
    for (const who of [0, 1] as const) {
      const [open, without] = await Promise.all(
        contexts.map((context, index) => headersOf(context[who], address, [console, closed][index]?.world.url ?? '')),
      );
      expect(open, address).toEqual(without);
      expect(without?.['x-frame-options'], address).toBe('DENY');
    }
  }
  for (const context of contexts.flat()) await context.dispose();
});

test('with the section there are cards and their script, and without it there are none', async ({ playwright }) => {
  const { home, closed, listed, sameSite } = stage();
  const [open, without] = await Promise.all([home, closed.world.url].map((baseURL) => playwright.request.newContext({ baseURL })));
  for (const address of ['/embed', '/embed/fate', '/embed/fleet?auth=token', '/embed.v1.js', '/api/embed/fate', '/api/embed/fleet']) {
    const answer = await without?.get(address, { maxRedirects: 0 });
    expect(answer?.status(), address).toBe(404);
    expect(answer?.headers()['x-frame-options'], address).toBe('DENY');
    expect(answer?.headers()['cross-origin-resource-policy'], address).toBe('same-origin');
  }
  for (const view of CARD_VIEWS) {
    const card = await open?.get(`/embed/${view}`);
    const { 'content-security-policy': policy = '', ...headers } = card?.headers() ?? {};
    expect(card?.status()).toBe(200);
    expect(/frame-ancestors ([^;]*)/.exec(policy)?.[1]?.split(' ').slice(0, 2)).toEqual([listed.url, sameSite]);
    expect(headers['x-frame-options']).toBeUndefined();
    expect(headers['cross-origin-embedder-policy']).toBe('require-corp');
    expect(headers['cross-origin-resource-policy']).toBe('cross-origin');
    expect(headers['set-cookie']).toBeUndefined();
  }
  const script = await open?.get('/embed.v1.js');
  expect(script?.headers()['content-type']).toContain('javascript');
  expect(script?.headers()['cross-origin-resource-policy']).toBe('cross-origin');
  expect((await script?.body())?.byteLength).toBeLessThanOrEqual(6_000);
  expect((await open?.get('/embed', { maxRedirects: 0 }))?.status()).toBe(404);
  await Promise.all([open?.dispose(), without?.dispose()]);
});

test('the page of a card is the same for all, and holds nothing of the outboxes', async ({ playwright, world }) => {
  const { console } = stage();
  const { cookies } = await sessionOf(playwright.request, console.world, 'admin');
  const text = async (storageState?: { cookies: typeof cookies; origins: [] }): Promise<string> => {
    const context = await playwright.request.newContext({ baseURL: console.world.url, storageState });
    const answer = await (await context.get('/embed/fleet?auth=session')).text();
    await context.dispose();
    return answer;
  };
  const [nobody, admin] = [await text(), await text({ cookies, origins: [] })];
  const nonce = /nonce="([^"]+)"/.exec(nobody)?.[1] ?? '';
  const other = /nonce="([^"]+)"/.exec(admin)?.[1] ?? '';
  expect(admin.replaceAll(other, nonce)).toBe(nobody);
  expect(nobody).not.toMatch(new RegExp(['Escrow', 'viewer@', ...Object.keys(world.databases)].join('|')));
});
