/** What a reading of a large table takes on MySQL and MariaDB: rows handed over by the storage engine, counted in the reading's own connection. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { defineShape } from '@/lib/shape/define';
import { numbersTo, useTestMysql } from '@/scripts/testing/mysql';
import { fetchRows } from './take-reading';
import { metricInput, spanOf } from '@/lib/figures/span';
import { AGGREGATES, takeReading } from '@/lib/snapshots/readings';
import type { Reading } from './reading';
import { planOf } from './reading-sql';
import { READING_ROWS } from '@/lib/outbox/scan/sources';
import { summarise } from '@/lib/figures/summarise';
import { shapeCalled, testOutbox, useCompute, type TestOutbox } from '@/fixtures/outboxes';

const ROWS = 220_000;
/** As far back as the collector ever lags: a thousand of these rows. */
const SINCE_FOLD_SECONDS = 60;
const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

/** One row for each number, the smallest first: keys that count up follow them. */
const numbered = (most: number): string => `from ${numbersTo(most, 'numbered')} order by n`;
/** Rows a minute's thousandth apart: 220,000 of them reach back nearly four hours. */
const created = `utc_timestamp(6) - interval (${ROWS} - n) * 60000 microsecond`;
const worker = (table: string, ...indexes: string[]): string[] => [
  `create table ${table} (id bigint auto_increment primary key, event_type varchar(64) not null, payload text not null, created_at datetime not null,
    processed_at datetime null, status varchar(16) not null default 'PENDING', updated_at datetime not null${indexes.map((index) => `, key (${index})`).join('')})`,
  `insert into ${table} (event_type, payload, created_at, processed_at, status, updated_at)
    select concat('t', n % 3), repeat('x', 200), ${created}, if(n > ${ROWS} - 12000, null, ${created} + interval 1 second),
      if(n > ${ROWS} - 12000, 'PENDING', if(n % 5000 = 1, 'PROCESSING', 'PROCESSED')), ${created} ${numbered(ROWS)}`,
];
const small = (id: string, table: string): TestOutbox => testOutbox(shapeCalled('worker-status'), 'x', { id, table });

const KEYED = defineShape({
  key: 'inline',
  label: 'keyed',
  origin: 'test',
  engines: ['mysql'],
  table: 'keyed',
  columns: { id: 'id', type: 'kind', createdAt: 'made', publishedAt: 'sent', attempts: 'tries' },
  states: [
    { state: 'published', when: { column: 'sent', isNull: false } },
    {
      state: 'retrying',
      when: {
        all: [
          { column: 'sent', isNull: true },
          { column: 'tries', above: 0 },
        ],
      },
    },
    { state: 'pending', when: { column: 'sent', isNull: true } },
  ],
  dead: { table: 'keyed_dead' },
});

/** A scan looks at rows twice, and the first look hands them on. */
const SCANNED = 1.5 * READING_ROWS;

const CASES: Record<string, { outbox: TestOutbox; tables: string[]; most: number }> = {
  'a numbered key and nothing else': { outbox: small('bare', 'bare'), tables: worker('bare'), most: SCANNED },
  'the advised indexes': {
    outbox: small('advised', 'advised'),
    tables: worker('advised', 'status, created_at', 'processed_at'),
    most: 12_000,
  },
  'an index by state alone': { outbox: small('states', 'states'), tables: worker('states', 'status'), most: SCANNED },
  'sixty thousand rows, whose oldest wait': {
    outbox: small('whole', 'whole'),
    tables: [
      worker('whole')[0] ?? '',
      `insert into whole (event_type, payload, created_at, processed_at, status, updated_at) select 't', 'x', ${created}, if(n > 40, ${created}, null), if(n > 40, 'PROCESSED', 'PENDING'), ${created} ${numbered(60_000)}`,
    ],
    most: 181_000,
  },
  'thirty thousand that wait': {
    outbox: small('backlog', 'backlog'),
    tables: [
      worker('backlog')[0] ?? '',
      `insert into backlog (event_type, payload, created_at, status, updated_at) select 't', 'x', ${created}, 'PENDING', ${created} ${numbered(30_000)}`,
    ],
    most: 91_000,
  },
  'keys without an order, and a column of NULLs that waits': {
    outbox: testOutbox(KEYED, 'x', { id: 'keyed', inline: true, table: 'keyed' }),
    tables: [
      `create table keyed (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, tries int not null, key (sent, made))`,
      `insert into keyed select uuid(), 't', ${created}, if(n > ${ROWS} - 60000, null, ${created} + interval 1 second), n % 2 ${numbered(ROWS)}`,
      `create table keyed_dead like keyed`,
      `insert into keyed_dead select uuid(), 't', ${created}, null, 9 ${numbered(30_000)}`,
    ],
    most: 31_500,
  },
  'keys without an order and no index': {
    outbox: testOutbox(KEYED, 'x', { id: 'loose', inline: true, table: 'loose', parameters: {} }),
    tables: [
      `create table loose (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, tries int not null)`,
      `insert into loose select uuid(), 't', ${created}, if(n > ${ROWS} - 60000, null, ${created} + interval 1 second), n % 2 ${numbered(ROWS)}`,
    ],
    most: SCANNED + 31_000,
  },
};

