import { sampleOf } from '@/fixtures/samples';
import { describe, expect, it } from 'vitest';
import type { AnyTestDatabase } from '@/scripts/testing/outbox';
import { seriesOfType } from '@/lib/rollup/cell';
import { shapeCalled, testOutbox } from '@/fixtures/outboxes';
import { groupsStatement, countByMinute } from './published-sql';
import { microsOf } from './clock';
import { chooseMethod, sizeOf } from './method';
import { CLAIMED, oddOutboxes, QUEUE, STATUS_ONLY } from '@/fixtures/collector/odd-outboxes';
import { eventually, series, useStage } from '@/fixtures/collector/stage';
import { sql } from 'kysely';

const outbox = oddOutboxes('mysql');

const epoch = (time: 'epoch_ms' | 'epoch_s') => ({
  columns: { id: 'id', type: 'kind', createdAt: { column: 'created', time }, publishedAt: { column: 'published', time } },
});

const OUTBOXES = [
  outbox('bare'),
  outbox('large'),
  outbox('seconds'),
  outbox('stamps'),
  outbox('epochs', epoch('epoch_ms')),
  outbox('epoch_seconds', epoch('epoch_s')),
  outbox('seoul', {}, { parameters: { timeZone: 'Asia/Seoul' } }),
  outbox('oslo', {}, { parameters: { timeZone: 'Europe/Oslo' } }),
  outbox('uncreated', { columns: { id: 'id', publishedAt: 'published' } }),
  outbox('cased'),
  outbox('claimed', CLAIMED),
  outbox('dates'),
  outbox('status_only', STATUS_ONLY),
  outbox('queue', QUEUE),
  outbox('hopeless'),
  outbox('seen'),
  outbox('queue_seen', QUEUE),
  outbox('hopeless_seen'),
  testOutbox(shapeCalled('worker-status'), 'worker', { table: 'outbox_events' }),
];

/** A zone of which the server knows this one year. */
const ZONE = [
  `insert into mysql.time_zone (time_zone_id, use_leap_seconds) values (77, 'N')`,
  `insert into mysql.time_zone_name values ('Europe/Oslo', 77)`,
  `insert into mysql.time_zone_transition_type values (77, 0, 3600, 0, 'CET'), (77, 1, 7200, 1, 'CEST')`,
  `insert into mysql.time_zone_transition values (77, unix_timestamp('2026-03-29 01:00:00'), 1), (77, unix_timestamp('2026-10-25 01:00:00'), 0)`,
];

async function fill(observed: AnyTestDatabase): Promise<void> {
  const plain = (name: string, time: string, rest = ''): string =>
    `create table ${name} (id bigint auto_increment primary key, kind varchar(50) default 'a', created ${time} null, published ${time} null${rest})`;
  const uuid = (name: string): string =>
    `create table ${name} (id char(36) primary key default (uuid()), kind varchar(50), created datetime(6), published datetime(6))`;
  const statements = [
    ...ZONE,
    ...(sampleOf(shapeCalled('worker-status')).ddl.mysql ?? []),
    plain('bare', 'datetime(6)'),
    uuid('large'),
    plain('seconds', 'datetime', ', key (published)'),
    plain('stamps', 'timestamp(3)', ', key (published)'),
    plain('epochs', 'bigint', ', key (published)'),
    plain('epoch_seconds', 'int unsigned', ', key (published)'),
    plain('seoul', 'datetime(6)', ', key (published)'),
    plain('oslo', 'datetime(6)', ', key (published)'),
    plain('uncreated', 'datetime(6)', ', key (published)'),
    plain('cased', 'datetime(6)', ', key (published)'),
    plain('claimed', 'datetime(6)', ', claimed datetime(6), key (published)'),
    plain('dates', 'date'),
    'create table status_only (id bigint primary key, created datetime, state varchar(9))',
    'create table queue (id bigint primary key, created datetime)',
    uuid('hopeless'),
    `insert into large (kind, created, published) select 'a', utc_timestamp(6), utc_timestamp(6) - interval i % 3600 second from ${series(60_000)}`,
    `insert into hopeless (kind, created, published) select 'a', utc_timestamp(6), utc_timestamp(6) from ${series(500_000)}`,
    'analyze table large, hopeless',
    'create view seen as select * from bare',
    'create view queue_seen as select * from queue',
    'create view hopeless_seen as select * from hopeless',
  ];
  for (const statement of statements) await observed.query(statement);
}

const stage = useStage(OUTBOXES, fill, 'mysql');
const { observed, collect, total, totals, errors } = stage;

