/** An index on creation and key serves every page of a list: what is read does not depend on the table or the depth. */
import { expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, settingsFor } from '@/scripts/testing/outbox';
import { openDatabase } from '@/lib/database/database';
import type { EventFilter } from '@/lib/shared/model';
import { bindOutbox } from './bind';
import { encodeCursor } from './cursor';
import { listEvents } from './list-events';
import { escrowStatus } from './shapes/escrow-status';

const TABLE = 'p2p.transaction_outbox';
const ROWS = 20_000;
const LIMIT = 20;

const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus, { rows: false });
  await db.query(
    `INSERT INTO ${TABLE} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time)
      SELECT gen_random_uuid(), 'k' || i, 't' || i % 4, 'r', 'processed', '{}', timestamptz '2026-01-01' + i * interval '1 second' FROM generate_series(1, ${ROWS}) AS i`,
  );
  await db.query(`CREATE INDEX ON ${TABLE} (create_time, id)`);
  await db.query(`VACUUM (ANALYZE) ${TABLE}`);
});

interface Counters {
  scanned: number;
  fetched: number;
}

/** A connection hands its counters over when it closes. */
async function counters(): Promise<Counters> {
  const [row] = await database.query<{ scanned: string; fetched: string }>(
    `SELECT seq_tup_read AS scanned, idx_tup_fetch AS fetched FROM pg_stat_user_tables WHERE relid = '${TABLE}'::regclass`,
  );
  return { scanned: Number(row?.scanned), fetched: Number(row?.fetched) };
}

const deep = async (): Promise<string> => {
  const [row] = await database.query<{ id: string; created: string }>(
    `SELECT id, create_time::text AS created FROM ${TABLE} ORDER BY create_time DESC, id DESC OFFSET ${ROWS / 2} LIMIT 1`,
  );
  return encodeCursor({ order: 'newest', direction: 'next', createdKey: row?.created ?? '', id: row?.id ?? '' });
};

const pages: [string, EventFilter, boolean][] = [
  ['the newest page', {}, false],
  ['a page far down', {}, true],
  ['the oldest page', { order: 'oldest' }, false],
  ['a page of a frequent state', { state: ['published'] }, false],
];
it.each(pages)('%s', async (_, filter, fromDeep) => {
  const cursor = fromDeep ? await deep() : undefined;
  const before = await counters();
  const observed = openDatabase({ id: 'test', url: database.url });
  const outbox = await bindOutbox(settingsFor(escrowStatus), observed);
  const { events } = await listEvents(outbox, filter, { limit: LIMIT, cursor });
  await observed.close();
  await expect.poll(async () => (await counters()).fetched - before.fetched).toBeGreaterThan(0);
  const after = await counters();
  expect(events).toHaveLength(LIMIT);
  expect(after.scanned - before.scanned).toBe(0);
  expect(after.fetched - before.fetched).toBeLessThanOrEqual(LIMIT * 5);
});
