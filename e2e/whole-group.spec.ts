/** A cause with more dead events than a page, or an intervention, holds: tried on one, then carried out on all of them. */
import { randomUUID } from 'node:crypto';
import type { Locator, Page, Request } from '@playwright/test';
import { expect, test } from './fixtures';
import type { Database } from './support/database';
import { insertEscrows } from './support/rows';

const ROWS = 460;

/** A text whose digits are letters: the demo's own errors never share its cause. */
const ownError = (): string => `story: ${randomUUID().replaceAll(/[0-9]/g, 'x')}`;

async function openGroup(page: Page, error: string): Promise<Locator> {
  await page.goto('/outboxes/escrow/dead-letters');
  const group = page.getByRole('table', { name: 'Dead events by error and type' }).getByRole('row').filter({ hasText: error });
  await group.getByRole('button', { name: /^Select / }).click();
  const bar = page.getByRole('region', { name: 'Selected events' });
  await expect(bar).toContainText(`${String(ROWS)} selected`);
  await expect(bar).toContainText('the whole list as it was read');
  return bar;
}

async function decide(page: Page, bar: Locator, operation: string, reason: string): Promise<Locator> {
  await bar.getByRole('button', { name: operation, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  return dialog;
}

const states = (database: Database, error: string, ids: string[]) =>
  database.query<{ archived: number; dead: number }>(
    `SELECT (SELECT count(*)::int FROM outbox_console.archive_escrow WHERE id = ANY($1::uuid[])) AS archived,
            (SELECT count(*)::int FROM p2p.transaction_outbox WHERE status = 'failed' AND error_message = $2) AS dead`,
    [ids, error],
  );

test('a whole group is selected, tried on one event, and gone on with; every part has its record', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const error = ownError();
  const rows = await insertEscrows(escrow, ROWS, { error, ageMinutes: 3 });
  const ids = rows.map(({ id }) => id);
  const page = await signIn('operator');
  const bar = await openGroup(page, error);
  const reason = `story: the whole group ${randomUUID()}`;
  const dialog = await decide(page, bar, 'Archive', reason);
  await expect(dialog.getByText('The first 200 of 460 are shown', { exact: false })).toBeVisible();
  await dialog.getByLabel(/Type 460/).fill('460');
  await dialog.getByRole('button', { name: 'Try one first' }).click();
  await expect(dialog.getByText('One event went first')).toBeVisible();
  await expect(dialog.getByText('1 event is in the archive')).toBeVisible();
  expect(await states(escrow, error, ids)).toEqual([{ archived: 1, dead: ROWS - 1 }]);
  // Meanwhile one of the others dies again: it is not the row that was seen.
  await escrow.query(
    'UPDATE p2p.transaction_outbox SET retry_count = 6 WHERE id = (SELECT id FROM p2p.transaction_outbox WHERE id = ANY($1::uuid[]) LIMIT 1)',
    [ids],
  );
  await dialog.getByRole('button', { name: 'Go on with the other 459' }).click();
  await expect(dialog.getByRole('heading', { name: '459 events changed, 1 left alone' })).toBeVisible();
  await expect(dialog.getByText(/1 left alone: .*changed since/i)).toBeVisible();
  expect(await states(escrow, error, ids)).toEqual([{ archived: ROWS - 1, dead: 1 }]);
  const records = await escrow.query('SELECT key FROM outbox_console.intervention WHERE reason = $1', [reason]);
  expect(records).toHaveLength(4);
  const written = await escrow.query(
    'SELECT 1 FROM outbox_console.intervention_event JOIN outbox_console.intervention AS i ON i.id = intervention_id WHERE i.reason = $1',
    [reason],
  );
  expect(written).toHaveLength(ROWS);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(bar).toBeHidden();
});

test('a run of batches ends where the way to the console breaks, and goes on from there', async ({ signIn, database, watch }) => {
  watch.allow(/ERR_FAILED|Failed to fetch/);
  const escrow = database('escrow');
  const error = ownError();
  const ids = (await insertEscrows(escrow, ROWS, { error, ageMinutes: 3 })).map(({ id }) => id);
  const page = await signIn('operator');
  const bar = await openGroup(page, error);
  const reason = `story: a broken run ${randomUUID()}`;
  const dialog = await decide(page, bar, 'Archive', reason);
  await dialog.getByLabel(/Type 460/).fill('460');
  let sent = 0;
  await page.route('**/dead-letters', async (route) => {
    const isBatch = (route.request().postData() ?? '').includes('a broken run');
    if (isBatch && (sent += 1) === 2) await route.abort();
    else await route.continue();
  });
  await dialog.getByRole('button', { name: 'Archive 460 events' }).click();
  // Whether it arrived is not known at first: it is looked up, not sent again.
  await expect(dialog.getByText(/may or may not have been applied/)).toBeVisible();
  await expect(dialog.getByText(/left no record/)).toBeVisible();
  expect(sent).toBe(2);
  expect(await states(escrow, error, ids)).toEqual([{ archived: 200, dead: 260 }]);
  await dialog.getByRole('button', { name: 'Go on with the other 260' }).click();
  await expect(dialog.getByRole('heading', { level: 2, name: '460 events changed' })).toBeVisible();
  expect(await states(escrow, error, ids)).toEqual([{ archived: 460, dead: 0 }]);
  expect(await escrow.query('SELECT 1 FROM outbox_console.intervention WHERE reason = $1', [reason])).toHaveLength(3);
});

test('what changed since an undo was opened is left alone, beyond the rows that are shown too', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const error = ownError();
  const ids = (await insertEscrows(escrow, ROWS, { error, ageMinutes: 3 })).map(({ id }) => id);
  const page = await signIn('operator');
  const bar = await openGroup(page, error);
  const dialog = await decide(page, bar, 'Archive', `story: to be undone ${randomUUID()}`);
  await dialog.getByLabel(/Type 460/).fill('460');
  await dialog.getByRole('button', { name: 'Archive 460 events' }).click();
  await expect(dialog.getByRole('heading', { level: 2, name: '460 events changed' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Undo: Restore' }).click();
  await dialog.getByLabel('Reason').fill('story: and back');
  const confirm = dialog.getByRole('button', { name: 'Restore 460 events' });
  await expect(confirm).toBeEnabled();
  await escrow.query(`UPDATE outbox_console.archive_escrow SET oc_reason = 'story: another word' WHERE id = ANY($1::uuid[])`, [ids]);
  await confirm.click();
  await expect(dialog.getByText(/460 left alone: .*changed since/i)).toBeVisible();
  expect(await states(escrow, error, ids)).toEqual([{ archived: ROWS, dead: 0 }]);
});

test('a reading ends with the list it is of, and one that finds nothing says so', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const error = ownError();
  const ids = (await insertEscrows(escrow, ROWS, { error, ageMinutes: 3 })).map(({ id }) => id);
  const page = await signIn('operator');
  const bar = await openGroup(page, error);
  await bar.getByRole('button', { name: 'Clear the selection' }).click();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let meanwhile: () => Promise<unknown> = () => held;
  const isReading = (request: Request): boolean => (request.postData() ?? '').includes('"of":{');
  await page.route('**/dead-letters**', async (route) => {
    if (isReading(route.request())) await meanwhile();
    await route.continue();
  });
  const select = page
    .getByRole('table', { name: 'Dead events by error and type' })
    .getByRole('row')
    .filter({ hasText: error })
    .getByRole('button', { name: /^Select / });
  await select.click();
  await expect(bar).toContainText('Reading the list');
  await page.getByText('Oldest first', { exact: true }).click();
  await expect(bar).toBeHidden();
  const answered = page.waitForResponse((response) => isReading(response.request()));
  release();
  await answered;
  await page.waitForTimeout(1_000);
  await expect(bar).toBeHidden();

  // While it is read, so that the group that is selected still stands on the screen.
  meanwhile = () => escrow.query('DELETE FROM p2p.transaction_outbox WHERE id = ANY($1::uuid[])', [ids]);
  await select.click();
  await expect(bar).toContainText('0 events: the list held none when it was read');
  // Who selects anything else has heard it.
  await page
    .getByRole('checkbox', { name: /^Select / })
    .last()
    .click();
  await expect(bar).toContainText('1 selected');
});
