/** What looks of the collector take on MariaDB, on large tables: rows handed over by the storage engine, those of what is made on the way among them. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '@/lib/database/description';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { type ShapeInput } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import { useTestMysql } from '@/scripts/testing/mysql';
import { shapeCalled, testOutbox } from '@/fixtures/outboxes';
import { countByMinute, readCells, oldestPublished, readPastAttempts } from './published-sql';
import { microsOf } from './clock';
import { attemptsObserver } from './observers/attempts';
import { deletesObserver, transitionsObserver } from './observers/departures';
import type { Observer } from './observers/observer';
import { series } from '@/fixtures/collector/stage';

const ROWS = 220_000;
const MADE = `timestamp'2026-03-01 00:00:00' + interval i * 60000 microsecond`;
const states = (column: string, published: string, waiting: string): ShapeInput['states'] => [
  { state: 'published', when: { column, equals: published } },
  { state: 'pending', when: { column, equals: waiting } },
];
const inline = (table: string, columns: ShapeInput['columns'], rules: ShapeInput['states']) =>
  testOutbox(defineShape({ key: 'inline', label: table, origin: 'test', engines: ['mysql'], table, columns, states: rules }), 'x', {
    id: table,
    inline: true,
    table,
  });

const OUTBOXES = [
  testOutbox(shapeCalled('worker-status'), 'x', { id: 'worker', table: 'worker' }),
  inline('tried', { id: 'id', type: 'kind', createdAt: 'made', publishedAt: 'sent', attempts: 'tries' }, [
    { state: 'published', when: { column: 'sent', isNull: false } },
    { state: 'pending', when: { column: 'sent', isNull: true } },
  ]),
  inline('said', { id: 'id', type: 'kind', createdAt: 'made' }, states('state', 'DONE', 'NEW')),
  inline('goes', { id: 'id', type: 'kind', createdAt: 'made' }, [{ state: 'pending', when: { column: 'id', isNull: false } }]),
];

let directory: OutboxDirectory;
const database = useTestMysql(async ({ query }) => {
  const statements = [
    `create table worker (id bigint auto_increment primary key, event_type varchar(64) not null, payload text not null, created_at datetime(6) not null,
      processed_at datetime(6) null, status varchar(16) not null, updated_at datetime(6) not null, key (status, created_at), key (processed_at))`,
    `insert into worker (event_type, payload, created_at, processed_at, status, updated_at)
      select concat('t', i % 3), repeat('x', 100), ${MADE}, ${MADE} + interval 1 second, 'PROCESSED', ${MADE} + interval 500000 microsecond from ${series(ROWS)}`,
    `create table tried (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, tries int not null, key (sent, made))`,
    `insert into tried select uuid(), 't', ${MADE}, if(i >= ${ROWS - 2_000}, null, ${MADE} + interval 1 second), i % 2 from ${series(ROWS)}`,
    `create table said (id char(36) primary key, kind varchar(40), made datetime(3) not null, state varchar(9) not null, key (state, made), key (made))`,
    `insert into said select uuid(), 't', ${MADE}, if(i >= ${ROWS - 500}, 'NEW', 'DONE') from ${series(ROWS)}`,
    `create table goes (id char(36) primary key, kind varchar(40), made datetime(3) not null)`,
    `insert into goes select uuid(), 't', ${MADE} from ${series(30_000)}`,
    'analyze table worker, tried, said, goes',
  ];
  for (const statement of statements) await query(statement);
});
beforeAll(() => {
  directory = createDirectory({ databases: [{ id: 'test', url: database.url }], outboxes: OUTBOXES });
});
afterAll(() => directory.close());

/** Rows handed over while something is read. */
async function handedOver(db: Db, work: () => Promise<unknown>): Promise<number> {
  const handlers = async (): Promise<number> => {
    const { rows } = await sql<{ Value: string }>`show session status like 'Handler_read%'`.execute(db);
    return rows.reduce((sum, { Value: value }) => sum + Number(value), 0);
  };
  const before = await handlers();
  const own = (await handlers()) - before;
  const start = await handlers();
  await work();
  return (await handlers()) - start - own;
}

/** A minute of the middle: a thousand rows. */
const SPAN = { from: microsOf('2026-03-01T01:00:00.000000Z'), to: microsOf('2026-03-01T01:01:00.000000Z') };

describe('of 220,000 rows', () => {
  it.each([
    // Twice where claims are written down, and each time once more of what was worked out of it and of its groups.
    ['worker', 12_000],
    ['tried', 8_000],
  ])('%s: a fold takes those of its span, however often it is made', async (id, most) => {
    const outbox = await directory.get(id);
    await outbox.database.read(async (db) => {
      for (let round = 0; round < 2; round += 1) {
        expect(await handedOver(db, () => readCells(db, outbox, SPAN, 1, null, 'tried'))).toBeLessThanOrEqual(most);
        expect(await handedOver(db, () => countByMinute(db, outbox, SPAN))).toBeLessThanOrEqual(2_500);
        expect(await handedOver(db, () => readPastAttempts(db, outbox, SPAN, 1))).toBeLessThanOrEqual(2_500);
        const year = { from: microsOf('2025-06-01T00:00:00.000000Z'), to: SPAN.to };
        expect(await handedOver(db, () => oldestPublished(db, outbox, 'ordered', year))).toBeLessThanOrEqual(10);
      }
    });
  });

  it.each<[string, Observer, number]>([
    // Two thousand are open, and are numbered and counted on the way.
    ['tried', attemptsObserver, 21_000],
    ['said', transitionsObserver, 5_000],
    // A look follows ten thousand.
    ['goes', deletesObserver, 60_000],
  ])('%s: a look takes what is open and what is new', async (id, observer, most) => {
    const outbox = await directory.get(id);
    await outbox.database.read(async (db) => {
      let memory: unknown = null;
      const ticks: number[] = [];
      for (let tick = 0; tick < 3; tick += 1) {
        const at = new Date(Date.now() + tick * 1_000).toISOString();
        const input = { outbox, db, at, memory, tried: null, acted: { first: at, last: at } };
        ticks.push(await handedOver(db, async () => void (memory = (await observer.tick(input)).memory)));
      }
      expect(Math.max(...ticks), ticks.join(', ')).toBeLessThanOrEqual(most);
    });
  });
});
