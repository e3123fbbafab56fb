/** Whatever indexes a table has: page by page, a list holds every row exactly once, and the other order is its reverse. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSample, ENGINES, settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { numbersTo } from '@/scripts/testing/mysql';
import { openDatabase, type Database } from '@/lib/database/database';
import type { OrderedBy } from '@/lib/shared/lists/shown';
import type { EngineKey, EventFilter } from '@/lib/shared/model';
import { LIVE_STATES } from '@/lib/shared/states';
import { bindOutbox } from '../bind';
import { listEvents } from './list-events';
import type { Outbox } from '../outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';

const ROWS = 48;
const DEAD = 12;

/** The same rows each time, though nothing about them follows from the order they were written in. */
const drawn = (salt: number, values: number): string => `((hashint4(i + ${salt * 1_000}) & 65535) % ${values})`;
/** Few different times, some of them missing: ties and NULLs are what keyset paging gets wrong. */
const time = (salt = 1): string =>
  `CASE WHEN ${drawn(salt, 4)} = 0 THEN NULL ELSE timestamptz '2026-01-01' + ${drawn(salt + 10, 6)} * interval '1 second' END`;
const wallClock = (salt?: number): string => `(${time(salt)}) AT TIME ZONE 'UTC'`;
const oneOf = (...values: string[]): string => `(array['${values.join("','")}'])[1 + ${drawn(3, values.length)}]`;
const series = (rows: number): string => `FROM generate_series(1, ${rows}) AS i`;

const ESCROW = [
  `ALTER TABLE p2p.transaction_outbox ALTER create_time DROP NOT NULL`,
  `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time, retry_count)
    SELECT gen_random_uuid(), i, ${oneOf('a', 'b')}, 'r' || i % 9, ${oneOf('processed', 'processed', 'failed', 'processing', 'pending', 'quarantined')}, '{}', ${time()}, ${time(2)}, ${drawn(4, 2)} ${series(ROWS)}`,
];
const FILLS: Record<string, string[]> = {
  'escrow-status': ESCROW,
  'courier-status': [
    `ALTER TABLE outbox ALTER created_at DROP NOT NULL`,
    `INSERT INTO outbox (id, event_type, payload, status, created_at) SELECT gen_random_uuid(), ${oneOf('a', 'b')}, '{}', ${oneOf('PENDING', 'PROCESSED', 'OTHER')}, ${wallClock()} ${series(ROWS)}`,
  ],
  'worker-status': [
    `ALTER TABLE outbox_events ALTER created_at DROP NOT NULL`,
    `INSERT INTO outbox_events (event_type, payload, created_at, processed_at, status) SELECT ${oneOf('a', 'b')}, '{}', ${wallClock()}, ${wallClock(2)}, ${oneOf('PENDING', 'PROCESSING', 'PROCESSED', 'OTHER')} ${series(ROWS)}`,
  ],
  'listen-notify': [
    `ALTER TABLE outbox ALTER created_at DROP NOT NULL`,
    `ALTER TABLE outbox_dead ALTER created_at DROP NOT NULL`,
    `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at, retry_count)
      SELECT gen_random_uuid(), 'o', 'r' || i % 9, ${oneOf('a', 'b')}, '{}', ${time()}, ${time(2)}, ${drawn(4, 2)} ${series(ROWS)}`,
    `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at) SELECT gen_random_uuid(), 'o', 'r' || i % 9, ${oneOf('a', 'b')}, '{}', ${time()} ${series(DEAD)}`,
  ],
  'published-at': [
    `ALTER TABLE outbox_events ALTER created_at DROP NOT NULL`,
    `ALTER TABLE outbox_dead ALTER created_at DROP NOT NULL`,
    `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at, attempt, dedup_key)
      SELECT gen_random_uuid(), 'o', 'r' || i % 9, ${oneOf('a', 'b')}, '{}', ${time()}, ${time(2)}, ${drawn(4, 2)}, 'd' || i ${series(ROWS)}`,
    `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at, attempt) SELECT gen_random_uuid(), 'o', 'r' || i % 9, ${oneOf('a', 'b')}, '{}', ${time()}, 10 ${series(DEAD)}`,
  ],
};

/** The same on the other engine: drawn numbers that follow from nothing, and numbers to count with. */
const drawnMysql = (salt: number, values: number): string => `(crc32(concat('row', n + ${salt * 1_000})) % ${values})`;
const timeMysql = (salt = 1): string =>
  `IF(${drawnMysql(salt, 4)} = 0, NULL, timestamp'2026-01-01 00:00:00' + interval ${drawnMysql(salt + 10, 6)} second)`;
