/** What a reading of a large table takes on MariaDB: rows handed over by the storage engine, counted in the reading's own connection. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { defineShape } from '@/lib/outbox/shape';
import { useTestMysql } from '@/scripts/testing/mysql';
import { carry } from './carry';
import { observe, spanOf } from './observed';
import { takeReading } from './read';
import type { Reading } from './reading';
import { planOf } from './reading-sql';
import { CARRIED_SCAN_ROWS } from './sources';
import { summarise } from './summarise';
import { shapeCalled, testOutbox, useReckon, type TestOutbox } from './testing';

const ROWS = 220_000;
/** As far back as the collector ever lags: a thousand of these rows. */
const SINCE_FOLD_SECONDS = 60;
const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

/** Rows a minute's thousandth apart: 220,000 of them reach back nearly four hours. */
const created = `utc_timestamp(6) - interval (${ROWS} - seq) * 60000 microsecond`;
const worker = (table: string, ...indexes: string[]): string[] => [
  `create table ${table} (id bigint auto_increment primary key, event_type varchar(64) not null, payload text not null, created_at datetime not null,
    processed_at datetime null, status varchar(16) not null default 'PENDING', updated_at datetime not null${indexes.map((index) => `, key (${index})`).join('')})`,
  `insert into ${table} (event_type, payload, created_at, processed_at, status, updated_at)
    select concat('t', seq % 3), repeat('x', 200), ${created}, if(seq > ${ROWS} - 12000, null, ${created} + interval 1 second),
      if(seq > ${ROWS} - 12000, 'PENDING', if(seq % 5000 = 1, 'PROCESSING', 'PROCESSED')), ${created} from seq_1_to_${ROWS}`,
];
const small = (id: string, table: string): TestOutbox =>
  testOutbox(shapeCalled('worker-status'), 'x', { id, table: { schema: null, table } });

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

const CASES: Record<string, { outbox: TestOutbox; tables: string[]; most: number }> = {
  'a numbered key and nothing else': { outbox: small('bare', 'bare'), tables: worker('bare'), most: CARRIED_SCAN_ROWS },
  'the advised indexes': {
    outbox: small('advised', 'advised'),
    tables: worker('advised', 'status, created_at', 'processed_at'),
    most: 12_000,
  },
  'an index by state alone': { outbox: small('states', 'states'), tables: worker('states', 'status'), most: 32_000 },
  'keys without an order, and a column of NULLs that waits': {
    outbox: testOutbox(KEYED, 'x', { id: 'keyed', inline: true, table: { schema: null, table: 'keyed' } }),
    tables: [
      `create table keyed (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, tries int not null, key (sent, made))`,
      `insert into keyed select uuid(), 't', ${created}, if(seq > ${ROWS} - 60000, null, ${created} + interval 1 second), seq % 2 from seq_1_to_${ROWS}`,
      `create table keyed_dead like keyed`,
      `insert into keyed_dead select uuid(), 't', ${created}, null, 9 from seq_1_to_30000`,
    ],
    most: 31_500,
  },
  'keys without an order and no index': {
    outbox: testOutbox(KEYED, 'x', { id: 'loose', inline: true, table: { schema: null, table: 'loose' }, parameters: {} }),
    tables: [
      `create table loose (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, tries int not null)`,
      `insert into loose select uuid(), 't', ${created}, if(seq > ${ROWS} - 60000, null, ${created} + interval 1 second), seq % 2 from seq_1_to_${ROWS}`,
    ],
    most: 41_500,
  },
};

let directory: OutboxDirectory;
const database = useTestMysql(async ({ query }) => {
  for (const { tables } of Object.values(CASES)) for (const statement of tables) await query(statement);
  for (const { outbox } of Object.values(CASES)) await query(`analyze table ${outbox.id}`);
});
const reckon = useReckon();
beforeAll(() => {
  directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: Object.values(CASES).map(({ outbox }) => outbox),
  });
});
afterAll(() => directory.close());

const read = async (id: string, since = secondsAgo(SINCE_FOLD_SECONDS)): Promise<Reading> =>
  takeReading(await directory.get(id), since, reckon);
const figuresOf = (reading: Reading) => summarise(observe(reading, spanOf({ window: '1h' }, reading.asOf), null, null), '1h');

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
    await carry(db, outbox, planOf(outbox, secondsAgo(SINCE_FOLD_SECONDS)));
    return (await handlers()) - start - own;
  });
}

describe.each(Object.entries(CASES))('%s: 220,000 rows', (_, { outbox, most }) => {
  test('a reading takes so many rows at the most, however often it is taken', async () => {
    const bound = await directory.get(outbox.id);
    for (let round = 0; round < 2; round += 1) {
      const rows = await handedOver(bound);
      console.log(outbox.id, rows);
      expect(rows).toBeLessThanOrEqual(most);
    }
    const t0 = performance.now();
    const reading = await read(outbox.id);
    console.log(
      outbox.id,
      Math.round(performance.now() - t0),
      'ms',
      reading.rowsRead,
      JSON.stringify(reading.reach),
      JSON.stringify(figuresOf(reading).depth),
      figuresOf(reading).oldestPendingAt,
      figuresOf(reading).lastPublishedAt,
    );
  });
});
