import { expect, test } from './fixtures';
import { confirmButton, openDialog, operationButton } from './support/operate';
import { escrowRow, insertEscrow } from './support/rows';

test('a row that moved while the dialog was open is left alone, in words', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const dialog = await openDialog(page, 'requeue');
  await escrow.query('UPDATE p2p.transaction_outbox SET retry_count = 6, last_attempt_time = now() WHERE id = $1', [id]);
  const before = await escrowRow(escrow, id);
  await dialog.getByLabel('Reason').fill('story: a stale row');
  await confirmButton(dialog, 'requeue').click();
  await expect(dialog.getByText(/1 left alone/)).toBeVisible();
  expect(await escrowRow(escrow, id)).toEqual(before);
});

test('a double click changes once', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const dialog = await openDialog(page, 'archive');
  await dialog.getByLabel('Reason').fill('story: a nervous hand');
  await confirmButton(dialog, 'archive').dblclick();
  await expect(dialog.getByRole('link', { name: 'See the record' })).toBeVisible();
  expect(await escrowRow(escrow, id)).toBeNull();
  const records = await escrow.query('SELECT 1 FROM outbox_console.intervention_event WHERE event_id = $1', [id]);
  expect(records).toHaveLength(1);
});

test('the dialog says what will happen, to which row, and shows the SQL on request', async ({ signIn, database }) => {
  const { id, order } = await insertEscrow(database('escrow'));
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const dialog = await openDialog(page, 'requeue');
  await expect(dialog).toContainText(/Start 1 event of .*escrow.* over( \(\d+ attempts\))?: it begins again with 0 attempts/i);
  await expect(dialog).toContainText(order);
  await dialog.getByText('Show SQL').click();
  await expect(dialog.getByText(/update "p2p"\."transaction_outbox"/i).first()).toBeVisible();
  await confirmButton(dialog, 'requeue').click();
  // No reason, no change; one that is too short neither.
  await expect(dialog.getByText(/Say why, in at least 3 characters/)).toBeVisible();
  await dialog.getByLabel('Reason').fill('x');
  await confirmButton(dialog, 'requeue').click();
  await expect(dialog.getByText(/Say why, in at least 3 characters/)).toBeVisible();
  expect((await escrowRow(database('escrow'), id))?.status).toBe('failed');
});

test('selected rows are operated on together, and undone', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const error = `story: together ${String(Date.now())}`;
  const rows = [await insertEscrow(escrow, { error }), await insertEscrow(escrow, { error }), await insertEscrow(escrow, { error })];
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events?state=dead&error=${encodeURIComponent(error)}`);
  const boxes = page.getByRole('checkbox', { name: /^Select order_complete/ });
  await expect(boxes).toHaveCount(3);
  await boxes.first().check();
  await boxes.last().click({ modifiers: ['Shift'] });
  const bar = page.getByRole('region', { name: 'Selected events' });
  await expect(bar).toContainText('3 selected');
  await bar.getByRole('button', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('story: three at once');
  await confirmButton(dialog, 'archive', 3).click();
  await expect(dialog.getByText('3 events are in the archive')).toBeVisible();
  for (const { id } of rows) expect(await escrowRow(escrow, id)).toBeNull();
  await dialog.getByRole('button', { name: 'Undo: Restore' }).click();
  await dialog.getByLabel('Reason').fill('story: and back');
  await confirmButton(dialog, 'restore', 3).click();
  await expect(dialog.getByText('3 events are back in the outbox')).toBeVisible();
  for (const { id } of rows) expect((await escrowRow(escrow, id))?.status).toBe('failed');
  await dialog.getByRole('link', { name: 'See the record' }).click();
  await expect(page.getByText('story: and back')).toHaveCount(3);
  await page.goto('/audit?outbox=escrow&operation=archive');
  const line = page.getByRole('listitem').filter({ hasText: `archived 3 events` }).filter({ hasText: 'story: three at once' });
  await expect(line.first()).toBeVisible();
  await line.first().getByText('3 events', { exact: true }).click();
  await expect(line.first().getByRole('listitem')).toHaveCount(3);
  await page.goto('/outboxes/escrow');
  await expect(page.getByRole('link', { name: /^Archive, 3 events: story: three at once/ }).first()).toBeVisible();
});

test('a stuck event is released, a young claim is not', async ({ signIn, database }) => {
  const escrow = database('escrow');
  const stuck = await insertEscrow(escrow, { status: 'processing', retryCount: 1 });
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${stuck.id}`);
  const dialog = await openDialog(page, 'release');
  await expect(dialog.getByText(/may already be out/i)).toBeVisible();
  await dialog.getByLabel('Reason').fill('story: its handler is gone');
  await confirmButton(dialog, 'release').click();
  await expect(dialog.getByRole('link', { name: 'See the record' })).toBeVisible();
  await expect.poll(async () => (await escrowRow(escrow, stuck.id))?.status).toBe('processed');

  const young = await insertEscrow(escrow, { status: 'processing', retryCount: 1 });
  await escrow.query('UPDATE p2p.transaction_outbox SET last_attempt_time = now() WHERE id = $1', [young.id]);
  await page.goto(`/outboxes/escrow/events/${young.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(young.order);
  await expect(operationButton(page, 'release')).toBeHidden();
  await escrow.query('DELETE FROM p2p.transaction_outbox WHERE id = $1', [young.id]);
});

test('a request that never arrived is told as one that changed nothing, in the title too', async ({ signIn, database, watch }) => {
  watch.allow(/ERR_FAILED|Failed to fetch/);
  const { id } = await insertEscrow(database('escrow'));
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const dialog = await openDialog(page, 'requeue');
  await dialog.getByLabel('Reason').fill('story: lost on the way');
  await page.route('**/events/**', async (route) => {
    if ((route.request().postData() ?? '').includes('lost on the way')) await route.abort();
    else await route.continue();
  });
  await confirmButton(dialog, 'requeue').click();
  await expect(dialog.getByRole('heading', { name: /^Start over( \(\d+ attempts\))?: the outcome is not known yet$/ })).toBeVisible();
  await expect(dialog.getByRole('heading', { name: /^Start over( \(\d+ attempts\))?: this try changed nothing$/ })).toBeVisible();
  await expect(dialog.getByText('You can close this and do it again.', { exact: false })).toBeVisible();
  expect((await escrowRow(database('escrow'), id))?.status).toBe('failed');
});
