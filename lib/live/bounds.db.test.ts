import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reading } from './reading';
import { useTestDatabase } from '@/scripts/testing/database';
import type { Outbox } from '@/lib/outbox/outbox';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { AGGREGATES, takeReading } from '@/lib/snapshots/readings';
import { planOf, readingStatement } from './reading-sql';
import { READING_ROWS } from '@/lib/outbox/scan/sources';
import { metricInput, spanOf } from '@/lib/figures/span';
import { summarise } from '@/lib/figures/summarise';
import { sampleTables, shapeCalled, testOutbox } from '@/fixtures/outboxes';

const ROWS = 220_000;
/** As far back as the collector ever lags: a thousand of these rows. */
const SINCE_FOLD_SECONDS = 60;
const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

const database = useTestDatabase();
let directory: OutboxDirectory;

/** Schema → what fills it. Rows are a minute's thousandth apart: 220,000 of them reach back nearly four hours. */
const created = `now() - (${ROWS} - i) * interval '60 ms'`;
const series = `from generate_series(1, ${ROWS}) as i`;
const ESCROW = `insert into {schema}.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time, last_attempt_time, retry_count)
  select gen_random_uuid(), i, 't' || i % 3, 'r', case when i > ${ROWS} - 12000 then 'pending' when i % 1000 = 0 then 'failed' when i % 5000 = 1 then 'processing' else 'processed' end, '{}',
    ${created}, case when i <= ${ROWS} - 12000 then ${created} + interval '1 s' end, ${created}, 0 ${series}`;
const FILLED: Record<string, { shape: string; fill: string[] }> = {
  /** The design's own table: a key and nothing else. */
  bare: { shape: 'escrow-status', fill: [ESCROW] },
  /** With the indexes that are advised. */
  advised: {
    shape: 'escrow-status',
    fill: [
      ESCROW,
      `create index on {schema}.transaction_outbox (create_time) where status = 'pending'`,
      `create index on {schema}.transaction_outbox (create_time, id) where status = 'failed'`,
      `create index on {schema}.transaction_outbox (status) where status = 'processing'`,
      `create index on {schema}.transaction_outbox (processed_time) where processed_time is not null`,
    ],
  },
  /** Each index holds the rows of one status. */
  on_status: {
    shape: 'escrow-status',
    fill: [
      ESCROW,
      ...['pending', 'failed', 'processing'].map(
        (status) => `create index on {schema}.transaction_outbox (create_time) where status = '${status}'`,
      ),
      `create index on {schema}.transaction_outbox (processed_time) where status = 'processed'`,
    ],
  },
  numbered: {
    shape: 'worker-status',
    fill: [
      `insert into {schema}.outbox_events (event_type, payload, created_at, processed_at, status, updated_at) select 't', '{}', (${created}) at time zone 'UTC',
        case when i <= ${ROWS} - 50 then (${created} + interval '1 s') at time zone 'UTC' end, case when i > ${ROWS} - 50 then 'PENDING' else 'PROCESSED' end, now() ${series}`,
    ],
  },
  nulls_first: {
    shape: 'published-at',
    fill: [
      `insert into {schema}.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at) select gen_random_uuid(), 'a', 'a', 't', '{}', ${created},
        case when i <= ${ROWS} - 60000 then ${created} + interval '1 s' end ${series}`,
      `insert into {schema}.outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at, attempt, died_at) select gen_random_uuid(), 'a', 'a', 't', '{}', now(), 10, now() from generate_series(1, 30000)`,
    ],
  },
  two_partials: {
    shape: 'listen-notify',
    fill: [
      `insert into {schema}.outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at) select gen_random_uuid(), 'a', 'a', 't', '{}', ${created},
        case when i <= ${ROWS} - 700 then ${created} + interval '1 s' end ${series}`,
    ],
  },
  unindexed: {
    shape: 'courier-status',
    fill: [
      `insert into {schema}.outbox (id, event_type, payload, status, created_at) select gen_random_uuid(), 't', '{}', case when i % 10 = 0 then 'PENDING' else 'PROCESSED' end, (${created}) at time zone 'UTC' ${series}`,
    ],
  },
};

beforeAll(async () => {
  for (const [schema, { shape, fill }] of Object.entries(FILLED)) {
    await database.query([...sampleTables(shapeCalled(shape), schema), ...fill].join(';\n').replaceAll('{schema}', schema));
  }
  await database.query('vacuum analyze');
  directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: Object.entries(FILLED).map(([schema, { shape }]) => testOutbox(shapeCalled(shape), schema)),
  });
});
afterAll(() => directory.close());