const CURSORED = defineShape({
  key: 'inline',
  label: 'cursored',
  origin: 'test',
  engines: ['mysql'],
  table: 'cursored',
  columns: { id: 'seq', createdAt: 'made' },
  companions: { offsets: { table: 'offsets', purpose: 'offsets' } },
  cursor: { companion: 'offsets', group: 'reader', position: 'seq', passed: 'acked' },
  states: [
    { state: 'published', when: { cursor: 'passed' } },
    { state: 'pending', when: { always: true } },
  ],
});
CASES['what is ahead of a cursor'] = {
  outbox: testOutbox(CURSORED, 'x', { id: 'cursored', inline: true, table: 'cursored' }),
  tables: [
    `create table cursored (seq bigint primary key, made datetime(6) not null)`,
    `insert into cursored select n, ${created} ${numbered(ROWS)}`,
    `create table offsets (reader varchar(40) primary key, acked bigint not null)`,
    `insert into offsets values ('a', ${ROWS} - 10), ('b', ${ROWS})`,
  ],
  most: 1_200,
};

let directory: OutboxDirectory;
const database = useTestMysql(async ({ query }) => {
  for (const { tables } of Object.values(CASES)) for (const statement of tables) await query(statement);
  for (const { outbox } of Object.values(CASES)) await query(`analyze table ${outbox.id}`);
});
const compute = useCompute();
beforeAll(() => {
  directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: Object.values(CASES).map(({ outbox }) => outbox),
  });
});
afterAll(() => directory.close());

const read = async (id: string, since = secondsAgo(SINCE_FOLD_SECONDS)): Promise<Reading> =>
  takeReading(await directory.get(id), since, compute);
const figuresOf = (reading: Reading) => summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');

/** Rows that the storage engine handed over for the reading, of tables and of what is made on the way. */
async function handedOver(outbox: Outbox): Promise<number> {
  return outbox.database.read(async (db) => {
    const handlers = async (): Promise<number> => {
      const { rows } = await sql<{ Value: string }>`show session status like 'Handler_read%'`.execute(db);
      return rows.reduce((sum, { Value: value }) => sum + Number(value), 0);
    };
    const before = await handlers();
    const own = (await handlers()) - before;
    const start = await handlers();
    await fetchRows(db, outbox, planOf(outbox, secondsAgo(SINCE_FOLD_SECONDS), AGGREGATES));
    return (await handlers()) - start - own;
  });
}

describe.each(Object.entries(CASES))('%s: 220,000 rows', (_, { outbox, most }) => {
  test('a reading takes so many rows at the most, however often it is taken', async () => {
    const bound = await directory.get(outbox.id);
    for (let round = 0; round < 2; round += 1) expect(await handedOver(bound)).toBeLessThanOrEqual(most);
  });
});