const oneOfMysql = (...values: string[]): string => `elt(1 + ${drawnMysql(3, values.length)}, '${values.join("','")}')`;
const MYSQL_FILLS: Record<string, string[]> = {
  'worker-status': [
    `ALTER TABLE outbox_events MODIFY created_at datetime NULL`,
    `INSERT INTO outbox_events (event_type, payload, created_at, processed_at, status) SELECT ${oneOfMysql('a', 'b')}, '{}', ${timeMysql()}, ${timeMysql(2)}, ${oneOfMysql('PENDING', 'PROCESSING', 'PROCESSED', 'OTHER')} FROM ${numbersTo(ROWS, 'numbers')}`,
  ],
};

interface Variant {
  shape: string;
  engine?: EngineKey;
  indexes: string[];
  by: OrderedBy;
  /** What the order is when the table is large, where that is another one. */
  byLarge?: OrderedBy;
}

const ADVISED = [
  `(create_time) WHERE status = 'pending'`,
  `(create_time, id) WHERE status = 'failed'`,
  `(status) WHERE status = 'processing'`,
  `(processed_time) WHERE processed_time IS NOT NULL`,
];
const VARIANTS: Record<string, Variant> = {
  'escrow-status': { shape: 'escrow-status', indexes: [], by: 'created', byLarge: 'key' },
  'escrow-status with the advised indexes': { shape: 'escrow-status', indexes: ADVISED, by: 'happened' },
  'escrow-status without an index on what is dead': {
    shape: 'escrow-status',
    indexes: [ADVISED[0] ?? '', ADVISED[3] ?? ''],
    by: 'happened',
  },
  'escrow-status by creation and key': { shape: 'escrow-status', indexes: ['(create_time, id)', ...ADVISED], by: 'created' },
  'escrow-status by creation downwards': { shape: 'escrow-status', indexes: ['(create_time DESC NULLS LAST, id DESC)'], by: 'created' },
  'escrow-status by state and creation': { shape: 'escrow-status', indexes: ['(status, create_time)'], by: 'created' },
  'escrow-status by state alone': { shape: 'escrow-status', indexes: ['(status)', '(processed_time)'], by: 'happened' },
  'courier-status': { shape: 'courier-status', indexes: [], by: 'created', byLarge: 'key' },
  'listen-notify': { shape: 'listen-notify', indexes: [], by: 'happened' },
  'published-at': { shape: 'published-at', indexes: [], by: 'happened' },
  'worker-status': { shape: 'worker-status', indexes: [], by: 'key' },
  'worker-status on MySQL': { shape: 'worker-status', engine: 'mysql', indexes: [], by: 'key' },
  'worker-status on MySQL by creation': { shape: 'worker-status', engine: 'mysql', indexes: ['(created_at)'], by: 'created' },
  'worker-status on MySQL by creation downwards': {
    shape: 'worker-status',
    engine: 'mysql',
    indexes: ['(created_at DESC, id DESC)'],
    by: 'created',
  },
  'worker-status on MySQL by state and creation': {
    shape: 'worker-status',
    engine: 'mysql',
    indexes: ['(status, created_at)'],
    by: 'created',
  },
  'worker-status on MySQL by state and what happened': {
    shape: 'worker-status',
    engine: 'mysql',
    indexes: ['(status, created_at)', '(status, processed_at)'],
    by: 'created',
  },
  'worker-status with an index on what waits': { shape: 'worker-status', indexes: [`(created_at) WHERE status = 'PENDING'`], by: 'key' },
};

const large = (outbox: Outbox): Outbox => ({
  ...outbox,
  main: { ...outbox.main, description: { ...outbox.main.description, estimatedRows: 10_000_000 } },
});

