/** Cards in pages of somebody else, as those who read them there see them. */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { environmentFor } from '@/demo/env';
import { PROTOCOL } from '@/lib/shared/embedding/messages';
import { CARD_VIEWS } from '@/lib/shared/embedding/views';
import { findChromium } from '@/scripts/testing/chromium';
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { cardTag, claimsOf, fourCards, frameOf, framesOf, pageOf, startEmbedding, stateOf, type Embedding } from './support/embedding';
import { signCard } from './support/host';
import { axeFindings, scrollsSideways } from './support/measure';

const ROOT = path.resolve(import.meta.dirname, '..');
const STRICT = "default-src 'none'; img-src data:; connect-src 'self'; style-src 'none'; require-trusted-types-for 'script'";

// A browser that has no cookies of third parties left.
test.use({
  // What is out of view does not ask for figures.
  viewport: { width: 1280, height: 4000 },
  launchOptions: {
    executablePath: findChromium() ?? undefined,
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage', '--test-third-party-cookie-phaseout'],
  },
});
// One after the other: they share two hosts.
test.describe.configure({ mode: 'default' });

const started: { embedding?: Embedding; key?: string } = {};
function stage(): Embedding & { home: string; key: string } {
  const { embedding, key } = started;
  if (embedding === undefined || key === undefined) throw new Error('the console of this story has not been started');
  return Object.assign(embedding, { home: embedding.console.world.url, key });
}
/** Both hosts sign what their page asks for. */
function signs(more: { lifetimeS?: number } = {}): void {
  const { signing } = stage();
  stage().token = (query) => signCard(claimsOf(query), { ...signing, ...more });
}

test.beforeAll(async ({ world, database }) => {
  started.embedding = await startEmbedding(world);
  const { id } = await database('orders-kafka').one<{ id: string }>(
    'SELECT aggregate_id AS id FROM outbox_dead ORDER BY died_at DESC LIMIT 1',
  );
  started.key = id;
});
test.beforeEach(() => {
  signs();
});
test.afterAll(() => started.embedding?.stop());

for (const theme of ['light', 'dark'] as const) {
  for (const width of [280, 1200]) {
    test(`four cards live on another site, ${theme}, ${String(width)} px: as high as their content, at rest, without a cookie`, async ({
      page,
    }) => {
      const { home, key, listed } = stage();
      // With the margins of a page that brings no style.
      await page.setViewportSize({ width: width + 16, height: 4000 });
      const policy = `${STRICT}; script-src ${home}; frame-src ${home}`;
      stage().page = pageOf(home, fourCards(home, key, `theme="${theme}"`), { 'content-security-policy': policy });
      await page.goto(listed.url);
      for (const view of CARD_VIEWS) {
        await expect(stateOf(page, view)).toHaveAttribute('state', 'live');
        const frame = await frameOf(page, view);
        await expect(frame.locator('html')).toHaveAttribute('data-theme', theme);
        expect(frame.url()).not.toContain(key);
      }
      await expect((await frameOf(page, 'fate')).locator('main')).toContainText(key);
      /** How much a frame is higher or lower than what is in it, and how high it is. */
      const heights = () =>
        Promise.all(
          CARD_VIEWS.map(async (view) => {
            const frame = await frameOf(page, view);
            const content = await frame.locator('main').evaluate((main) => main.getBoundingClientRect().height);
            const outside = await (await frame.frameElement()).boundingBox();
            return { off: Math.abs((outside?.height ?? 0) - content), height: outside?.height ?? 0 };
          }),
        );
      await expect.poll(async () => Math.max(...(await heights()).map(({ off }) => off))).toBeLessThanOrEqual(1);
      const before = await heights();
      await page.waitForTimeout(2_000);
      const after = await heights();
      // A line more or less is news; a height that follows itself grows with every frame that is drawn.
      for (const [index, { off, height }] of after.entries()) {
        expect(off).toBeLessThanOrEqual(1);
        expect(Math.abs(height - (before[index]?.height ?? 0))).toBeLessThan(100);
      }
      for (const frame of framesOf(page)) {
        expect(await frame.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), frame.url()).toBe(
          true,
        );
      }
      expect(await scrollsSideways(page)).toBe(false);
      expect(await axeFindings(page, ['minor', 'moderate', 'serious', 'critical'])).toEqual([]);
      expect(await page.context().cookies()).toEqual([]);
    });
  }
}

