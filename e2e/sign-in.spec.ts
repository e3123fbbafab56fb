import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, isTakenOver, test } from './fixtures';
import { insertEscrow } from './support/rows';

/** Browsers log every answer of 400 and above, the expected ones too. */
const REFUSED = /status of 401/;

async function fillIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a wrong password is said in words, the address stays, and the right one leads to where one was going', async ({
  page,
  world,
  watch,
}) => {
  watch.allow(REFUSED);
  const email = world.accounts.find(({ role }) => role === 'viewer')?.email ?? '';
  await page.goto('/outboxes/escrow?window=24h');
  await expect(page).toHaveURL(/\/login\?callbackUrl=/);
  await expect(page.getByLabel('E-mail')).toBeFocused();
  await fillIn(page, email, 'not the password');
  await expect(page.getByRole('alert').filter({ hasText: 'E-mail or password is not right.' })).toBeVisible();
  await expect(page.getByLabel('E-mail')).toHaveValue(email);
  await fillIn(page, email, world.password);
  await expect(page).toHaveURL(`${world.url}/outboxes/escrow?window=24h`);
});

for (const elsewhere of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
  test(`signing in never leads to ${elsewhere}`, async ({ page, world }) => {
    const email = world.accounts.find(({ role }) => role === 'viewer')?.email ?? '';
    await page.goto(`/login?callbackUrl=${encodeURIComponent(elsewhere)}`);
    await fillIn(page, email, world.password);
    await expect(page).toHaveURL(`${world.url}/`);
  });
}

test('guessing is stopped, and the form says how long', async ({ page, world, playwright, watch }) => {
  watch.allow(REFUSED);
  const email = `nobody-${randomUUID()}@example.com`;
  const guesser = await playwright.request.newContext({ baseURL: world.url });
  const { csrfToken } = (await (await guesser.get('/api/auth/csrf')).json()) as { csrfToken: string };
  for (let guess = 0; guess < 10; guess += 1) {
    await guesser.post('/api/auth/callback/credentials', { form: { csrfToken, email, password: `guess ${guess}`, json: 'true' } });
  }
  await guesser.dispose();
  await page.goto('/login');
  await fillIn(page, email, 'one more guess');
  await expect(page.getByRole('alert').filter({ hasText: 'Too many attempts.' })).toBeVisible();
});

test('signing out ends the session everywhere, and Back shows nothing', async ({ page, world, playwright }) => {
  const email = world.accounts.find(({ role }) => role === 'viewer')?.email ?? '';
  await page.goto('/login?callbackUrl=/audit');
  await fillIn(page, email, world.password);
  await expect(page).toHaveURL(`${world.url}/audit`);
  const cookies = await page.context().cookies();
  const copied = await playwright.request.newContext({
    baseURL: world.url,
    extraHTTPHeaders: { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
  });
  expect((await copied.get('/api/v1/audit')).status()).toBe(200);

  await page.waitForFunction(isTakenOver);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/\/login/);
  expect((await copied.get('/api/v1/audit')).status()).toBe(401);
  await copied.dispose();
  await page.goBack();
  await expect(page).toHaveURL(/\/login/);
});

test('signing out in one tab hides the rows and the dialog of another at once, a paused one too', async ({
  page,
  world,
  context,
  database,
}) => {
  const { order } = await insertEscrow(database('escrow'));
  const email = world.accounts.find(({ role }) => role === 'operator')?.email ?? '';
  await page.goto('/login?callbackUrl=/audit');
  await fillIn(page, email, world.password);
  await expect(page).toHaveURL(`${world.url}/audit`);
  const other = await context.newPage();
  await other.goto(`/outboxes/escrow/events?q=${order}`);
  await other.waitForFunction(isTakenOver);
  const row = other.locator('[data-event]').filter({ visible: true });
  await expect(row).toHaveCount(1);
  await other.keyboard.press('p');
  await other.keyboard.press('j');
  await other.keyboard.press('a');
  const dialog = other.getByRole('dialog');
  await expect(dialog).toContainText(order);
  await page.waitForFunction(isTakenOver);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(other).toHaveURL(/\/login\?callbackUrl=.*escrow/);
  await expect(row).toHaveCount(0);
  await expect(dialog).toHaveCount(0);
});

