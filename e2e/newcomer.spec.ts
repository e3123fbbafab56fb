import { expect, test } from './fixtures';
import { operate } from './support/operate';
import { escrowRow, insertEscrow, shownRow } from './support/rows';

test('a newcomer’s drill: sign in, see the incident, put a failed escrow event right, find it in the audit', async ({
  page,
  world,
  database,
  sink,
}) => {
  const escrow = database('escrow');
  const { id, order } = await insertEscrow(escrow);
  await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'refuse' });
  const account = world.accounts.find(({ role }) => role === 'operator');

  await page.goto('/');
  await expect(page).toHaveURL(/\/login/);
  await page.getByLabel('E-mail').fill(account?.email ?? '');
  await page.getByLabel('Password', { exact: true }).fill(world.password);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await expect(page.getByRole('heading', { name: /of 5 need/ })).toBeVisible();
  // A cause of the section below it may speak of escrow, too.
  const name = page.getByRole('link', { name: 'Escrow', exact: true });
  const line = page.getByRole('row').filter({ has: name });
  await expect(line).toContainText(/dead|stuck/i);
  await line.locator(name).click();
  await expect(page).toHaveURL(/\/outboxes\/escrow/);

  await page.goto(`/outboxes/escrow/events?q=${order}`);
  await shownRow(page, id).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(order);
  await expect(page.getByText('story: node answered 503').first()).toBeVisible();

  await operate(page, 'retry', 'story: the node should be back');
  await expect.poll(async () => (await escrowRow(escrow, id))?.retry_count).toBe(6);
  await expect.poll(async () => (await escrowRow(escrow, id))?.status).toBe('failed');
  await page.reload();

  await operate(page, 'archive', 'story: put aside while the node is down');
  expect(await escrowRow(escrow, id)).toBeNull();
  await page.reload();
  await operate(page, 'restore', 'story: the node is really back');
  expect((await escrowRow(escrow, id))?.status).toBe('failed');
  await page.reload();

  await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'none' });
  await operate(page, 'requeue', 'story: starting over', 'It is out');
  await expect.poll(async () => (await escrowRow(escrow, id))?.status).toBe('processed');
  expect(await sink.deliveries('escrow', id)).toHaveLength(1);

  await page.goto(`/audit?outbox=escrow&event=${id}`);
  for (const reason of ['the node should be back', 'put aside while the node is down', 'the node is really back', 'starting over']) {
    await expect(page.getByText(`story: ${reason}`)).toBeVisible();
  }
  await expect(page.getByText(account?.email ?? '').first()).toBeVisible();
});
