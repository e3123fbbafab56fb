import { describe, expect, it } from 'vitest';
import type { AnyTestDatabase } from '@/scripts/testing/outbox';
import { groupsStatement, countByMinute, publishedIn, setPlanner } from './published-sql';
import { microsOf } from './clock';
import { chooseMethod, sizeOf } from './method';
import { CLAIMED, oddOutboxes, QUEUE, STATUS_ONLY } from '@/fixtures/collector/odd-outboxes';
import { eventually, useStage } from '@/fixtures/collector/stage';
import { sql } from 'kysely';

const outbox = oddOutboxes('postgres');

const OUTBOXES = [
  outbox('bare'),
  outbox('large'),
  outbox('blocks'),
  outbox('parts'),
  outbox('seoul', {}, { parameters: { timeZone: 'Asia/Seoul' } }),
  outbox('berlin', {}, { parameters: { timeZone: 'Europe/Berlin' } }),
  outbox('seconds'),
  outbox('uncreated', { columns: { id: 'id', publishedAt: 'published' } }),
  outbox('claimed', CLAIMED),
  outbox('dates'),
  outbox('status_only', STATUS_ONLY),
  outbox('queue', QUEUE),
  outbox('hopeless'),
  outbox('seen'),
  outbox('queue_seen', QUEUE),
  outbox('hopeless_seen'),
];

async function fill(observed: AnyTestDatabase): Promise<void> {
  const plain = (name: string, time: string, rest = ''): string =>
    `create table odd.${name} (id bigint generated always as identity primary key, kind text default 'a', created ${time}, published ${time}${rest});`;
  await observed.query(`
    create schema odd;
    ${plain('bare', 'timestamptz')}
    create table odd.large (id uuid default gen_random_uuid(), kind text, created timestamptz, published timestamptz);
    ${plain('blocks', 'timestamptz')} create index on odd.blocks using brin (published);
    create table odd.parts (id bigint, kind text default 'a', created timestamptz, published timestamptz) partition by range (created);
    create table odd.parts_old partition of odd.parts for values from (minvalue) to (now() - interval '1 hour');
    create table odd.parts_new partition of odd.parts default;
    create index on odd.parts (published);
    ${plain('seoul', 'timestamp')} create index on odd.seoul (published);
    ${plain('berlin', 'timestamp')} create index on odd.berlin (published);
    ${plain('seconds', 'timestamptz(0)')} create index on odd.seconds (published) where published is not null;
    create table odd.uncreated (id bigint generated always as identity primary key, published timestamptz);
    ${plain('claimed', 'timestamptz', ', claimed timestamptz')} create index on odd.claimed (published);
    ${plain('dates', 'date')}
    create table odd.status_only (id bigint primary key, created timestamptz, state text);
    create table odd.queue (id bigint primary key, created timestamptz);
    create view odd.seen as select * from odd.bare;
    create view odd.queue_seen as select * from odd.queue;
    create table odd.hopeless (id uuid default gen_random_uuid(), kind text, created timestamptz, published timestamptz);
    create view odd.hopeless_seen as select * from odd.hopeless;
    insert into odd.large (kind, created, published) select 'a', now(), now() - interval '1 h' * random() from generate_series(1, 60000);
    insert into odd.hopeless (kind, created, published) select 'a', now(), now() - interval '1 h' * random() from generate_series(1, 260000);
    insert into odd.blocks (created, published) select now() - i * interval '1 s' - interval '1 s', now() - i * interval '1 s' from generate_series(40000, 1, -1) as i;
    insert into odd.parts (id, created, published) select i, now() - i * interval '1 minute', now() - i * interval '1 minute' + interval '1 s' from generate_series(1, 200) as i;
    analyze`);
}

const stage = useStage(OUTBOXES, fill);
const { observed, collect, total, errors } = stage;

const collected = async (id: string, published: number): Promise<void> => {
  const collector = collect();
  await eventually(async () => {
    expect((await total(id)).published).toBe(published);
    expect(collector.status(id).backfill).toBeNull();
  });
  await collector.stop();
  expect(errors).toEqual([]);
};