const collected = async (id: string, published: number): Promise<void> => {
  const collector = collect();
  await eventually(async () => {
    expect((await total(id)).published).toBe(published);
    expect(collector.status(id).backfill).toBeNull();
  });
  await collector.stop();
  expect(errors).toEqual([]);
};
const insert = (table: string, columns: string, values: string, count: number): Promise<unknown> =>
  observed.query(`insert into ${table} (${columns}) select ${values} from (select i, utc_timestamp(6) as t from ${series(count)}) as s`);

describe('how an outbox of MySQL is collected', () => {
  it.each([
    ['bare', 'scan', null],
    ['large', 'scan', 'index_published_at'],
    ['epochs', 'published_index', null],
    ['dates', 'observed', 'column_published_at'],
    ['status_only', 'observed', 'column_published_at'],
    ['queue', 'deleted', null],
    ['hopeless', 'statistics', 'index_published_at'],
    ['queue_seen', 'deleted', 'base_table_needed'],
  ])('%s: %s, advice %s', async (id, method, advice) => {
    const bound = await stage.directory.get(id);
    const choice = await bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    expect(choice).toMatchObject({ method, sees: true });
    expect(choice.advice?.code ?? null).toBe(advice);
  });

  it('not by statistics where the role may not read them: then nothing counts as watched, and an index is advised', async () => {
    const bound = await stage.directory.get('hopeless');
    const size = await bound.database.read((db) => sizeOf(db, bound));
    expect(size.counted).toBe(true);
    expect(chooseMethod(bound, { ...size, counted: false })).toMatchObject({
      method: 'observed',
      sees: false,
      advice: { sql: 'CREATE INDEX `hopeless_published` ON `hopeless` (`published`) ALGORITHM=INPLACE LOCK=NONE;' },
    });
  });

  it('by looks alone where rows go and the role may not read the counters: then the grant is advised', async () => {
    const bound = await stage.directory.get('queue');
    const size = await bound.database.read((db) => sizeOf(db, bound));
    expect(chooseMethod(bound, { ...size, counted: false })).toMatchObject({
      method: 'deleted',
      advice: {
        code: 'read_counters',
        sql: `GRANT SELECT ON performance_schema.table_io_waits_summary_by_table TO '${bound.database.roles.reader}'@'%';`,
      },
    });
  });

  it('a small view by reading it, where the role may see how large it is', async () => {
    const bound = await stage.directory.get('seen');
    const choice = () => bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    expect(await choice()).toMatchObject({ method: 'observed', sees: false, advice: { code: 'base_table_needed' } });
    await observed.query(`grant show view on seen to '${bound.database.roles.reader}'`);
    await eventually(async () => expect(await choice()).toMatchObject({ method: 'scan', sees: true, advice: null }));
  });

  it('not by the changes of a large view, which nobody counts: none is not what it is told as', async () => {
    const bound = await stage.directory.get('hopeless_seen');
    const choice = await bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    expect(choice).toMatchObject({ method: 'observed', sees: false, advice: { code: 'base_table_needed', sql: null } });
  });

  it('by the index that is advised, once it is there', async () => {
    const bound = await stage.directory.get('large');
    const advised = await bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    await observed.query(advised.advice?.sql ?? '');
    stage.directory.forget('large');
    const again = await stage.directory.get('large');
    expect((await again.database.read(async (db) => chooseMethod(again, await sizeOf(db, again)))).method).toBe('published_index');
    const to = Date.now() * 1_000;
    const { rows } = await again.database.read((db) =>
      sql<{
        key: string;
        type: string;
      }>`explain format = traditional ${groupsStatement(again, { from: to - 1_800_000_000, to }, 1)}`.execute(db),
    );
    expect(rows).toContainEqual(expect.objectContaining({ key: expect.stringMatching(/_published$/), type: 'range' }));
  });
});

