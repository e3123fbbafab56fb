/** `<outbox-card>` as the page around it sees it: its frame here is one that says what a story has it say. */
import fs from 'node:fs';
import path from 'node:path';
import type { Frame, Page } from '@playwright/test';
import { PROTOCOL } from '@/lib/shared/embedding/messages';
import { expect, test } from './fixtures';
import { startHost, type Answer, type Host } from './support/host';

const SCRIPT = fs.readFileSync(path.resolve(import.meta.dirname, '../public/embed.v1.js'), 'utf8');
const TOKEN = 'aaa.bbb.ccc';

/** Keeps what it is told, and says what it is asked to. */
const FRAME = `<!doctype html><title>frame</title><script>
  heard = [];
  addEventListener('message', ({ data, origin }) => heard.push({ ...data, origin }));
  say = (message) => parent.postMessage({ protocol: '${PROTOCOL}', ...message }, '*');
  say({ type: 'ready', view: 'fate' });
</script>`;

interface Heard {
  type: string;
  origin: string;
  token?: string;
  theme?: string;
}
type Say = (message: object) => void;

const stage: { console?: Host; host?: Host; page: Answer; token: (url: URL) => Answer | string | null } = {
  page: { body: '' },
  token: () => `{"token":"${TOKEN}"}`,
};
const at = (host: Host | undefined): string => host?.url.replace('127.0.0.1', 'localhost') ?? '';

test.beforeEach(async () => {
  // One port, two names for it: the console is another site than the page.
  stage.console = await startHost(({ pathname }) =>
    pathname === '/outbox/embed.v1.js'
      ? { body: SCRIPT, headers: { 'content-type': 'text/javascript', 'cross-origin-resource-policy': 'cross-origin' } }
      : FRAME,
  );
  stage.token = () => `{"token":"${TOKEN}"}`;
  stage.host = await startHost((url) => (url.pathname === '/' ? stage.page : url.pathname === '/token' ? stage.token(url) : null));
});
test.afterEach(async () => {
  await stage.console?.close();
  await stage.host?.close();
});

/** Opens a page with this body, the script and a policy as strict as can be. */
async function open(page: Page, body: string, before = ''): Promise<Page> {
  const home = at(stage.console);
  const policy = `default-src 'none'; img-src data:; script-src ${home} 'nonce-n'; frame-src ${home}; connect-src 'self'; style-src 'none'; require-trusted-types-for 'script'`;
  stage.page = {
    headers: { 'content-security-policy': policy },
    body: `<!doctype html><html lang="ko-KR"><link rel="icon" href="data:,"><script nonce="n">
      states = []; addEventListener('outbox-card-state', ({ detail }) => states.push(detail.state + ' ' + detail.code)); ${before}
      </script><script src="${home}/outbox/embed.v1.js" defer></script>${body.replace('CONSOLE', `console="${home}/outbox/"`)}`,
  };
  await page.goto(`${stage.host?.url ?? ''}/`);
  return page;
}

async function frameOf(page: Page): Promise<Frame> {
  await expect.poll(() => page.frames().filter((frame) => frame.url().includes('/embed/')).length).toBe(1);
  const frame = page.frames().find((one) => one.url().includes('/embed/'));
  if (frame === undefined) throw new Error('no frame');
  await frame.waitForFunction(() => (globalThis as unknown as { heard: Heard[] }).heard.some(({ type }) => type === 'theme'));
  return frame;
}
const say = (frame: Frame, ...messages: object[]): Promise<void> =>
  frame.evaluate((all) => {
    for (const message of all) (globalThis as unknown as { say: Say }).say(message);
  }, messages);
const heard = (frame: Frame): Promise<Heard[]> => frame.evaluate(() => (globalThis as unknown as { heard: Heard[] }).heard);
const states = (page: Page): Promise<string[]> => page.evaluate(() => (globalThis as unknown as { states: string[] }).states);
const height = (page: Page): Promise<number> => page.locator('outbox-card').evaluate((card) => card.getBoundingClientRect().height);

const CARD = '<outbox-card CONSOLE view="fate" key="order-1" token-url="/token" theme="dark" tz="Asia/Seoul"></outbox-card>';