describe('how an outbox is collected', () => {
  it.each([
    ['bare', 'scan', null],
    ['large', 'scan', 'index_published_at'],
    ['blocks', 'published_index', null],
    ['parts', 'published_index', null],
    ['dates', 'observed', 'column_published_at'],
    ['status_only', 'observed', 'column_published_at'],
    ['queue', 'deleted', null],
    ['hopeless', 'statistics', 'index_published_at'],
    ['seen', 'scan', null],
    ['queue_seen', 'deleted', 'base_table_needed'],
  ])('%s: %s, advice %s', async (id, method, advice) => {
    const bound = await stage.directory.get(id);
    const choice = await bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    expect(choice).toMatchObject({ method });
    expect(choice.advice?.code ?? null).toBe(advice);
  });

  it('not by the changes of a large view, which nobody counts: none is not what it is told as', async () => {
    const bound = await stage.directory.get('hopeless_seen');
    const choice = await bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    expect(choice).toMatchObject({ method: 'observed', sees: false, advice: { code: 'base_table_needed', sql: null } });
  });

  it('advises an index that is then used', async () => {
    const bound = await stage.directory.get('large');
    const advised = await bound.database.read(async (db) => chooseMethod(bound, await sizeOf(db, bound)));
    await observed.query(advised.advice?.sql ?? '');
    stage.directory.forget('large');
    const again = await stage.directory.get('large');
    expect((await again.database.read(async (db) => chooseMethod(again, await sizeOf(db, again)))).method).toBe('published_index');
  });
});

describe('counts', () => {
  it('a table without an index, and one whose times are whole seconds', async () => {
    await observed.query(`insert into odd.bare (created, published) select now() - i * interval '7 s' - interval '9 s', now() - i * interval '7 s' from generate_series(1, 50) as i;
      insert into odd.seconds (created, published) select now() - interval '9 min', now() - i * interval '7 s' from generate_series(1, 60) as i`);
    await collected('bare', 50);
    await collected('seconds', 60);
  });

  it('a table with an index of blocks, found back to its first row', async () => {
    await collected('blocks', 40_000);
    const bound = await stage.directory.get('blocks');
    const to = Date.now() * 1_000;
    const plan = await bound.database.read(async (db) => {
      await setPlanner(db, bound, 'blocks');
      const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${groupsStatement(bound, { from: to - 60_000_000, to }, 1)}`.execute(db);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('Bitmap Index Scan');
  });

  it('a partitioned table', () => collected('parts', 200));

  it('rows without a time of creation: published, with no latency', async () => {
    await observed.query(`insert into odd.uncreated (published) select now() - i * interval '1 s' from generate_series(1, 30) as i`);
    await collected('uncreated', 30);
    expect(await total('uncreated')).toMatchObject({ published: 30, latency: new Map(), created: 0 });
  });

  it('the time from claim to publishing, where the claim came first', async () => {
    await observed.query(`insert into odd.claimed (created, published, claimed) select now() - interval '9 s', now() - interval '1 s', now() - interval '3 s' from generate_series(1, 20);
      insert into odd.claimed (created, published, claimed) select now() - interval '9 s', now() - interval '1 s', now() - interval '1 s' from generate_series(1, 5)`);
    await collected('claimed', 25);
    const { processing } = await total('claimed');
    expect([...processing.values()]).toEqual([20]);
  });

  it('clocks that disagree: publishing before creation is counted apart, in the first bucket', async () => {
    await observed.query(`insert into odd.bare (created, published) select now(), now() - interval '20 s' from generate_series(1, 8)`);
    await collected('bare', 58);
    const cell = await total('bare');
    expect(cell.negative).toBe(8);
    expect(cell.latency.get(0)).toBe(8);
    expect(cell.latencySumMs).toBeCloseTo(50 * 9_000, 3);
  });
});

describe('times without a zone', () => {
  it('are read in the zone of the configuration', async () => {
    await observed.query(
      `insert into odd.seoul (created, published) select (now() - interval '65 s') at time zone 'Asia/Seoul', (now() - interval '60 s') at time zone 'Asia/Seoul' from generate_series(1, 12)`,
    );
    await collected('seoul', 12);
    expect((await total('seoul')).latencySumMs).toBeCloseTo(12 * 5_000, 3);
  });

  it('an hour that the clock shows twice is counted once, however the span is cut', async () => {
    // Clocks were put back at 01:00 UTC.
    const hour = microsOf('2026-10-24T23:00:00.000000Z');
    await observed.query(`insert into odd.berlin (created, published)
      select t at time zone 'Europe/Berlin', t at time zone 'Europe/Berlin' from generate_series(timestamptz '2026-10-24 23:00:00Z', '2026-10-25 03:59:00Z', '1 minute') as t`);
    const bound = await stage.directory.get('berlin');
    for (const width of [7, 45, 60, 300]) {
      const counted = await bound.database.read(async (db) => {
        let sum = 0;
        for (let at = 0; at < 300; at += width) {
          const from = hour + at * 60_000_000;
          const to = hour + Math.min(300, at + width) * 60_000_000;
          for (const rows of (await countByMinute(db, bound, { from, to })).values()) sum += rows;
          const { rows } = await sql<{
            'QUERY PLAN': string;
          }>`explain select 1 from odd.berlin o where ${publishedIn(bound, { from, to })}`.execute(db);
          expect(rows.length).toBeGreaterThan(0);
        }
        return sum;
      });
      expect(counted, `in spans of ${String(width)} minutes`).toBe(300);
    }
  });
});