describe('counts', () => {
  it('a table without an index', async () => {
    await insert('bare', 'created, published', 't - interval i * 7 + 10 second, t - interval i * 7 + 1 second', 50);
    await collected('bare', 50);
    expect((await total('bare')).latencySumMs).toBeCloseTo(50 * 9_000, 3);
  });

  it('times that are rounded to the second, up to half a second into the future', async () => {
    const collector = collect();
    await eventually(() => expect(collector.status('seconds').backfill).toBeNull());
    for (let round = 0; round < 40; round += 1) {
      await insert('seconds', 'created, published', 't, t', 3);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await eventually(async () => expect((await total('seconds')).published).toBe(120));
    await collector.stop();
    expect(errors).toEqual([]);
  });

  it('a TIMESTAMP, and numbers since 1970', async () => {
    const ms = (agoSeconds: number): string => `floor(unix_timestamp(t) * 1000) - ${agoSeconds} * 1000`;
    await insert('stamps', 'created, published', 't - interval 5 + i second, t - interval 2 + i second', 20);
    await insert('epochs', 'created, published', `${ms(5)} - i * 1000, ${ms(2)} - i * 1000`, 20);
    await insert('epoch_seconds', 'created, published', `floor(unix_timestamp(t)) - 5 - i, floor(unix_timestamp(t)) - 2 - i`, 20);
    for (const id of ['stamps', 'epochs', 'epoch_seconds']) {
      await collected(id, 20);
      expect((await total(id)).latencySumMs).toBeCloseTo(20 * 3_000, 3);
    }
  });

  it('rows without a time of creation: published, with no latency', async () => {
    await insert('uncreated', 'published', 't - interval i second', 30);
    await collected('uncreated', 30);
    expect(await total('uncreated')).toMatchObject({ published: 30, latency: new Map(), created: 0 });
  });

  it('the time from claim to publishing, where the claim came first', async () => {
    const at = (seconds: number): string => `t - interval ${seconds} second`;
    await insert('claimed', 'created, published, claimed', `${at(9)}, ${at(1)}, ${at(3)}`, 20);
    await insert('claimed', 'created, published, claimed', `${at(9)}, ${at(1)}, ${at(1)}`, 5);
    await collected('claimed', 25);
    const { processing, latency, created, latencySumMs } = await total('claimed');
    expect([...processing.values()]).toEqual([20]);
    expect([...latency.values()]).toEqual([25]);
    expect(created).toBe(25);
    expect(latencySumMs).toBeCloseTo(25 * 8_000, 3);
  });

  it('the table of a worker that writes whole seconds and keeps its claims, without an index', async () => {
    const collector = collect();
    await eventually(() => expect(collector.status('worker')).toMatchObject({ state: 'collecting', method: 'scan', backfill: null }));
    await insert('outbox_events', 'id, event_type, payload, created_at', `i + 1, concat('order.', i % 2), '{}', t - interval 3 second`, 40);
    await observed.query(`update outbox_events set status = 'PROCESSING' where id % 4 > 0`);
    await observed.query(
      `update outbox_events set status = 'PROCESSED', processed_at = now() + interval 1 second, updated_at = updated_at where id % 4 > 0`,
    );
    await eventually(async () => expect((await total('worker')).published).toBe(30));
    await collector.stop();
    const { processing, latencySumMs } = await total('worker');
    expect([...processing.values()].reduce((sum, n) => sum + n, 0)).toBe(30);
    expect(latencySumMs / 30).toBeGreaterThanOrEqual(3_000);
    expect((await totals('worker')).get(seriesOfType('order.0'))?.published).toBe(20);
    expect(errors).toEqual([]);
  });

  it('clocks that disagree: publishing before creation is counted apart, in the first bucket', async () => {
    await insert('bare', 'created, published', 't, t - interval 20 second', 8);
    await collected('bare', 58);
    const cell = await total('bare');
    expect(cell.negative).toBe(8);
    expect(cell.latency.get(0)).toBe(8);
    expect(cell.latencySumMs).toBeCloseTo(50 * 9_000, 3);
  });

  it('types apart that the collation takes for the same', async () => {
    const time = 't - interval 2 second, t - interval 1 second';
    await insert('cased', 'kind, created, published', `'Paid', ${time}`, 3);
    await insert('cased', 'kind, created, published', `'paid', ${time}`, 4);
    await insert('cased', 'kind, created, published', `'páid', ${time}`, 5);
    await collected('cased', 12);
    const series = await totals('cased');
    expect(['Paid', 'paid', 'páid'].map((type) => series.get(seriesOfType(type))?.published)).toEqual([3, 4, 5]);
  });
});

describe('times without a zone', () => {
  it('are read in the zone of the configuration', async () => {
    await insert('seoul', 'created, published', 't + interval 9 hour - interval 65 second, t + interval 9 hour - interval 60 second', 12);
    await collected('seoul', 12);
    expect((await total('seoul')).latencySumMs).toBeCloseTo(12 * 5_000, 3);
  });

  it('an hour that the clock shows twice is counted once, however the span is cut', async () => {
    // Clocks were put back at 01:00 UTC.
    const hour = microsOf('2026-10-24T23:00:00.000000Z');
    const at = `convert_tz(timestamp'2026-10-24 23:00:00' + interval i minute, '+00:00', 'Europe/Oslo')`;
    await insert('oslo', 'created, published', `${at}, ${at}`, 300);
    const bound = await stage.directory.get('oslo');
    for (const width of [7, 45, 60, 300]) {
      const counted = await bound.database.read(async (db) => {
        let sum = 0;
        for (let minute = 0; minute < 300; minute += width) {
          const from = hour + minute * 60_000_000;
          const to = hour + Math.min(300, minute + width) * 60_000_000;
          for (const rows of (await countByMinute(db, bound, { from, to })).values()) sum += rows;
        }
        return sum;
      });
      expect(counted, `in spans of ${String(width)} minutes`).toBe(300);
    }
  });
});
