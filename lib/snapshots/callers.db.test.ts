/** What whoever calls by HTTP is told, and what it costs. */
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { DatabaseFailure } from '@/lib/database/failure';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSnapshots, type Snapshots } from './snapshots';
import { countedDirectory, sampleTables, shapeCalled, testOutbox, type CountedDirectory } from '@/fixtures/outboxes';

const database = useTestDatabase();
const OUTBOX = testOutbox(shapeCalled('escrow-status'), 'first');

let directory: CountedDirectory;
let snapshots: Snapshots;
let clock: number;
/** What happens before a reading. */
let before: () => Promise<void>;

const addPending = (count: number): Promise<unknown> =>
  database.query(
    `insert into first.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload) select gen_random_uuid(), 'k', 't', 'r', '{}' from generate_series(1, ${String(count)})`,
  );

beforeAll(() => database.query(sampleTables(OUTBOX.shape, OUTBOX.id).join(';\n')));
beforeEach(async () => {
  await database.query('truncate first.transaction_outbox');
  clock = Math.floor(Date.now() / 5_000) * 5_000;
  before = () => Promise.resolve();
  directory = countedDirectory(database.url, [OUTBOX], () => before());
  snapshots = createSnapshots(directory, { now: () => clock });
});
afterEach(() => directory.close());

test('fifty scripts, each at a moment of its own, share the next reading', async () => {
  await snapshots.summary('first', '1h');
  await addPending(3);
  const asked = Array.from({ length: 50 }, () => {
    clock += 10;
    return snapshots.summary('first', '1h');
  });
  for (const { depth } of await Promise.all(asked)) expect(depth.pending.count).toBe(3);
  expect(directory.readings()).toBe(2);
});

test('scripts that come again at once get a new reading each, one a second at the most', async () => {
  const real = createSnapshots(directory);
  // Looking at the table for the first time is part of no reading.
  await directory.last('first');
  const begun: number[] = [];
  before = async () => void begun.push(performance.now());
  for (let call = 1; call <= 3; call += 1) {
    await addPending(1);
    expect((await real.summary('first', '1h')).depth.pending.count).toBe(call);
  }
  // A timer may end a millisecond early.
  expect(begun.slice(1).map((at, index) => at - (begun[index] ?? at) > 950)).toEqual([true, true]);
});

test('slow is not away: a lock, a limit that strikes and a line that is full are called slow', async () => {
  const slow = { verdict: 'cannot_see', evidence: [{ code: 'source_slow' }, { code: 'last_seen' }] };
  await snapshots.outbox('first', '1h');
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin; lock table first.transaction_outbox in access exclusive mode');
  clock += 5_000;
  expect((await snapshots.summary('first', '1h')).diagnosis).toMatchObject(slow);
  await client.query('commit');
  await client.end();
  for (const code of ['timeout', 'busy'] as const) {
    before = () => Promise.reject(new DatabaseFailure(code, null, new Error('slow')));
    clock += 5_000;
    const { diagnosis, depth } = await snapshots.summary('first', '1h');
    expect(diagnosis).toMatchObject(slow);
    expect(depth.pending).toMatchObject({ count: null, why: 'source_slow' });
  }
  expect((await snapshots.outbox('first', '1h')).stale?.problem).toBe('timeout');
});
