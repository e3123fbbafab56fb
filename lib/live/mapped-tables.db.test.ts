/** Figures of tables as docs/mapping.md teaches them: whatever shows the state and however times are spelt, the counts are right. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diagnose } from '@/lib/diagnosis/judge/diagnose';
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

const byStatus = (table: string) =>
  mapped(table, {
    columns: { id: 'id', createdAt: 'made', publishedAt: 'sent_at' },
    states: [
      { state: 'published', when: { column: 'status', equals: 'sent' } },
      { state: 'dead', when: { column: 'status', equals: 'failed' } },
      { state: 'pending', when: { column: 'status', equals: 'new' } },
    ],
  });

/** A row that failed waits for its time and says how often it was tried. */
const retried = (table: string, times: ShapeInput['columns']) =>
  mapped(table, {
    columns: { id: 'id', availableAt: 'next_at', publishedAt: 'sent_at', attempts: 'tries', ...times },
    states: [
      { state: 'published', when: { column: 'sent_at', isNull: false } },
      { state: 'retrying', when: { column: 'tries', above: 0 } },
      { state: 'pending', when: ALWAYS },
    ],
  });

const OUTBOXES = [
  retried('retried', { createdAt: 'made' }),
  retried('retried_untimed', {}),
  retried('retried_later', { createdAt: 'made', availableAt: undefined, attempts: undefined, attemptedAt: 'next_at' }),
  byStatus('posted'),
  byStatus('posted_before'),
  byStatus('never_posted'),
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
  mapped('due_rows', {
    columns: { id: 'id', availableAt: 'next_at', publishedAt: 'sent_at' },
    states: [
      { state: 'published', when: { column: 'sent_at', isNull: false } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
  mapped('flagged', {
    columns: { id: 'id' },
    states: [
      { state: 'published', when: { column: 'sent', isTrue: true } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
  mapped('bare', {
    columns: { id: 'id' },
    states: [
      { state: 'published', when: { column: 'status', equals: 'sent' } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
  mapped('scheduled', {
    columns: { id: 'id', createdAt: 'made', availableAt: 'next_at', publishedAt: 'sent_at' },
    states: [
      { state: 'published', when: { column: 'sent_at', isNull: false } },
      { state: 'pending', when: ALWAYS },
    ],
  }),
  mapped('scheduled_gone', {
    columns: { id: 'id', createdAt: 'made', availableAt: 'next_at' },
    states: [{ state: 'pending', when: ALWAYS }],
  }),
];

/** Sent before the fold, then given up: rows that failed keep the time of their last attempt where others have that of publishing. */
const GIVEN_UP = { posted: 30, posted_before: 150 };
/** Rows of one status, numbered after `from`, as (id, status, made, sent_at). */
const rowsOf = (table: string, status: string, count: number, from: number, secondsAgo: number | null): Record<EngineKey, string> => {
  const at = (seconds: number): Record<EngineKey, string> => ({
    postgres: `now() - interval '${seconds} s'`,
    mysql: `utc_timestamp(6) - interval ${seconds} second`,
  });
  const values = (engine: EngineKey): string =>
    `select ${from} + n, '${status}', ${at(9_000)[engine]}, ${secondsAgo === null ? 'null' : at(secondsAgo)[engine]}`;
  return {
    postgres: `insert into ${table} ${values('postgres')} from generate_series(1, ${count}) n`,
    mysql: `insert into ${table} ${values('mysql')} from ${numbersTo(count, 'numbered')}`,
  };
};
const statusRows = (engine: EngineKey): string[] => [
  ...Object.entries(GIVEN_UP).flatMap(([table, count]) => [
    rowsOf(table, 'sent', 4_274, 0, 7_200)[engine],
    rowsOf(table, 'failed', count, 5_000, 4_000)[engine],
  ]),
  rowsOf('never_posted', 'new', 3, 0, null)[engine],
  rowsOf('never_posted', 'failed', 2, 5_000, 4_000)[engine],
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
    ...['posted', 'posted_before', 'never_posted'].flatMap((table) => [
      `create table ${table} (id bigint primary key, status text not null, made timestamptz not null, sent_at timestamptz)`,
      `create index on ${table} (made) where status = 'new'`,
      `create index on ${table} (made) where status = 'failed'`,
    ]),
    `create index on posted (sent_at) where status = 'sent'`,
    `create index on posted_before (sent_at)`,
    `create index on never_posted (sent_at) where status in ('sent', 'failed')`,
    ...statusRows('postgres'),
    `create table due_rows (id uuid primary key, next_at timestamptz not null, sent_at timestamptz)`,
    `insert into due_rows select gen_random_uuid(), now() - interval '26 h' + n * interval '1 ms', null from generate_series(1, 4249) n`,
    `insert into due_rows values (gen_random_uuid(), now() - interval '27 h', now() - interval '27 h'), (gen_random_uuid(), now() + interval '1 h', null)`,
    `create table flagged (id bigint primary key, sent boolean not null)`,
    `insert into flagged select n, n not in (7, 101, 102, 103) from generate_series(1, 103) n`,
    `create table bare (id uuid primary key, status text not null)`,
    `insert into bare select gen_random_uuid(), case when n > 30 then 'sent' else 'new' end from generate_series(1, 60) n`,
    `create table scheduled (id bigint primary key, made timestamptz not null, next_at timestamptz not null, sent_at timestamptz)`,
    `insert into scheduled values (1, now() - interval '3 h', now() - interval '3 h', now() - interval '3 h'), (2, now() - interval '2 h', now() + interval '1 day', null)`,
    `create table scheduled_gone (id bigint primary key, made timestamptz not null, next_at timestamptz not null)`,
    `insert into scheduled_gone select n, now() - interval '2 h', now() + interval '1 day' from generate_series(1, 2) n`,
    ...['retried', 'retried_untimed', 'retried_later'].flatMap((table) => [
      `create table ${table} (id bigint primary key, made timestamptz not null, next_at timestamptz not null, sent_at timestamptz, tries int not null)`,
      `insert into ${table} select n, now() - interval '28 h' + n * interval '1 s', now() - interval '26 h', null, 1 from generate_series(1, 500) n`,
      `insert into ${table} values (901, now() - interval '29 h', now() - interval '29 h', now() - interval '28 h', 0), (902, now() - interval '29 h', now() - interval '28 h 1 s', null, 5), (903, now() - interval '29 h', now() + interval '1 h', null, 9)`,
    ]),
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
    ...['posted', 'posted_before', 'never_posted'].map(
      (table) =>
        `create table ${table} (id bigint primary key, status varchar(20) not null, made datetime(6) not null, sent_at datetime(6), key (status, made), key (sent_at))`,
    ),
    ...statusRows('mysql'),
    `create table due_rows (id char(36) primary key, next_at datetime(6) not null, sent_at datetime(6))`,
    `insert into due_rows select uuid(), utc_timestamp(6) - interval 26 hour + interval n * 1000 microsecond, null from ${numbersTo(4_249, 'numbered')}`,
    `insert into due_rows values (uuid(), utc_timestamp(6) - interval 27 hour, utc_timestamp(6) - interval 27 hour), (uuid(), utc_timestamp(6) + interval 1 hour, null)`,
    `create table flagged (id bigint primary key, sent boolean not null)`,
    `insert into flagged select n, n not in (7, 101, 102, 103) from ${numbersTo(103, 'numbered')}`,
    `create table bare (id char(36) primary key, status varchar(20) not null)`,
    `insert into bare select uuid(), if(n > 30, 'sent', 'new') from ${numbersTo(60, 'numbered')}`,
    `create table scheduled (id bigint primary key, made datetime(6) not null, next_at datetime(6) not null, sent_at datetime(6))`,
    `insert into scheduled values (1, utc_timestamp(6) - interval 3 hour, utc_timestamp(6) - interval 3 hour, utc_timestamp(6) - interval 3 hour), (2, utc_timestamp(6) - interval 2 hour, utc_timestamp(6) + interval 1 day, null)`,
    `create table scheduled_gone (id bigint primary key, made datetime(6) not null, next_at datetime(6) not null)`,
    `insert into scheduled_gone select n, utc_timestamp(6) - interval 2 hour, utc_timestamp(6) + interval 1 day from ${numbersTo(2, 'numbered')}`,
    ...['retried', 'retried_untimed', 'retried_later'].flatMap((table) => [
      `create table ${table} (id bigint primary key, made datetime(6) not null, next_at datetime(6) not null, sent_at datetime(6), tries int not null)`,
      `insert into ${table} select n, utc_timestamp(6) - interval 28 hour + interval n second, utc_timestamp(6) - interval 26 hour, null, 1 from ${numbersTo(500, 'numbered')}`,
      `insert into ${table} values (901, utc_timestamp(6) - interval 29 hour, utc_timestamp(6) - interval 29 hour, utc_timestamp(6) - interval 28 hour, 0), (902, utc_timestamp(6) - interval 29 hour, utc_timestamp(6) - interval 28 hour - interval 1 second, null, 5), (903, utc_timestamp(6) - interval 29 hour, utc_timestamp(6) + interval 1 hour, null, 9)`,
    ]),
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

  test('an index on the times of some states: when the last one went out, and not when another one failed', async () => {
    const { lastPublishedAt, lastPublishedWhy } = await figures('posted');
    expect(Math.abs(Date.now() - 7_200_000 - Date.parse(lastPublishedAt ?? ''))).toBeLessThan(120_000);
    expect(lastPublishedWhy).toBeUndefined();
  });

  /** What is said of a table that looked the same for so many seconds. */
  async function said(id: string, seconds: number) {
    const foldedTo = new Date(Date.now() - 3_600_000).toISOString();
    const reading = await takeReading(await directory.get(id), foldedTo, compute);
    const now = Date.parse(reading.asOf);
    const before = [seconds, seconds / 2].map((ago) => ({ ...reading, asOf: new Date(now - ago * 1_000).toISOString() }));
    const figures = summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
    const given = { figures, failure: null, history: null, now };
    const [alone, seen] = [[], before].map((previous) => diagnose({ ...given, reading, previous }));
    return {
      flow: reading.figures.relay_stopped,
      alone: alone?.verdict,
      verdict: seen?.verdict,
      codes: seen?.evidence.map(({ code }) => code),
    };
  }

  test('without creation times a standstill is told by due times, by the key, or by looks', async () => {
    const due = await said('due-rows', 65);
    expect(due).toMatchObject({ flow: { due: 4_249, pending: 4_250 }, alone: 'healthy', verdict: 'relay_stopped' });
    expect(due.codes).toEqual(['nothing_published', 'events_overdue', 'rhythm_unknown']);
    expect(Math.abs(Date.now() - 93_600_000 - Date.parse(String(due.flow?.firstDue)))).toBeLessThan(120_000);
    expect(due.flow?.firstNew).toBe(due.flow?.firstDue);
    const flagged = await said('flagged', 400);
    expect(flagged).toMatchObject({ flow: { due: 3, lead: 100, first: ['7', '101', '102', '103'] }, verdict: 'relay_stopped' });
    expect(flagged.codes).toEqual(['waits_by_key', 'rhythm_unknown']);
    const bare = await said('bare', 400);
    expect(bare).toMatchObject({ flow: { due: 30, lead: null, firstDue: null }, alone: 'healthy', verdict: 'relay_stopped' });
    expect(bare.flow?.first).toHaveLength(16);
    expect(bare.codes).toEqual(['waits_by_looks', 'rhythm_unknown']);
  });

  test('what is scheduled for tomorrow is not due, however long ago it was created', async () => {
    expect(await said('scheduled', 400)).toMatchObject({ flow: { due: 0, pending: 1 }, verdict: 'healthy' });
    expect(await said('scheduled-gone', 400)).toMatchObject({ flow: { due: 0, pending: 2 }, verdict: 'healthy' });
  });

  test.each(['retried', 'retried-untimed'])('all that waits has failed once, and nobody tries it again: %s', async (id) => {
    const found = await said(id, 700);
    // Not those that were left over when others went out, nor those whose time has not come.
    expect(found).toMatchObject({ flow: { due: 0, again: 500, failing: 502 }, alone: 'healthy', verdict: 'relay_stopped' });
    expect(Math.abs(Date.now() - 93_600_000 - Date.parse(String(found.flow?.firstAgain)))).toBeLessThan(120_000);
    expect(found.codes).toEqual(['nothing_published', 'due_again', 'rhythm_unknown']);
  });

  test('without a due time a row that failed waits as long again as it did, an hour at most', async () => {
    const { flow } = await said('retried-later', 700);
    // Tried 26 hours ago, two hours after they came; the other went out before, or is tried just now.
    expect(flow).toMatchObject({ again: 500, failing: 502 });
    expect(Math.abs(Date.now() - 90_000_000 - Date.parse(String(flow?.firstAgain)))).toBeLessThan(120_000);
  });

  test('more failed ones at the end of the index than are looked at: not known, which is not never', async () => {
    expect(await figures('posted-before')).toMatchObject({ lastPublishedAt: null, lastPublishedWhy: 'too_many_rows' });
    expect(await figures('never-posted')).toMatchObject({ lastPublishedAt: null, lastPublishedWhy: 'no_events' });
  });
});
