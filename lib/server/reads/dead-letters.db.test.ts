/** The dead letters of all outboxes: one that cannot be read says why and takes nothing from the others. */
import { expect, it } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { readAllDeadLetters, readDeadLetters } from './dead-letters';

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus);
  await db.query(
    'CREATE TABLE p2p.moved (LIKE p2p.transaction_outbox INCLUDING ALL); CREATE TABLE p2p.other (LIKE p2p.transaction_outbox INCLUDING ALL)',
  );
});
const OUTBOXES = { kept: 'transaction_outbox', moved: 'moved', other: 'other' };
const outboxes = Object.entries(OUTBOXES).map(([id, table]) => `{id: ${id}, database: d, table: p2p.${table}, shape: escrow-status}`);
useTestConsole(
  () => store.url,
  () => `databases: {d: {url: '${database.url}'}}\noutboxes: [${outboxes.join(', ')}]\n`,
);

it('a table that is gone and one that does not fit are told as such', async () => {
  const context = await contextOf('viewer');
  await database.query('ALTER TABLE p2p.moved RENAME TO elsewhere; ALTER TABLE p2p.other DROP COLUMN payload');
  const all = await readAllDeadLetters(context, { order: 'newest', limit: 5 });
  expect(all.map(({ outbox: { id, whyReadOnly }, dead, problem }) => [id, dead.why ?? 'read', problem, whyReadOnly])).toEqual([
    ['kept', 'read', null, 'no_operator_url'],
    ['moved', 'table_missing', 'unavailable', 'table_missing'],
    ['other', 'source_unusable', 'unavailable', 'source_unusable'],
  ]);
});

it('how many of the newest the causes count, and whether that is all of them', async () => {
  const context = await contextOf('viewer');
  const searched = async () => (await readDeadLetters(context, 'kept', { order: 'newest', limit: 5 })).searched;
  const before = await searched();
  expect(before).toEqual({ rows: expect.any(Number) as number, complete: true });
  await database.query(`INSERT INTO p2p.transaction_outbox
      (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
    SELECT gen_random_uuid(), 'dead-' || n, 'order_complete', 'order-' || n, 'failed', '{}', now(), now(), 5, 'node down'
    FROM generate_series(1, 1000) AS n`);
  await expect.poll(searched).toEqual({ rows: 1_000, complete: false });
});