test('asks the page for a token and hands it on; neither it nor the key is in an address of the console', async ({ page }) => {
  await open(page, CARD);
  const frame = await frameOf(page);
  const address = new URL(frame.url());
  expect(address.pathname).toBe('/outbox/embed/fate');
  expect(Object.fromEntries(address.searchParams)).toEqual({
    auth: 'token',
    theme: 'dark',
    lang: 'ko',
    tz: 'Asia/Seoul',
    host: stage.host?.url,
  });
  expect(await height(page)).toBe(160);
  await say(frame, { type: 'token-wanted', why: 'start' }, { type: 'token-wanted', why: 'start' });
  await expect.poll(() => heard(frame)).toContainEqual({ protocol: PROTOCOL, type: 'token', token: TOKEN, origin: stage.host?.url });
  expect(stage.host?.asked.filter(({ path: asked }) => asked.startsWith('/token')).map(({ path: asked }) => asked)).toEqual([
    '/token?view=fate&key=order-1',
  ]);
  expect(stage.console?.asked.filter(({ path: asked }) => /order-1|aaa/.test(asked))).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);

  await say(frame, { type: 'state', state: 'live', code: null }, { type: 'size', height: 321.4 });
  await expect(page.locator('outbox-card')).toHaveAttribute('state', 'live');
  expect(await states(page)).toEqual(['loading null', 'live null']);
  await expect.poll(() => height(page)).toBe(322);
  await say(frame, { type: 'size', height: 1e9 });
  await expect.poll(() => height(page)).toBe(20_000);
  await say(
    frame,
    { type: 'size', height: -5 },
    { type: 'size', height: Number.NaN },
    { type: 'size' },
    { type: 'state', state: 'on fire', code: null },
  );
  await say(frame, { type: 'size', height: 400 }, { type: 'state', state: 'refused', code: 'token_invalid' });
  await expect(page.locator('outbox-card')).toHaveAttribute('state', 'refused');
  expect(await states(page)).toEqual(['loading null', 'live null', 'refused token_invalid']);
  expect(await height(page)).toBe(400);
});

test('a theme is told, everything else loads the frame anew, and a card that goes takes its frame with it', async ({ page }) => {
  await open(page, CARD);
  const card = page.locator('outbox-card');
  const first = await frameOf(page);
  await say(first, { type: 'size', height: 500 });
  await card.evaluate((element) => {
    element.setAttribute('theme', 'light');
  });
  await expect.poll(async () => (await heard(first)).map(({ theme }) => theme)).toEqual(['dark', 'light']);
  await card.evaluate((element) => {
    element.setAttribute('view', 'outbox');
    element.setAttribute('outbox', 'escrow');
    element.removeAttribute('key');
  });
  await expect.poll(() => first.isDetached()).toBe(true);
  const second = await frameOf(page);
  expect(second.url()).toContain('/outbox/embed/outbox?');
  expect(second.url()).toContain('theme=light');
  expect(await height(page)).toBe(500);
  expect(stage.console?.asked.filter(({ path: asked }) => asked.includes('/embed/')).length).toBe(2);
  await say(second, { type: 'token-wanted', why: 'start' });
  await expect.poll(() => stage.host?.asked.at(-1)?.path).toBe('/token?view=outbox&outbox=escrow');

  await card.evaluate((element) => {
    Object.assign(globalThis, { gone: element });
    element.remove();
  });
  await expect.poll(() => page.frames().length).toBe(1);
  await page.evaluate(() => document.body.append((globalThis as unknown as { gone: Element }).gone));
  await say(await frameOf(page), { type: 'state', state: 'live', code: null });
  await expect(card).toHaveAttribute('state', 'live');
});

