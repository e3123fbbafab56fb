/** A payload that is larger than what is read unasked: told with its size, and shown by a button up to 4 MB. */
import { expect, test } from './fixtures';
import type { Database } from './support/database';
import { insertEscrow } from './support/rows';

/** An event whose payload is so many characters of what no compression makes smaller. */
async function insertLarge(escrow: Database, characters: number): Promise<string> {
  const { id } = await insertEscrow(escrow);
  await escrow.query(
    `UPDATE p2p.transaction_outbox SET payload = jsonb_build_object('orderId', 'order-large', 'rest',
       (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, $2::int))) WHERE id = $1`,
    [id, Math.ceil(characters / 32)],
  );
  return id;
}

test('a payload of a megabyte says so, and is shown when somebody asks', async ({ signIn, database }) => {
  const id = await insertLarge(database('escrow'), 1_000_000);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const payload = page.getByRole('region', { name: 'Payload' });
  await expect(payload.getByText('Larger than what is read unasked, so it was left where it is.')).toBeVisible();
  const size = /^(about )?[\d.,]+ (kB|MB)$/;
  await expect(payload.getByText(size)).toBeVisible();
  await expect(payload.getByText('order-large')).toBeHidden();
  const button = payload.getByRole('button', { name: 'Show all of: Payload' });
  await expect(button).toHaveText(/^Show [\d.,]+ (kB|MB)$/);
  await button.click();
  await expect(payload.getByText('order-large')).toBeVisible();
  await expect(button).toBeHidden();
  await expect(payload.getByText(/^1(\.0)? MB$/)).toBeVisible();
});

test('a payload of more than 4 MB is never shown, and has no button', async ({ signIn, database }) => {
  const id = await insertLarge(database('escrow'), 6_000_000);
  const page = await signIn('operator');
  await page.goto(`/outboxes/escrow/events/${id}`);
  const payload = page.getByRole('region', { name: 'Payload' });
  await expect(payload.getByText(/^(about )?[\d.,]+ MB$/)).toBeVisible();
  await expect(payload.getByText(/^Too large to be read here: above 4 MB/)).toBeVisible();
  await expect(payload.getByRole('button', { name: /^Show/ })).toHaveCount(0);
});