test('where the console does not answer, signing out hides the rows, says that one is still signed in, and goes on trying', async ({
  page,
  world,
  database,
  watch,
}) => {
  watch.allow(/ERR_INTERNET_DISCONNECTED/);
  const { order } = await insertEscrow(database('escrow'));
  const email = world.accounts.find(({ role }) => role === 'operator')?.email ?? '';
  await page.goto(`/login?callbackUrl=${encodeURIComponent(`/outboxes/escrow/events?q=${order}`)}`);
  await fillIn(page, email, world.password);
  await expect(page.locator('[data-event]').filter({ visible: true })).toHaveCount(1);
  await page.waitForFunction(isTakenOver);
  await page.waitForLoadState('networkidle');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page.getByRole('status')).toHaveText(/not signed out yet/);
  await expect(page.getByText(order)).toHaveCount(0);
  await page.context().setOffline(false);
  await expect(page).toHaveURL(/\/login/);
});

test('a session that has ended takes the rows with it', async ({ page, world, database, watch }) => {
  watch.allow(REFUSED);
  const { order } = await insertEscrow(database('escrow'));
  const email = world.accounts.find(({ role }) => role === 'operator')?.email ?? '';
  await page.goto(`/login?callbackUrl=${encodeURIComponent(`/outboxes/escrow/events?q=${order}`)}`);
  await fillIn(page, email, world.password);
  const row = page.locator('[data-event]').filter({ visible: true });
  await expect(row).toHaveCount(1);
  await page.context().clearCookies();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  await expect(row).toHaveCount(0);
});

test('a session that was planted or left behind ends when somebody signs in over it', async ({ world, playwright }) => {
  const email = world.accounts.find(({ role }) => role === 'viewer')?.email ?? '';
  const browser = await playwright.request.newContext({ baseURL: world.url });
  const signIn = async (): Promise<string> => {
    const { csrfToken } = (await (await browser.get('/api/auth/csrf')).json()) as { csrfToken: string };
    await browser.post('/api/auth/callback/credentials', { form: { csrfToken, email, password: world.password, json: 'true' } });
    const { cookies } = await browser.storageState();
    return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  };
  const first = await signIn();
  const second = await signIn();
  await browser.dispose();
  const answers = async (cookie: string): Promise<number> => {
    const context = await playwright.request.newContext({ baseURL: world.url, extraHTTPHeaders: { cookie } });
    const status = (await context.get('/api/v1/outboxes')).status();
    await context.dispose();
    return status;
  };
  expect([await answers(first), await answers(second)]).toEqual([401, 200]);
});

test('nothing a client sends to the session makes it more than it is', async ({ world, sessions, playwright }) => {
  const { cookies } = await sessions('viewer');
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const context = await playwright.request.newContext({ baseURL: world.url, extraHTTPHeaders: { cookie } });
  const { csrfToken } = (await (await context.get('/api/auth/csrf')).json()) as { csrfToken: string };
  await context.post('/api/auth/session', { data: { csrfToken, data: { role: 'admin', user: { role: 'admin' } } } });
  const answer = await context.post('/api/v1/outboxes/escrow/interventions', {
    headers: { Origin: world.url, 'Idempotency-Key': randomUUID() },
    data: { operation: 'retry', events: [{ id: randomUUID(), version: 'x' }], reason: 'I am an admin now' },
  });
  await context.dispose();
  expect(answer.status()).toBe(403);
});

test('the other names of this machine lead to the one the console is called by', async ({ page, world }) => {
  // The contract's address: anywhere else this would prove nothing.
  expect(new URL(world.url).hostname).toBe('localhost');
  await page.goto(world.url.replace('localhost', '127.0.0.1') + '/login?callbackUrl=%2Faudit');
  await expect(page).toHaveURL(`${world.url}/login?callbackUrl=%2Faudit`);
});

test('the audit says in words from where an account signed in, which has nothing before it', async ({ signIn }) => {
  const page = await signIn('admin');
  await page.goto('/audit?operation=sign_in');
  const entry = page.getByRole('list', { name: 'Audit' }).getByRole('listitem').filter({ hasText: 'signed in' }).first();
  await entry.getByText('Details').click();
  await expect(entry.getByRole('term')).toHaveText(['Address']);
  await expect(entry.getByText('Before')).toBeHidden();
});
