/** `OUTBOX_CONSOLE_BASE_PATH`: the whole console below a path of somebody else's origin, and a card of it on a page of that origin. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, isTakenOver, test as base } from './fixtures';
import { type HostedConsole, hostedConsole, watchAddresses } from './support/hosted-console';
import { operate } from './support/operate';
import { insertEscrow } from './support/rows';
import { addressOf, SCREENS } from './support/screens';

const BASE_PATH = '/outbox';

/** As docs/embedding.md has it: people who are signed in, on the console's own site. */
const HOST_PAGE = (
  url: string,
): string => `<!doctype html><html lang="en"><title>Operations</title><link rel="icon" href="data:,"><h1>Operations</h1>
<script src="${url}/embed.v1.js" async></script>
<outbox-card console="${url}" view="outbox" outbox="escrow"></outbox-card></html>`;

/** One console for all of them: stories of a file share its worker here. */
const test = base.extend<object, { hosted: HostedConsole }>({
  hosted: [
    async ({ world }, use) => {
      const hosted = await hostedConsole(world, BASE_PATH, HOST_PAGE);
      await use(hosted);
      await hosted.stop();
    },
    { scope: 'worker', timeout: 1_200_000 },
  ],
});
test.describe.configure({ mode: 'default' });

async function signInAt(page: Page, { url }: HostedConsole, world: { accounts: { email: string; role: string }[]; password: string }) {
  if (!page.url().startsWith(`${url}/login`)) await page.goto(`${url}/login`);
  await page.getByLabel('E-mail').fill(world.accounts.find(({ role }) => role === 'admin')?.email ?? '');
  await page.getByLabel('Password', { exact: true }).fill(world.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((to) => !to.pathname.endsWith('/login'));
}

test('a link from elsewhere leads over the sign-in back to its page, with cookies of names that the host has none of', async ({
  page,
  world,
  hosted,
}) => {
  const { url, origin, astray } = hosted;
  const seen = watchAddresses(page, url);
  await page.goto(`${url}/outboxes/escrow?window=24h`);
  await expect(page).toHaveURL(`${url}/login?callbackUrl=${encodeURIComponent('/outboxes/escrow?window=24h')}`);
  await signInAt(page, hosted, world);
  await expect(page).toHaveURL(`${url}/outboxes/escrow?window=24h`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();

  const cookies = await page.context().cookies();
  const own = `outbox-console${BASE_PATH.replaceAll('/', '+')}.`;
  const paths = Object.fromEntries(cookies.map(({ name, path }) => [name, path]));
  expect(paths).toEqual({
    [`${own}session`]: '/',
    [`${own}browser`]: '/',
    [`${own}csrf`]: '/',
    [`${own}callback`]: '/',
    'outbox-console.time-zone': BASE_PATH,
  });
  expect(cookies.filter(({ httpOnly, name }) => !httpOnly && name.startsWith(own))).toEqual([]);

  // Who is signed in is led on; elsewhere on the host is not one of our pages.
  await page.goto(`${url}/login?callbackUrl=/audit`);
  await expect(page).toHaveURL(`${url}/audit`);
  await page.goto(`${url}/login?callbackUrl=${encodeURIComponent(`${origin}/elsewhere`)}`);
  await expect(page).toHaveURL(url);
  expect(seen).toMatchObject({ outside: [], missing: [] });
  expect(astray).toEqual([]);
});

test('every screen stays below the path, and whatever it loads is there', async ({ page, playwright, world, hosted, database }) => {
  await signInAt(page, hosted, world);
  const seen = watchAddresses(page, hosted.url);
  for (const screen of SCREENS.filter(({ open }) => open !== true)) {
    const answer = await page.goto(hosted.url + (await addressOf(screen, { database, request: playwright.request, world })));
    expect(answer?.status(), screen.name).toBe(200);
    await expect(page.getByRole('heading').first()).toBeVisible();
    await page.waitForLoadState('networkidle');
    const hrefs = await page.locator('a[href^="/"]').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
    expect(hrefs.length).toBeGreaterThan(0);
    expect(
      hrefs.filter((href) => href !== BASE_PATH && !/^\/outbox[/?]/.test(href)),
      screen.name,
    ).toEqual([]);
  }
  // By clicks, too: what the router fetches and where it leads.
  await page.getByRole('link', { name: 'Outbox Console' }).first().click();
  await expect(page).toHaveURL(hosted.url);
  await page.locator('[data-row]').filter({ hasText: 'escrow' }).first().click();
  await expect(page).toHaveURL(`${hosted.url}/outboxes/escrow`);
  expect(seen.below.some((address) => address.includes('/_next/static/'))).toBe(true);
  expect(seen.below.some((address) => address.includes('/icon.svg'))).toBe(true);
  expect(seen).toMatchObject({ outside: [], missing: [] });
  expect(hosted.astray).toEqual([]);
});

test('changes, downloads, filters in the address and moved pages work below the path', async ({ page, world, hosted, database }) => {
  const { url } = hosted;
  await signInAt(page, hosted, world);
  const seen = watchAddresses(page, url);

  const { id } = await insertEscrow(database('escrow'));
  await page.goto(`${url}/outboxes/escrow/events/${id}`);
  await operate(page, 'archive', 'below a path of the host');
  await page.goto(`${url}/audit?event=${id}`);
  await expect(page.getByText('below a path of the host').first()).toBeVisible();

  await page.goto(`${url}/outboxes/escrow`);
  const [csv] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()]);
  expect(csv.url()).toContain(`${url}/api/v1/outboxes/escrow/series?`);
  expect((await readFile(await csv.path(), 'utf8')).slice(0, 10)).toBe('from (UTC)');
  await page.goto(`${url}/doctor`);
  await page.getByRole('button', { name: 'Export' }).click();
  const [report] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Markdown' }).click()]);
  expect(report.url()).toBe(`${url}/api/v1/doctor?format=markdown`);

  await page.goto(`${url}?q=escro`);
  await page.getByRole('searchbox').fill('escrow');
  await expect(page).toHaveURL(`${url}?q=escrow`);
  await page.getByRole('searchbox').fill('');
  await expect(page).toHaveURL(url);
  await page.goto(`${url}/outboxes/escrow/events`);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Attempts', exact: true }).click();
  await expect(page).toHaveURL((to) => to.pathname === `${BASE_PATH}/outboxes/escrow/events` && to.searchParams.has('columns'));

  await page.goto(`${url}/outboxes/escrow/proof`);
  await expect(page).toHaveURL(`${url}/outboxes/escrow/settings`);
  expect(seen).toMatchObject({ outside: [], missing: [] });
  expect(hosted.astray).toEqual([]);
});