test('tokens of 35 seconds are renewed twice before they end, and the card is live all along', async ({ page }) => {
  const { home, key, listed } = stage();
  signs({ lifetimeS: 35 });
  stage().page = pageOf(home, cardTag(home, 'fate', `key="${key}"`));
  await page.addInitScript(() => {
    Object.assign(globalThis, { states: [] });
    addEventListener('outbox-card-state', (event) => {
      (globalThis as unknown as { states: string[] }).states.push((event as CustomEvent<{ state: string }>).detail.state);
    });
  });
  const before = listed.times('/token');
  await page.goto(listed.url);
  await expect.poll(() => listed.times('/token') - before).toBeGreaterThanOrEqual(3);
  await page.waitForTimeout(6_000);
  expect(new Set(await page.evaluate(() => (globalThis as unknown as { states: string[] }).states))).toEqual(new Set(['loading', 'live']));
  expect(await page.context().cookies()).toEqual([]);
});

test('a table that keeps no dead letters is said to keep none, not to be unread', async ({ page }) => {
  const { home, listed } = stage();
  stage().page = pageOf(home, cardTag(home, 'dead-letters', 'outbox="orders-redis"'));
  await page.goto(listed.url);
  const main = (await frameOf(page, 'dead-letters')).getByRole('main', { name: 'Dead letters of Courier orders to Redis' });
  await expect(main).toContainText('Tables that keep no dead letters: Courier orders to Redis');
  await expect(main).not.toContainText('cannot be shown');
});

test('a theme is told without another load, and an event opens in a window of its own, where one signs in', async ({ page, context }) => {
  const { home, key, listed } = stage();
  stage().page = pageOf(home, cardTag(home, 'fate', `key="${key}" theme="light" lang="ko" tz="Asia/Seoul"`));
  await page.goto(listed.url);
  const card = stateOf(page, 'fate');
  await expect(card).toHaveAttribute('state', 'live');
  const frame = await frameOf(page, 'fate');
  await expect(frame.locator('html')).toHaveAttribute('lang', 'ko');
  await card.evaluate((element) => {
    element.setAttribute('theme', 'dark');
  });
  await expect(frame.locator('html')).toHaveAttribute('data-theme', 'dark');
  expect(frame.isDetached()).toBe(false);
  const opened = context.waitForEvent('page');
  await frame.locator('li a[target="_blank"]').first().click();
  const window = await opened;
  await expect(window).toHaveURL(new RegExp(`^${home}/login\\?callbackUrl=.*outboxes`));
  await window.close();
});

test('on a page that is isolated by COEP', async ({ page }) => {
  const { home, key, listed } = stage();
  const isolated = { 'cross-origin-embedder-policy': 'require-corp', 'cross-origin-opener-policy': 'same-origin' };
  stage().page = pageOf(home, fourCards(home, key), isolated);
  await page.goto(listed.url);
  for (const view of CARD_VIEWS) await expect(stateOf(page, view)).toHaveAttribute('state', 'live');
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
});

test('a frame by hand, with the flags and messages of the documentation; nobody else is listened to', async ({ page, context }) => {
  const { home, key, listed, unlisted, signing } = stage();
  const documented = fs.readFileSync(path.join(ROOT, 'docs/embedding.md'), 'utf8');
  const [, flags] = /sandbox="([\w -]+)"/.exec(documented) ?? [];
  const [, popups] = /`(allow-popups [\w-]+)`/.exec(documented) ?? [];
  const source = `${home}/embed/fate?auth=token&theme=light&host=${listed.url}`;
  stage().page = {
    body: `<!doctype html><title>By hand</title><link rel="icon" href="data:,"><script>
      said = []; addEventListener('message', ({ data, origin }) => said.push({ ...data, origin }))</script>
      <iframe title="fate" src="${source}" sandbox="${flags} ${popups}" width="600" height="400"></iframe>
      <iframe title="other" src="${unlisted.url}/other"></iframe>`,
  };
  await page.goto(listed.url);
  const said = (type: string) =>
    page.evaluate((wanted) => (globalThis as unknown as { said: { type: string }[] }).said.filter((one) => one.type === wanted), type);
  await expect.poll(() => said('token-wanted')).toContainEqual({ protocol: PROTOCOL, type: 'token-wanted', why: 'start', origin: home });
  expect(await said('ready')).toContainEqual({ protocol: PROTOCOL, type: 'ready', view: 'fate', origin: home });
  const frame = await frameOf(page, 'fate');
  const post = (message: object) =>
    page.evaluate(
      ([to, all]) => {
        frames[0]?.postMessage(all, to);
      },
      [home, message] as const,
    );

  const token = await signCard({ view: 'fate', key }, signing);
  const forger = page.frames().find((one) => one.url().startsWith(unlisted.url));
  const forged = { protocol: PROTOCOL, type: 'theme', theme: 'dark' };
  for (const message of [forged, { protocol: PROTOCOL, type: 'token', token }]) {
    await forger?.evaluate((all) => {
      parent.frames[0]?.postMessage(all, '*');
    }, message);
  }
  for (const message of [
    { ...forged, more: 1 },
    { ...forged, protocol: 'outbox-card.v2' },
    { ...forged, theme: 'pink' },
    { ...forged, type: 'paint' },
  ]) {
    await post(message);
  }
  await page.waitForTimeout(1_000);
  await expect(frame.locator('html')).toHaveAttribute('data-theme', 'light');
  await expect(frame.locator('main')).not.toHaveAttribute('data-state', 'live');

  await post({ protocol: PROTOCOL, type: 'token', token });
  await expect(frame.locator('main')).toHaveAttribute('data-state', 'live');
  await post(forged);
  await expect(frame.locator('html')).toHaveAttribute('data-theme', 'dark');
  const opened = context.waitForEvent('page');
  await frame.locator('li a[target="_blank"]').first().click();
  await expect(await opened).toHaveURL(/\/login\?callbackUrl=/);
});