describe.each(Object.entries(VARIANTS))('%s', (_name, { shape: key, engine = 'postgres', indexes, by, byLarge }) => {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`no shape ${key}`);
  const database = useTestDatabaseOf(engine, async (db) => {
    await createSample(db, shape, { rows: false });
    for (const statement of (engine === 'postgres' ? FILLS : MYSQL_FILLS)[key] ?? []) await db.query(statement);
    for (const [position, index] of indexes.entries()) await db.query(`CREATE INDEX walked_${position} ON ${shape.table} ${index}`);
  });
  let observed: Database;
  let outbox: Outbox;
  let ids: string[];
  beforeAll(async () => {
    observed = openDatabase({ id: 'test', url: database.url });
    outbox = await bindOutbox(settingsFor(shape), observed);
    const tables = [outbox.main, ...(outbox.dead === null ? [] : [outbox.dead])].map(({ table: { schema, table } }) =>
      [...(schema === null ? [] : [schema]), table].map(ENGINES[engine].quote.identifier).join('.'),
    );
    ids = (
      await database.query<{ id: string }>(
        tables.map((table) => `SELECT ${engine === 'postgres' ? 'id::text' : 'cast(id as char)'} AS id FROM ${table}`).join(' UNION ALL '),
      )
    ).map((row) => row.id);
  });
  afterAll(() => observed.close());

  /** The ids of all pages forwards, and of all pages back again from the last. */
  async function walk(from: Outbox, filter: EventFilter, limit: number): Promise<{ forwards: string[]; backwards: string[] }> {
    const forwards: string[] = [];
    let page = await listEvents(from, filter, { limit });
    forwards.push(...page.events.map((event) => event.id));
    while (page.nextCursor !== null) {
      page = await listEvents(from, filter, { limit, cursor: page.nextCursor });
      forwards.push(...page.events.map((event) => event.id));
      if (forwards.length > 500) throw new Error('the pages do not end');
    }
    const backwards = page.events.map((event) => event.id);
    while (page.previousCursor !== null) {
      page = await listEvents(from, filter, { limit, cursor: page.previousCursor });
      backwards.unshift(...page.events.map((event) => event.id));
      if (backwards.length > 500) throw new Error('the pages do not begin');
    }
    return { forwards, backwards };
  }
  const sorted = (some: string[]): string[] => [...some].sort();

  it('every row is listed exactly once, forwards and backwards, newest and oldest first', async () => {
    for (const limit of [2, 7]) {
      const newest = await walk(outbox, {}, limit);
      expect(sorted(newest.forwards)).toEqual(sorted(ids));
      expect(newest.backwards).toEqual(newest.forwards);
      const oldest = await walk(outbox, { order: 'oldest' }, limit);
      expect(oldest.forwards).toEqual(newest.forwards.toReversed());
      expect(oldest.backwards).toEqual(oldest.forwards);
    }
  });

  it('the rows of each state, of a type and of an aggregate are the same ones in the same order', async () => {
    const all = (await listEvents(outbox, {}, { limit: 200 })).events;
    for (const order of ['newest', 'oldest'] as const) {
      const list = order === 'newest' ? all : all.toReversed();
      const expected = (keep: (event: (typeof all)[number]) => boolean): string[] => list.filter(keep).map((event) => event.id);
      for (const state of LIVE_STATES) {
        const found = await walk(outbox, { state: [state], order }, 4);
        expect.soft(found.forwards, `${state}, ${order}`).toEqual(expected((event) => event.state === state));
        expect.soft(found.backwards, `${state}, ${order}`).toEqual(found.forwards);
      }
      const open = await walk(outbox, { state: ['pending', 'dead'], type: ['a'], order }, 4);
      expect.soft(open.forwards).toEqual(expected(({ state, type }) => (state === 'pending' || state === 'dead') && type === 'a'));
      if (outbox.main.roles.aggregateId === undefined) continue;
      expect.soft((await walk(outbox, { aggregate: 'r3', order }, 2)).forwards).toEqual(expected((event) => event.aggregateId === 'r3'));
      expect.soft((await walk(outbox, { q: 'r3', order }, 2)).forwards).toEqual(expected((event) => event.aggregateId === 'r3'));
    }
    const one = all[30];
    expect((await listEvents(outbox, { q: one?.id ?? '' }, { limit: 2 })).events.map((event) => event.id)).toEqual([one?.id]);
  });

  it('a range of creation times lets nothing else in and leaves nothing out', async () => {
    const all = (await listEvents(outbox, {}, { limit: 200 })).events;
    const [from, to] = ['2026-01-01T00:00:02Z', '2026-01-01T00:00:04Z'];
    const within = all.filter(({ createdAt }) => createdAt !== null && createdAt >= from.slice(0, 19) && createdAt < to.slice(0, 19));
    expect((await walk(outbox, { from, to }, 4)).forwards).toEqual(within.map((event) => event.id));
  });

  it('a large table is listed the same, but for what no index finds, and that is said', async () => {
    const big = large(outbox);
    const { orderedBy, leftOut, missingIndex } = await listEvents(big, {}, { limit: 2 });
    expect((await listEvents(outbox, {}, { limit: 2 })).orderedBy).toBe(by);
    expect(orderedBy).toBe(byLarge ?? by);
    const newest = await walk(big, {}, 5);
    const all = (await listEvents(outbox, {}, { limit: 200 })).events;
    const missing = all.filter((event) => !newest.forwards.includes(event.id));
    const untimed = missing.filter((event) => event.state === 'published');
    expect(new Set(missing.map((event) => event.state).filter((state) => state !== 'published'))).toEqual(new Set(leftOut));
    expect(untimed.filter((event) => event.publishedAt !== null)).toEqual([]);
    expect(newest.backwards).toEqual(newest.forwards);
    expect((await walk(big, { order: 'oldest' }, 5)).forwards).toEqual(newest.forwards.toReversed());
    if (leftOut.some((state) => state !== 'unmapped') || orderedBy !== by)
      expect(missingIndex?.sql).toContain(engine === 'postgres' ? 'CREATE INDEX CONCURRENTLY "' : 'ALGORITHM=INPLACE LOCK=NONE');
  });
});