test('a token that does not come is asked for again after 1, 2 and 5 seconds; one that is refused, no faster', async ({ page, watch }) => {
  watch.allow(/503/);
  let tries = 0;
  stage.token = () => ((tries += 1) <= 2 ? { status: 503, body: 'down' } : tries === 3 ? '<p>Please sign in</p>' : TOKEN);
  await open(page, CARD);
  const frame = await frameOf(page);
  await say(frame, { type: 'token-wanted', why: 'start' });
  await expect.poll(async () => (await heard(frame)).filter(({ type }) => type === 'token').length).toBe(1);
  await say(frame, { type: 'token-wanted', why: 'refused' });
  await expect.poll(() => stage.host?.times('/token')).toBe(5);
  const times = stage.host?.asked.filter(({ path: asked }) => asked.startsWith('/token')).map((one) => one.at) ?? [];
  const gaps = times.slice(1).map((one, index) => one - (times[index] ?? 0));
  for (const [index, pause] of [1000, 2000, 5000, 10_000].entries()) expect(gaps[index]).toBeGreaterThanOrEqual(pause - 50);
});

test('what others say, or what is no message of ours, changes nothing', async ({ page }) => {
  await open(page, `${CARD}<iframe src="${at(stage.console)}/other"></iframe>`);
  const frame = await frameOf(page);
  await say(frame, { type: 'size', height: 300 });
  await expect.poll(() => height(page)).toBe(300);
  const forged = { type: 'size', height: 9000 };
  // The console's origin, another window; the page itself; another protocol; no object.
  const other = page.frames().find((one) => one.url().endsWith('/other'));
  await other?.evaluate((message) => {
    (globalThis as unknown as { say: Say }).say(message);
  }, forged);
  await page.evaluate(
    ([message, protocol]) => {
      globalThis.postMessage({ protocol, ...(message as object) }, '*');
    },
    [forged, PROTOCOL],
  );
  await say(
    frame,
    { ...forged, protocol: 'outbox-card.v2' },
    { ...forged, type: 'resize' },
    { type: 'state', state: 'live', code: { a: 1 } },
  );
  await frame.evaluate(() => {
    for (const value of ['size', null, 7]) parent.postMessage(value, '*');
  });
  await say(frame, { type: 'state', state: 'stale', code: null });
  await expect(page.locator('outbox-card')).toHaveAttribute('state', 'stale');
  expect(await height(page)).toBe(300);
  expect(await states(page)).toEqual(['loading null', 'stale null']);
});

test('getToken may be there before the script, or come after it, and another function is no other card', async ({ page }) => {
  await open(
    page,
    `<outbox-card CONSOLE view="fleet"></outbox-card><script nonce="n">document.querySelector('outbox-card').getToken = () => '${TOKEN}'</script>`,
  );
  const early = await frameOf(page);
  expect(new URL(early.url()).searchParams.get('auth')).toBe('token');
  const card = page.locator('outbox-card');
  await card.evaluate((element: Element & { getToken?: unknown }) => {
    element.getToken = () => Promise.resolve('ddd.eee.fff');
  });
  await say(early, { type: 'token-wanted', why: 'start' });
  await expect.poll(async () => (await heard(early)).at(-1)?.token).toBe('ddd.eee.fff');
  await card.evaluate((element: Element & { getToken?: unknown }) => {
    element.getToken = null;
    element.setAttribute('business-key', 'order-2');
    element.setAttribute('view', 'fate');
  });
  await expect.poll(() => early.isDetached()).toBe(true);
  const session = await frameOf(page);
  expect(session.url()).toMatch(/auth=session.*key=order-2/);
  await say(session, { type: 'token-wanted', why: 'start' }, { type: 'size', height: 222 });
  await expect.poll(() => height(page)).toBe(222);
  expect((await heard(session)).map(({ type }) => type)).toEqual(['theme']);
});

test('an address that is none and a view that there is not are said, and load nothing; the script may come twice', async ({
  page,
  watch,
}) => {
  watch.allow(/outbox-card: /);
  await open(
    page,
    `<outbox-card console="the console" view="fate" key="a"></outbox-card>
    <outbox-card CONSOLE view="fates"></outbox-card><script src="${at(stage.console)}/outbox/embed.v1.js" defer></script>`,
  );
  const [first, second] = [page.locator('outbox-card').first(), page.locator('outbox-card').last()];
  await expect(first).toContainText('outbox-card: console="the console" is no address');
  await expect(second).toContainText('outbox-card: unknown view="fates"');
  expect(page.frames().length).toBe(1);
  expect(watch.problems()).toEqual([]);
});