test('on the same site cards are seen by who is signed in to the console, and on another by nobody', async ({
  page,
  playwright,
  watch,
}) => {
  const { home, sameSite, listed, console } = stage();
  watch.allow(/status of 401/);
  stage().page = pageOf(home, `<outbox-card console="${home}" view="fleet"></outbox-card>`);
  await page.goto(sameSite);
  await expect(stateOf(page, 'fleet')).toHaveAttribute('state', 'refused');
  await expect((await frameOf(page, 'fleet')).locator('main')).toContainText('not signed in');
  const { cookies } = await sessionOf(playwright.request, console.world, 'viewer');
  await page.context().addCookies(cookies);
  await page.goto(sameSite);
  await expect(stateOf(page, 'fleet')).toHaveAttribute('state', 'live');
  await page.goto(listed.url);
  await expect(stateOf(page, 'fleet')).toHaveAttribute('state', 'refused');
});

test('the demo has a page elsewhere that shows an order and all four cards', async ({ page, world }) => {
  await page.goto(world.hostUrl);
  for (const view of CARD_VIEWS) await expect(stateOf(page, view)).toHaveAttribute('state', 'live');
  await expect((await frameOf(page, 'fate')).locator('main')).toContainText(/order-\d+/);
  await page.getByLabel('Theme').selectOption('dark');
  await expect((await frameOf(page, 'outbox')).locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('navigation', { name: 'Orders' }).getByRole('link').last().click();
  await expect(stateOf(page, 'fate')).toHaveAttribute('state', 'live');
  expect(await page.context().cookies()).toEqual([]);
});

test('a host by the documentation alone, in ten lines and ten', async ({ page }) => {
  const documented = fs.readFileSync(path.join(ROOT, 'docs/embedding.md'), 'utf8');
  const sample = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(documented)?.[1] ?? '';
  const [html, signing] = [sample('html'), sample('js')];
  for (const text of [html, signing]) expect(text.trim().split('\n').length).toBeLessThanOrEqual(10);
  const { key, home, freePort: port, signing: ours } = stage();
  const own = (text: string): string => text.replaceAll('https://outbox.example.com', home).replaceAll('order-8812', key);
  // Below the clone, where the sample finds the package that it imports.
  const folder = fs.mkdtempSync(path.join(ROOT, '.outbox-console-host-'));
  let host: ChildProcess | null = null;
  try {
    fs.writeFileSync(path.join(folder, 'sign.mjs'), own(signing));
    fs.writeFileSync(path.join(folder, 'page.html'), own(html));
    // What any web server does: a file, and an address that answers what a function answers.
    fs.writeFileSync(
      path.join(folder, 'serve.mjs'),
      `import fs from 'node:fs'; import { createServer } from 'node:http'; import { outboxToken } from './sign.mjs';
       createServer(async ({ url }, response) => {
         const { pathname, searchParams } = new URL(url, 'http://host');
         if (pathname === '/outbox-token') return response.end(await outboxToken(searchParams.get('key'), 'ada'));
         response.setHeader('Content-Type', 'text/html').end(pathname === '/' ? fs.readFileSync(new URL('./page.html', import.meta.url)) : '');
       }).listen(${String(port)}, '127.0.0.1', () => console.log('ready'));`,
    );
    const env = environmentFor({ EMBED_KEY: ours.secret });
    host = spawn(process.execPath, [path.join(folder, 'serve.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => host?.stdout?.once('data', resolve));
    await page.goto(`http://127.0.0.1:${String(port)}/`);
    await expect(stateOf(page, 'fate')).toHaveAttribute('state', 'live');
    await expect((await frameOf(page, 'fate')).locator('main')).toContainText(key);
  } finally {
    host?.kill();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
