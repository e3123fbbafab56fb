/** Where two people are asked for: what the maker sees, what the other one sees, and that neither does both. */
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from '@playwright/test';
import type { Role } from '@/lib/shared/permissions';
import { sessionOf } from '@/scripts/testing/session';
import { expect, test } from './fixtures';
import { openDatabase } from './support/database';
import { axeFindings, scrollsSideways } from './support/measure';
import { insertEscrows } from './support/rows';
import { secondConsole, type SecondConsole } from './support/second-console';
import { watchPage } from './support/watch-page';

/** One console for all of them, whose rules ask for a second person above two events. */
test.describe.configure({ mode: 'serial' });

const started: { console?: SecondConsole } = {};
function second(): SecondConsole {
  if (started.console === undefined) throw new Error('the second console has not been started');
  return started.console;
}

/** Its store is its own: whoever has the lease of the outbox carries runs out, and by the rules of the demo's console a plan of these is void. */
test.beforeAll(async ({ world, database }) => {
  const own = new URL(world.store);
  own.pathname = `/two_people_${randomUUID().replaceAll('-', '')}`;
  await database('escrow').query(`CREATE DATABASE ${own.pathname.slice(1)} OWNER ${own.username}`);
  started.console = await secondConsole(world, (config) => {
    config.store = own.href;
    config.outboxes = config.outboxes.filter(({ id }) => id === 'escrow');
    config.approvals = [{ outboxes: ['escrow'], operations: ['archive'], rows: 2 }];
  });
  await second().start();
  const accounts = await database('store').query<{ account: string }>('SELECT row_to_json(account)::text AS account FROM account');
  const store = openDatabase(own.href);
  for (const { account } of accounts)
    await store.query('INSERT INTO account SELECT * FROM json_populate_record(NULL::account, $1)', [account]);
  await store.close();
});
test.afterAll(async ({ database }) => {
  await second().stop();
  await database('escrow').query(`DROP DATABASE ${new URL(second().config.store).pathname.slice(1)} WITH (FORCE)`);
});

async function pageOf(browser: Browser, playwright: { request: Parameters<typeof sessionOf>[0] }, role: Role): Promise<Page> {
  const context = await browser.newContext({ baseURL: second().world.url });
  await context.addCookies((await sessionOf(playwright.request, second().world, role)).cookies);
  return context.newPage();
}

test('three events are planned in the dialog, agreed to by somebody else, and started by who made the plan', async ({
  browser,
  playwright,
  database,
}) => {
  const escrow = database('escrow');
  const error = `story: two people ${randomUUID()}`;
  const ids = (await insertEscrows(escrow, 3, { error, ageMinutes: 30 })).map(({ id }) => id);
  const maker = await pageOf(browser, playwright, 'operator');
  const watch = await watchPage(maker);
  await maker.goto(`/outboxes/escrow/events?state=dead&error=${encodeURIComponent(error)}`);
  await maker.getByRole('checkbox', { name: /^Select all 3/ }).click();
  await maker.getByRole('region', { name: 'Selected events' }).getByRole('button', { name: 'Archive' }).click();
  const dialog = maker.getByRole('dialog');
  await expect(dialog.getByText('A second person has to agree to this.', { exact: false })).toBeVisible();
  await dialog.getByLabel('Reason').fill('story: never wanted');
  await dialog.getByRole('button', { name: 'Plan it' }).click();
  await expect(maker).toHaveURL(/\/plans\//);
  await expect(maker.getByText('more events than one person may change alone', { exact: false })).toBeVisible();
  await expect(maker.getByText('You made it, so somebody else answers.', { exact: false })).toBeVisible();
  for (const name of ['Start', 'Approve']) await expect(maker.getByRole('button', { name, exact: true })).toBeHidden();

  const other = await pageOf(browser, playwright, 'approver');
  await other.goto('/');
  const parts = other.getByRole('navigation', { name: 'Parts of the console' });
  await expect(parts.getByRole('link', { name: /^Approvals.*wait/ })).toBeVisible();
  await parts.getByRole('link', { name: /^Approvals/ }).click();
  await other
    .getByRole('listitem')
    .filter({ hasText: 'story: never wanted' })
    .first()
    .getByRole('link', { name: /^Archive 3 events/ })
    .click();
  await expect(other.getByText('You see what its maker saw.', { exact: false })).toBeVisible();
  expect(await axeFindings(other)).toEqual([]);
  await other.setViewportSize({ width: 390, height: 844 });
  expect(await scrollsSideways(other)).toBe(false);
  await other.getByLabel('Why you agree or refuse').fill('story: seen them all');
  await other.getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(other.getByText('agreed:', { exact: false })).toBeVisible();

  await expect(maker.getByText('story: seen them all')).toBeVisible();
  await maker.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(maker.getByRole('status').filter({ hasText: 'All 3 are done.' })).toBeVisible();
  expect(await escrow.query('SELECT 1 FROM p2p.transaction_outbox WHERE id = ANY($1::uuid[])', [ids])).toEqual([]);
  expect(watch.problems()).toEqual([]);
});

test('who refuses says why, and nothing is done', async ({ browser, playwright, database }) => {
  const escrow = database('escrow');
  const ids = (await insertEscrows(escrow, 3, { ageMinutes: 30 })).map(({ id }) => id);
  const maker = await pageOf(browser, playwright, 'operator');
  await maker.goto('/plans');
  await maker.getByRole('combobox', { name: 'Outbox' }).last().selectOption({ label: 'Escrow' });
  await maker.getByRole('combobox', { name: 'Operation' }).selectOption({ label: 'Plan archiving' });
  await maker.getByLabel('Event ids').fill(ids.join('\n'));
  await maker.getByLabel('Reason').fill('story: to be refused');
  await maker.getByRole('button', { name: 'Make the plan' }).click();
  await expect(maker.getByText('Waits for approval')).toBeVisible();
  const other = await pageOf(browser, playwright, 'approver');
  await other.goto(maker.url());
  await other.getByRole('button', { name: 'Refuse', exact: true }).click();
  await expect(other.getByText('Say why, in at least 3 characters')).toBeVisible();
  const why = other.getByLabel('Why you agree or refuse');
  await why.fill('story: these are wanted');
  // Enter answers neither.
  await why.press('Enter');
  await other.getByRole('button', { name: 'Refuse', exact: true }).click();
  await expect(maker.getByText(/refused: .*these are wanted.*Nothing was done\./)).toBeVisible();
  await expect(maker.getByText('In small batches', { exact: false })).toBeHidden();
  const refused = maker.url();
  await maker.getByRole('button', { name: 'Plan it again' }).click();
  await expect(maker.getByText('Waits for approval')).toBeVisible();
  expect(maker.url()).not.toBe(refused);
  expect(await escrow.query('SELECT 1 FROM p2p.transaction_outbox WHERE id = ANY($1::uuid[])', [ids])).toHaveLength(3);
});