test('scripts find the API below the path, with problems for what is not there; nothing is outside of it', async ({
  page,
  playwright,
  world,
  hosted,
  watch,
}) => {
  watch.allow(/status of 404/);
  const { url, origin } = hosted;
  const script = await playwright.request.newContext({ extraHTTPHeaders: { authorization: `Bearer ${world.token}` } });
  expect((await script.get(`${url}/api/v1/fleet`)).status()).toBe(200);
  expect((await script.get(`${url}/api/metrics`)).status()).toBe(200);
  expect((await script.get(`${url}/api/health/ready`)).status()).toBe(200);
  const unknown = await script.get(`${url}/api/v1/nowhere`);
  expect(unknown.status()).toBe(404);
  expect(unknown.headers()['content-type']).toContain('application/problem+json');
  for (const path of [`${BASE_PATH}`, `${BASE_PATH}/login`, `${BASE_PATH}/favicon.ico`])
    expect((await script.get(`${origin}${path}`)).headers()['x-content-type-options'], path).toBe('nosniff');
  // Its root has the policy of the other pages, and says nothing of the host's transport.
  const root = (await script.get(url)).headers();
  expect(root['content-security-policy']).toContain("frame-ancestors 'none'");
  // Past the proxy there is nothing at the root.
  for (const path of ['/', '/login', '/api/health/ready', '/outboxes'])
    expect((await script.get(`http://127.0.0.1:${String(hosted.ownPort)}${path}`)).status(), path).toBe(404);
  await script.dispose();

  await signInAt(page, hosted, world);
  const answer = await page.goto(`${url}/nowhere/at/all`);
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole('heading', { name: 'Nothing here' })).toBeVisible();
  await page.getByRole('link', { name: 'Go to the fleet' }).click();
  await expect(page).toHaveURL(url);
});

test('signing out ends the session and stays below the path', async ({ page, world, hosted }) => {
  await signInAt(page, hosted, world);
  const seen = watchAddresses(page, hosted.url);
  await page.goto(hosted.url);
  await page.waitForFunction(isTakenOver);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(`${hosted.url}/login`);
  await page.goto(`${hosted.url}/audit`);
  await expect(page).toHaveURL(`${hosted.url}/login?callbackUrl=%2Faudit`);
  expect(seen).toMatchObject({ outside: [], missing: [] });
});

test("a card on a page of the host shows an outbox to who is signed in, by the console's own cookie", async ({ page, world, hosted }) => {
  const { url, origin } = hosted;
  await signInAt(page, hosted, world);
  const data = page.waitForResponse((response) => response.url().startsWith(`${url}/api/embed/outbox?`));
  await page.goto(origin);
  expect((await data).status()).toBe(200);
  await expect.poll(() => page.frames().some((frame) => frame.url().startsWith(`${url}/embed/outbox?`))).toBe(true);
  const card = page.frames().find((frame) => frame.url().startsWith(`${url}/embed/outbox?`));
  await expect(card?.locator('body') ?? page.locator('none')).toContainText(/escrow/i);
  const element = page.locator('outbox-card');
  await expect.poll(async () => (await element.boundingBox())?.height ?? 0).toBeGreaterThan(60);
  expect(hosted.astray.filter((asked) => asked !== '/favicon.ico')).toEqual([]);
});