interface Plan {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Relation Name'?: string;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/** Rows that the scans of tables have read, kept or filtered away. */
function rowsRead(plan: Plan): number {
  const own =
    plan['Relation Name'] === undefined ? 0 : (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  return own + (plan.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
}

function nodes(plan: Plan): string[] {
  return [...(plan['Relation Name'] === undefined ? [] : [plan['Node Type']]), ...(plan.Plans ?? []).flatMap(nodes)];
}

async function explain(outbox: Outbox): Promise<Plan> {
  const statement = readingStatement(outbox, planOf(outbox, secondsAgo(SINCE_FOLD_SECONDS), AGGREGATES));
  return outbox.database.read(
    async (db) => {
      await outbox.database.engine.byIndex(db, { memory: true });
      const { rows } = await sql<{ 'QUERY PLAN': string }>`explain (analyze, timing off, format json) ${statement}`.execute(db);
      const [explained] = JSON.parse(rows[0]?.['QUERY PLAN'] ?? '[]') as { Plan: Plan }[];
      if (explained === undefined) throw new Error('no plan');
      return explained.Plan;
    },
    { statementMs: 7_500 },
  );
}

const outboxOf = (schema: string): Promise<Outbox> => directory.get(schema.replaceAll('_', '-'));
const read = async (schema: string): Promise<Reading> => takeReading(await outboxOf(schema), secondsAgo(SINCE_FOLD_SECONDS));
/** The figures of now; nothing has been collected. */
const figuresOf = (reading: Reading) => summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');

describe.each(Object.keys(FILLED))('%s: 220,000 rows', (schema) => {
  test('a reading reads 200,000 rows at the most', async () => {
    expect(rowsRead(await explain(await outboxOf(schema)))).toBeLessThanOrEqual(READING_ROWS);
  });
});

describe('a table without indexes, cut short', () => {
  test('counts at least what it read, and tells nothing of what needs every row', async () => {
    const reading = await read('bare');
    const { depth, oldestPendingAt, lastPublishedAt } = figuresOf(reading);
    expect(reading.reach).toEqual({ waiting: 'cut', processing: 'cut', dead: 'cut', published: 'cut' });
    expect(depth.dead).toEqual({ count: 199, known: 'capped', why: 'too_many_rows' });
    expect(depth.pending).toMatchObject({ known: 'capped' });
    expect([oldestPendingAt, lastPublishedAt]).toEqual([null, null]);
    expect(reading.tail.size).toBe(0);
  });

  test('with a numbered key, the newest rows are the ones read', async () => {
    const { depth, lastPublishedAt } = figuresOf(await read('numbered'));
    expect(depth.pending).toEqual({ count: 50, known: 'capped', why: 'too_many_rows' });
    expect(lastPublishedAt).not.toBeNull();
  });
});

describe('indexes serve what they can', () => {
  test('with the advised indexes every figure of now is exact or capped, and no table is scanned', async () => {
    const reading = await read('advised');
    expect(reading.reach).toEqual({ waiting: 'cut', processing: 'complete', dead: 'complete', published: 'complete' });
    const { depth, lastPublishedAt, oldestPendingAt } = figuresOf(reading);
    expect(depth.pending).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    expect(depth.dead).toEqual({ count: 208, known: 'exact' });
    expect(depth.processing).toEqual({ count: 42, known: 'exact' });
    expect([lastPublishedAt, oldestPendingAt]).not.toContain(null);
    expect(nodes(await explain(await outboxOf('advised')))).not.toContain('Seq Scan');
  });

  test('an index on times of publishing that holds one status only shows the last one', async () => {
    const [newest] = await database.query<{ at: Date }>(
      `select max(processed_time) as at from on_status.transaction_outbox where status = 'processed'`,
    );
    expect(Date.parse(figuresOf(await read('on_status')).lastPublishedAt ?? '')).toBe(newest?.at.getTime());
    const plan = await explain(await outboxOf('on_status'));
    expect(nodes(plan)).not.toContain('Seq Scan');
    expect(rowsRead(plan)).toBeLessThan(rowsRead(await explain(await outboxOf('advised'))) + 500);
  });

  test('a backlog of 60,000 reads 10,000+, and its oldest is right', async () => {
    const { depth, oldestPendingAt } = figuresOf(await read('nulls_first'));
    expect(depth.waiting).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    expect(depth.dead).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    const [oldest] = await database.query<{ at: Date }>(
      'select min(created_at) as at from nulls_first.outbox_events where published_at is null',
    );
    expect(Date.parse(oldestPendingAt ?? '')).toBeCloseTo(oldest?.at.getTime() ?? NaN, -1);
    expect(nodes(await explain(await outboxOf('nulls_first'))).filter((node) => node === 'Seq Scan')).toHaveLength(1);
  });

  test('a partial index for each half of the table: of published rows only those since the last fold are read', async () => {
    const plan = await explain(await outboxOf('two_partials'));
    expect(nodes(plan).filter((node) => node === 'Seq Scan')).toHaveLength(1);
    expect(rowsRead(plan)).toBeLessThan(3_000);
    expect(figuresOf(await read('two_partials')).depth.pending).toEqual({ count: 700, known: 'exact' });
  });

  test('published since the last fold: every row once, by minute and type, or none where there are more than are read', async () => {
    const outbox = await outboxOf('two_partials');
    const [newest] = await database.query<{ at: Date }>('select max(processed_at) as at from two_partials.outbox');
    const since = new Date((newest?.at.getTime() ?? NaN) - 20_000).toISOString();
    const [row] = await database.query<{ n: string }>('select count(*) as n from two_partials.outbox where processed_at >= $1', [since]);
    const { reach, tail } = await takeReading(outbox, since);
    expect(reach.published).toBe('complete');
    const counted = [...tail.values()].map((series) => [series.get('*')?.published ?? 0, series.get('=t')?.published ?? 0]);
    expect(counted.map(([all]) => all ?? 0).reduce((sum, n) => sum + n, 0)).toBe(Number(row?.n));
    for (const [all, one] of counted) expect(one).toBe(all);
    expect(Number(row?.n)).toBeGreaterThan(100);
    expect((await takeReading(outbox, secondsAgo(3_600))).reach.published).toBe('cut');
  });
});
