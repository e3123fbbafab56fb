/** What became of an order, over all five outboxes: by address, by the form, by ⌘K and over HTTP. */
import type { Found } from '@/lib/shared/lists/found';
import { expect, test } from './fixtures';
import { insertEscrow } from './support/rows';

const OUTBOXES = ['escrow', 'notifications', 'orders-kafka', 'orders-redis', 'orders-sqs'];

test('an order is found in all five outboxes by its number, on one timeline', async ({ signIn, api, database }) => {
  // All five have long had it; the shop to Redis keeps the number in its payload alone.
  const { order } = await database('orders-redis').one<{ order: string }>(
    `SELECT payload->>'orderId' AS order FROM outbox WHERE status = 'PROCESSED' AND payload->>'orderId' ~ '^order-8\\d\\d\\d$' ORDER BY created_at LIMIT 1 OFFSET 500`,
  );
  // A table is searched for it at first, which may take longer than an answer.
  await expect(async () => {
    const found = (await (await api.get('/api/v1/find', { params: { key: order } })).json()) as Found;
    expect(
      found.outboxes
        .filter(({ events }) => events.length > 0)
        .map(({ outbox }) => outbox)
        .sort(),
    ).toEqual(OUTBOXES);
  }).toPass();
  const page = await signIn('viewer');
  await page.goto(`/find?key=${order}`);
  const timeline = page.getByRole('region', { name: 'What happened, newest first' });
  for (const name of ['Escrow', 'Notifications', 'Orders to Kafka', 'Courier orders to Redis', 'Orders to SQS'])
    await expect(timeline.getByText(name).first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Where was looked' }).getByText(/events? ha(s|ve) this key/)).toHaveCount(5);
  const times = await timeline.locator('time').evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''));
  expect(times.length).toBeGreaterThan(9);
  expect(times).toEqual(times.toSorted().reverse());
  await timeline.getByRole('link').first().click();
  await expect(page).toHaveURL(/\/outboxes\/[a-z-]+\/events\//);
});

test('a dead event makes the fate, and what happens next is shown without asking again', async ({ signIn, database }) => {
  const { id, order } = await insertEscrow(database('escrow'));
  const page = await signIn('operator');
  await page.goto('/find');
  await expect(page.getByText('Enter a key')).toBeVisible();
  await page.getByLabel('Key', { exact: true }).fill(` ${order} `);
  await page.getByRole('button', { name: 'Find', exact: true }).last().click();
  await expect(page).toHaveURL(/\/find\?key=/);
  const fate = page.getByRole('status').filter({ hasText: order });
  await expect(fate).toContainText('The event failed for good');
  await database('escrow').query(`UPDATE p2p.transaction_outbox SET status = 'processed', processed_time = now() WHERE id = $1`, [id]);
  await expect(fate).toContainText('The event was published');
});

test('a wrong key is told at its field, and nothing that was written is lost', async ({ signIn }) => {
  const page = await signIn('viewer');
  const long = 'x'.repeat(301);
  await page.goto(`/find?key=${long}`);
  const key = page.getByLabel('Key', { exact: true });
  await expect(key).toHaveValue(long);
  await expect(key).toHaveAccessibleDescription(/A key has 300 characters at most; this has 301/);
  await key.fill('  ');
  await key.press('Enter');
  await expect(key).toHaveAccessibleDescription(/Write a key first/);
  await key.fill('order-none-such');
  await key.press('Enter');
  await expect(page.getByText('No event with this key was found')).toBeVisible();
  await expect(page.getByText('None in these 5 outboxes')).toBeVisible();
});

test('⌘K finds by the same keys, and leads to what became of one', async ({ signIn, database }) => {
  const { id, order } = await insertEscrow(database('escrow'));
  const page = await signIn('viewer');
  await page.goto('/');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog').getByRole('textbox')).toBeFocused();
  await page.keyboard.type(order);
  await expect(page.getByRole('dialog')).toContainText(id);
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `What became of “${order}” in all outboxes` })
    .click();
  await expect(page).toHaveURL(new RegExp(`/find\\?key=${order}$`));
  await expect(page.getByRole('link', { name: 'order_complete' }).first()).toBeVisible();
});