describe('a table without indexes', () => {
  test('what waits among its oldest rows is found, and counted exactly', async () => {
    const reading = await read('whole');
    expect(reading.reach).toEqual({ waiting: 'complete', processing: 'complete', dead: 'absent', published: 'complete' });
    expect(reading.rowsRead).toBe(60_000);
    const { depth, oldestPendingAt, lastPublishedAt } = figuresOf(reading);
    expect(depth.pending).toEqual({ count: 40, known: 'exact' });
    const [ends] = await database.query<{ oldest: string; last: string }>(
      `select min(case when status = 'PENDING' then created_at end) as oldest, max(processed_at) as last from whole`,
    );
    const iso = (text = ''): string => `${text.replace(' ', 'T')}.000000Z`;
    expect([oldestPendingAt, lastPublishedAt]).toEqual([iso(ends?.oldest), iso(ends?.last)]);
  });

  test('more than are fetched wait: at least so many, and which is the oldest is not known', async () => {
    const reading = await read('backlog');
    expect(reading.reach.waiting).toBe('cut');
    const { depth, oldestPendingAt } = figuresOf(reading);
    expect(depth.pending).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    expect(oldestPendingAt).toBeNull();
  });
});

describe('a table without indexes, cut short', () => {
  test('with a numbered key the newest rows are read: what was published last is known, what waits is at least so many', async () => {
    const reading = await read('bare');
    expect(reading.reach).toEqual({ waiting: 'cut', processing: 'cut', dead: 'absent', published: 'cut' });
    const { depth, lastPublishedAt } = figuresOf(reading);
    expect(depth.pending).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    expect(depth.processing).toMatchObject({ known: 'capped' });
    expect(Date.now() - Date.parse(lastPublishedAt ?? '')).toBeLessThan(900_000);
  });

  test('without one it tells nothing of what needs every row', async () => {
    const reading = await read('loose');
    const { depth, oldestPendingAt, lastPublishedAt } = figuresOf(reading);
    expect(reading.reach).toMatchObject({ waiting: 'cut', published: 'cut' });
    expect(depth.pending).toMatchObject({ known: 'capped', why: 'too_many_rows' });
    expect([oldestPendingAt, lastPublishedAt]).toEqual([null, null]);
    expect(reading.tail.size).toBe(0);
  });
});

describe('indexes serve what they can', () => {
  test('with the advised indexes every figure of now is exact or capped', async () => {
    const reading = await read('advised');
    expect(reading.reach).toEqual({ waiting: 'cut', processing: 'complete', dead: 'absent', published: 'complete' });
    const { depth, lastPublishedAt, oldestPendingAt } = figuresOf(reading);
    expect(depth.pending).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    expect(depth.processing).toEqual({ count: 42, known: 'exact' });
    expect([lastPublishedAt, oldestPendingAt]).not.toContain(null);
  });

  test('a backlog of 60,000 reads 10,000+, its oldest is right, and so is the number of dead letters', async () => {
    const { depth, oldestPendingAt } = figuresOf(await read('keyed'));
    expect(depth.waiting).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    expect(depth.dead).toEqual({ count: 10_000, known: 'capped', why: 'too_many_rows' });
    const [oldest] = await database.query<{ at: string }>('select min(made) as at from keyed where sent is null');
    expect(Date.parse(oldestPendingAt ?? '')).toBe(Date.parse(`${oldest?.at.replace(' ', 'T') ?? ''}Z`));
  });

  test('published since the last fold: every row once, by minute and type, or none where there are more than are read', async () => {
    const [newest] = await database.query<{ at: string }>('select max(sent) as at from keyed');
    const since = new Date(Date.parse(`${newest?.at.replace(' ', 'T') ?? ''}Z`) - 20_000).toISOString();
    const { reach, tail } = await read('keyed', since);
    expect(reach.published).toBe('complete');
    const counted = [...tail.values()].map((series) => [series.get('*')?.published ?? 0, series.get('=t')?.published ?? 0] as const);
    const [row] = await database.query<{ n: string }>('select count(*) as n from keyed where sent >= ?', [
      since.replace('T', ' ').replace('Z', ''),
    ]);
    expect(counted.reduce((sum, [all]) => sum + all, 0)).toBe(Number(row?.n));
    for (const [all, one] of counted) expect(one).toBe(all);
    expect(Number(row?.n)).toBeGreaterThan(100);
    expect((await read('keyed', secondsAgo(3_600 * 3))).reach.published).toBe('cut');
  });
});
