import type { Page } from '@playwright/test';
import type { Role } from '@/lib/shared/permissions';
import { expect, test } from './fixtures';
import type { Database } from './support/database';
import { confirmButton, openDialog } from './support/operate';
import { escrowRow, insertEscrow, insertEscrows, shownRow } from './support/rows';

type SignIn = (role: Role) => Promise<Page>;

/** An event's page with the dialog for its archiving filled in; whatever holds the reason is the request that sends it. */
async function beforeArchive(signIn: SignIn, escrow: Database) {
  const { id } = await insertEscrow(escrow);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const dialog = await openDialog(page, 'archive');
  const reason = `story: the line breaks ${id}`;
  await dialog.getByLabel('Reason').fill(reason);
  return { page, dialog, reason, id };
}

test('a broken connection is an unknown outcome: looked up, shown, and never sent twice', async ({ signIn, database, watch }) => {
  watch.allow(/ERR_CONNECTION_RESET/);
  const escrow = database('escrow');
  const { page, dialog, reason, id } = await beforeArchive(signIn, escrow);
  let sent = 0;
  await page.route('**/outboxes/escrow/events/**', async (route) => {
    if (!route.request().postData()?.includes(reason)) return route.continue();
    sent += 1;
    // It arrives and is carried out; only the answer is lost.
    await route.fetch();
    await route.abort('connectionreset');
  });
  await confirmButton(dialog, 'archive').click();
  await expect(dialog.getByText(/the outcome is not known yet/)).toBeVisible();
  await expect(dialog.getByText('1 event is in the archive')).toBeVisible();
  expect(sent).toBe(1);
  expect(await escrowRow(escrow, id)).toBeNull();
});

test('what was sent and not answered is asked after when the page is loaded again, until it is known', async ({
  signIn,
  database,
  watch,
}) => {
  watch.allow(/ERR_CONNECTION_RESET/);
  const { page, dialog, reason } = await beforeArchive(signIn, database('escrow'));
  let away = false;
  await page.route('**/outboxes/escrow/events/**', async (route) => {
    const postData = route.request().postData();
    if (postData?.includes(reason)) {
      away = true;
      await route.fetch();
    }
    // From then on this screen hears nothing any more.
    return away && postData !== null ? route.abort('connectionreset') : route.continue();
  });
  await confirmButton(dialog, 'archive').click();
  await expect(dialog.getByText(/the outcome is not known yet/)).toBeVisible();
  await page.goto('/audit');
  await expect(page.getByText('Archive: 1 event changed')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByText('Archive: 1 event changed')).toBeHidden();
});

test('new events do not move the rows somebody is looking at', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const error = `story: steady ${String(Date.now())}`;
  const first = await insertEscrow(escrow, { error, ageMinutes: 40 });
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events?error=${encodeURIComponent(error)}`);
  const row = shownRow(page, first.id);
  await expect(row).toBeVisible();
  const before = await row.boundingBox();
  const second = await insertEscrow(escrow, { error, ageMinutes: 30 });
  const newer = page.getByRole('button', { name: '1 newer event: show it' });
  await expect(newer).toBeVisible();
  expect(await row.boundingBox()).toEqual(before);
  await newer.click();
  await expect(shownRow(page, second.id)).toBeVisible();
});

test('the filter is in the URL, and back is where one was', async ({ signIn, database }) => {
  const error = `story: back ${String(Date.now())}`;
  const { id } = await insertEscrow(database('escrow'), { error, ageMinutes: 30 });
  const page = await signIn('operator');
  await page.goto('/outboxes/escrow/events');
  await page.getByRole('button', { name: 'Error', exact: true }).click();
  await page.getByRole('textbox', { name: 'Error' }).fill(error);
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page).toHaveURL(/error=story/);
  await shownRow(page, id).click();
  await expect(page).toHaveURL(new RegExp(`/events/${id}`));
  await page.goBack();
  await expect(page).toHaveURL(/error=story/);
  await expect(shownRow(page, id)).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(page).toHaveURL(/\/events$/);
});

test('all dead letters begin with the causes of all outboxes and end with those that have none', async ({ signIn, database }) => {
  const error = `story: causes ${String(Date.now()).replaceAll(/[0-9]/g, 'x')}`;
  await insertEscrows(database('escrow'), 3, { error, ageMinutes: 30 });
  const page = await signIn('operator');
  await page.goto('/dead-letters');
  const causes = page.getByRole('table', { name: 'Dead events by error and type' });
  await expect(causes).toHaveCount(1);
  for (const column of ['Events', 'Cause', 'Type', 'Outbox', 'Last death'])
    await expect(causes.getByRole('columnheader', { name: column, exact: true })).toBeVisible();
  // On one line, however much it comes to: a sum that grows moves nothing.
  const heights = await causes.locator('td[data-column="sum"]').evaluateAll((cells) => cells.map((cell) => cell.clientHeight));
  expect(Math.max(...heights)).toBeLessThan(40);
  const row = causes.getByRole('row').filter({ hasText: error });
  await expect(row).toContainText('Escrow');
  await row.getByRole('link').click();
  await expect(page).toHaveURL(/\/outboxes\/escrow\/dead-letters\?.*cause=/);
  await expect(page.getByRole('columnheader', { name: 'Died' })).toBeVisible();
});
