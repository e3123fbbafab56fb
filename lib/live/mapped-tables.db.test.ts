/** Figures of tables as docs/mapping.md teaches them: whatever shows the state and however times are spelt, the counts are right. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { type ShapeInput } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { numbersTo } from '@/scripts/testing/mysql';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { metricInput, spanOf } from '@/lib/figures/span';
import { takeReading } from '@/lib/snapshots/readings';
import { summarise } from '@/lib/figures/summarise';
import { testOutbox, useCompute } from '@/fixtures/outboxes';

const mapped = (table: string, input: Omit<ShapeInput, 'key' | 'label' | 'origin' | 'engines' | 'table'>) =>
  testOutbox(defineShape({ key: 'inline', label: table, origin: 'test', engines: ['postgres', 'mysql'], table, ...input }), 'public', {
    id: table.replaceAll('_', '-'),
    table,
    inline: true,
  });

const ALWAYS = { always: true } as const;

const OUTBOXES = [
  mapped('epoch', {
    columns: { id: 'id', createdAt: { column: 'made', time: 'epoch_ms' }, publishedAt: { column: 'done', time: 'epoch_ms' } },
    rows: { column: 'kind', equals: 'event' },
    states: [
      { state: 'published', when: { column: 'done', isNull: false } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
  mapped('lease', {
    columns: { id: ['topic', 'seq'], createdAt: { column: 'made', time: 'iso' }, lockedUntil: { column: 'lease', time: 'epoch_s' } },
    states: [
      { state: 'processing', when: { column: 'lease', future: true } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
  mapped('cursored', {
    columns: { id: 'seq', createdAt: 'made' },
    companions: { offsets: { table: 'offsets', purpose: 'offsets' } },
    cursor: { companion: 'offsets', group: 'reader', position: 'seq', passed: 'acked' },
    states: [
      { state: 'published', when: { cursor: 'passed' } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
];

const TABLES: Record<EngineKey, string[]> = {
  postgres: [
    `create table epoch (id bigint primary key, kind text not null, made bigint not null, done bigint)`,
    `create index on epoch (done) where done is not null`,
    `insert into epoch select n, 'event', (extract(epoch from now()) * 1000)::bigint - 60000, case when n > 3 then (extract(epoch from now()) * 1000)::bigint - 30000 end from generate_series(1, 10) n`,
    `insert into epoch values (99, 'sentinel', 1, null)`,
    `create table lease (topic text, seq int, made text, lease bigint, primary key (topic, seq))`,
    `insert into lease select 'a', n, to_char(now() at time zone 'UTC' - interval '2 min', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), case when n < 3 then extract(epoch from now())::bigint + 600 else 5 end from generate_series(1, 7) n`,
    `insert into lease values ('b', 1, '2026-02-30T00:00:00Z', null)`,
    `create table cursored (seq bigint primary key, made timestamptz not null)`,
    `create table offsets (reader text primary key, acked bigint not null)`,
    `insert into cursored select n, now() - interval '5 min' from generate_series(1, 250000) n`,
    `insert into offsets values ('a', 249990), ('b', 250000)`,
    `analyze cursored`,
  ],
  mysql: [
    `create table epoch (id bigint primary key, kind varchar(20) not null, made bigint not null, done bigint, key (done))`,
    `insert into epoch select n, 'event', floor(unix_timestamp(now(3)) * 1000) - 60000, if(n > 3, floor(unix_timestamp(now(3)) * 1000) - 30000, null) from ${numbersTo(10, 'numbered')}`,
    `insert into epoch values (99, 'sentinel', 1, null)`,
    `create table lease (topic varchar(40), seq int, made varchar(40), lease bigint, primary key (topic, seq))`,
    `insert into lease select 'a', n, concat(left(date_format(utc_timestamp(6) - interval 2 minute, '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z'), if(n < 3, unix_timestamp() + 600, 5) from ${numbersTo(7, 'numbered')}`,
    `insert into lease values ('b', 1, '2026-02-30T00:00:00Z', null)`,
    `create table cursored (seq bigint primary key, made datetime(6) not null)`,
    `create table offsets (reader varchar(40) primary key, acked bigint not null)`,
    `insert into cursored select n, utc_timestamp(6) - interval 5 minute from ${numbersTo(250_000, 'numbered')}`,
    `insert into offsets values ('a', 249990), ('b', 250000)`,
    `analyze table cursored`,
  ],
};

const compute = useCompute();

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  let directory: OutboxDirectory;
  const database = useTestDatabaseOf(engine, async ({ query }) => {
    for (const statement of TABLES[engine]) await query(statement);
  });
  beforeAll(() => {
    directory = createDirectory({ databases: [{ id: 'test', url: database.url }], outboxes: OUTBOXES });
  });
  afterAll(() => directory.close());

  async function figures(id: string, foldedTo: string | null = new Date(Date.now() - 3_600_000).toISOString()) {
    const reading = await takeReading(await directory.get(id), foldedTo, compute);
    return summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
  }

  test('epoch milliseconds and a row filter: what waits, since when, and what was published last', async () => {
    for (const foldedTo of [null, new Date(Date.now() - 3_600_000).toISOString()]) {
      const { depth, oldestPendingAt, lastPublishedAt } = await figures('epoch', foldedTo);
      expect(depth.waiting).toEqual({ count: 3, known: 'exact' });
      expect(Date.now() - Date.parse(oldestPendingAt ?? '')).toBeGreaterThan(55_000);
      expect(Date.now() - Date.parse(oldestPendingAt ?? '')).toBeLessThan(120_000);
      expect(Date.now() - Date.parse(lastPublishedAt ?? '')).toBeLessThan(90_000);
    }
  });

  test('rows that go when published, a lease, ISO texts and an id of two columns', async () => {
    const { depth, oldestPendingAt } = await figures('lease');
    expect(depth.waiting).toEqual({ count: 6, known: 'exact' });
    expect(depth.processing).toEqual({ count: 2, known: 'exact' });
    // A date no calendar has breaks nothing.
    expect(Date.parse(oldestPendingAt ?? '')).not.toBeNaN();
  });

  test('a cursor: what is ahead of the slowest reader waits, found by the index on the position however long the table is', async () => {
    for (let round = 0; round < 2; round += 1) expect((await figures('cursored')).depth.waiting).toEqual({ count: 10, known: 'exact' });
  });
});
