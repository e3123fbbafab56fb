import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '@/demo/random';
import { mysqlEngine } from '@/lib/database/mysql/engine';
import { archiveTable } from '@/lib/outbox/companions';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { type ShapeInput } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import { useTestMysql } from '@/scripts/testing/mysql';
import { HOW } from '@/lib/rollup/cell';
import { testOutbox, type TestOutbox } from '@/fixtures/outboxes';
import { series } from '@/fixtures/collector/stage';
import { attemptsObserver } from './attempts';
import { attemptsMemory } from './attempts-count';
import { departureMemory } from './departures-count';
import { watch } from '@/fixtures/collector/watch';
import { deletesObserver, transitionsObserver } from './departures';

const database = useTestMysql();
let directory: OutboxDirectory;
/** The same outboxes, read by a role that may read its own database alone. */
let narrow: OutboxDirectory;

const outbox = (table: string, columns: ShapeInput['columns'], states: ShapeInput['states'], more: Partial<ShapeInput> = {}): TestOutbox =>
  testOutbox(
    defineShape({ key: 'inline', label: table, origin: 'test', engines: ['mysql'], table, columns, states, ...more }),
    'observed',
    { id: table, inline: true, table },
  );

const GOES: ShapeInput['states'] = [{ state: 'pending', when: { column: 'id', isNull: false } }];
const STATUS: ShapeInput['states'] = [
  { state: 'published', when: { column: 'status', equals: 'DONE' } },
  { state: 'dead', when: { column: 'status', equals: 'DEAD' } },
  { state: 'pending', when: { column: 'status', equals: 'NEW' } },
];
const BARE = { id: 'id', type: 'kind' } as const;
const CREATED = { ...BARE, createdAt: 'created_at' } as const;
const COUNTED = { ...CREATED, publishedAt: 'published_at', attempts: 'tries' } as const;

const OUTBOXES = [
  outbox('played', CREATED, GOES),
  outbox('gone', CREATED, GOES, { archive: { from: ['pending'] } }),
  outbox('brief', CREATED, GOES),
  outbox('unsaid', CREATED, GOES),
  outbox('numbered', BARE, STATUS),
  outbox('keyed', CREATED, STATUS),
  outbox('served', CREATED, STATUS),
  outbox('tried', COUNTED, STATUS),
];

beforeAll(async () => {
  const number = 'id bigint auto_increment primary key';
  const text = 'id varchar(40) primary key default (uuid())';
  const rest = `kind varchar(40) not null default 'a', created_at datetime(6) not null default current_timestamp(6)`;
  const status = `status varchar(10) not null default 'NEW'`;
  for (const table of ['played', 'gone', 'brief', 'unsaid']) await database.query(`create table ${table} (${number}, ${rest})`);
  const { table } = archiveTable(mysqlEngine, 'gone');
  await database.query(`create table ${table} like gone`);
  await database.query(`create table numbered (${number}, kind varchar(40) not null, ${status})`);
  await database.query(`create table keyed (${text}, ${rest}, ${status})`);
  await database.query(`create table served (${text}, ${rest}, ${status}, key (status, created_at), key (created_at))`);
  await database.query(
    `create table tried (${text}, ${rest}, ${status}, tries int not null default 0, published_at datetime(6), key (status, created_at), key (published_at))`,
  );
  // A server on which nobody has touched any table yet is taken for one that does not count.
  await database.query('create table elsewhere (id int)');
  await database.query('insert into elsewhere values (1)');
  directory = createDirectory({ databases: [{ id: 'test', url: database.url }], outboxes: OUTBOXES });
  const name = `narrow_${database.name}`;
  await database.query(`create user ${name}@'%' identified by 'test'`);
  await database.query(`grant select on ${database.name}.* to ${name}@'%'`);
  narrow = createDirectory({ databases: [{ id: 'test', url: database.urlFor(name, 'test') }], outboxes: OUTBOXES });
});
afterAll(() => Promise.all([directory.close(), narrow.close()]));

/** So many that 10 % is no matter of luck. */
const PLAYED = { forMs: 12_000, ratePerSecond: 500 };

const insert = (table: string, count: number, columns = 'kind', values = `'a'`): Promise<unknown> =>
  database.query(`insert into ${table} (${columns}) select ${values} from ${series(count)}`);

describe('rows of MySQL that go when they are published', () => {
  it('are all counted, with a mean within 10 % of the truth', async () => {
    const random = createRandom('played');
    const ticks = watch(directory, 'played', deletesObserver);
    await ticks.tick();
    const done = ticks.keepTicking(deletesObserver.everyMs);
    const tookMs: number[] = [];
    const due: { id: number; createdMs: number; atMs: number }[] = [];
    const wait = (): number =>
      Math.min(5_000, 310 * Math.exp(1.1 * Math.sqrt(-2 * Math.log(1 - random.float())) * Math.cos(2 * Math.PI * random.float())));
    let next = 0;
    for (const began = Date.now(); Date.now() - began < PLAYED.forMs || due.length > 0; await sleep(8)) {
      const passedMs = Date.now() - began;
      const owed = passedMs < PLAYED.forMs ? Math.floor((passedMs / 1_000) * PLAYED.ratePerSecond) - next : 0;
      if (owed > 0) {
        const ids = Array.from({ length: owed }, () => (next += 1));
        await database.query(`insert into played (id, kind) values ${ids.map((id) => `(${id}, 'order.${id % 3}')`).join(', ')}`);
        due.push(...ids.map((id) => ({ id, createdMs: Date.now(), atMs: Date.now() + wait() })));
      }
      const ready = due.filter(({ atMs }) => atMs <= Date.now());
      if (ready.length === 0) continue;
      await database.query(`delete from played where id in (${ready.map(({ id }) => id).join(', ')})`);
      tookMs.push(...ready.map(({ createdMs }) => Date.now() - createdMs));
      due.splice(0, due.length, ...due.filter((one) => !ready.includes(one)));
    }
    await sleep(1_000);
    await done();
    await ticks.tick();
    const cell = ticks.sum();
    expect(cell.published).toBe(tookMs.length);
    expect(cell.how).toBe(HOW.sampled | HOW.statistics);
    const mean = tookMs.reduce((sum, ms) => sum + ms, 0) / tookMs.length;
    expect(Math.abs(cell.latencySumMs / cell.published / mean - 1)).toBeLessThan(0.1);
  });

  it('are not published when the console has archived them', async () => {
    const ticks = watch(directory, 'gone', deletesObserver);
    await insert('gone', 10);
    await ticks.tick();
    const { table } = archiveTable(mysqlEngine, 'gone');
    await database.query(`insert into ${table} select * from gone where id <= 4`);
    await database.query('delete from gone where id <= 5');
    await ticks.tick();
    await ticks.tick();
    expect(ticks.sum()).toMatchObject({ published: 1 });
    expect(ticks.sum('=a').published).toBe(1);
  });

  it('are counted when they came and went between two looks, and were never seen waiting', async () => {
    const ticks = watch(directory, 'brief', deletesObserver);
    await ticks.tick();
    for (let round = 0; round < 5; round += 1) {
      await insert('brief', 100);
      await database.query('delete from brief');
      await ticks.tick();
    }
    expect(ticks.sum()).toMatchObject({ published: 500, latencySumMs: 0, how: HOW.statistics | HOW.sampled });
  });

  it('are those that were seen waiting, without a time, where the role may not read the counters', async () => {
    const ticks = watch(narrow, 'unsaid', deletesObserver);
    await insert('unsaid', 10);
    await ticks.tick();
    await database.query('delete from unsaid where id <= 4');
    await insert('unsaid', 50);
    await database.query('delete from unsaid where id > 10');
    await ticks.tick();
    await ticks.tick();
    expect(ticks.sum()).toMatchObject({ published: 4, latencySumMs: 0, how: 0 });
  });
});

describe('tables of MySQL that do not say when an event was published', () => {
  it('numbered and without times: counts alone, as no latency is told without a creation', async () => {
    const ticks = watch(directory, 'numbered', transitionsObserver);
    await insert('numbered', 100, 'kind, status', `'a', if(i % 2 = 0, 'DONE', 'NEW')`);
    await ticks.tick();
    await insert('numbered', 30, 'kind, status', `'a', 'DONE'`);
    await database.query(`update numbered set status = 'DONE' where id <= 20`);
    // A key that was given out early and committed late.
    await database.query(`insert into numbered (id, kind) values (1000, 'b')`);
    await ticks.tick();
    await database.query(`insert into numbered (id, kind, status) values (500, 'b', 'DONE')`);
    await ticks.tick();
    await ticks.tick(11_000);
    await ticks.tick(12_000);
    expect(ticks.sum()).toMatchObject({ published: 41, negative: 0 });
    expect(ticks.sum('=b').published).toBe(1);
  });

  it.each(['keyed', 'served'])('%s by a text, found by reading all or by index: seen open or not, each once', async (table) => {
    const ticks = watch(directory, table, transitionsObserver);
    await insert(table, 10, 'kind, status', `'a', 'DONE'`);
    await ticks.tick();
    await insert(table, 600, 'kind', `'b'`);
    await ticks.tick();
    await database.query(`update ${table} set status = 'DONE' where kind = 'b'`);
    await insert(table, 25, 'kind, status', `'c', 'DONE'`);
    await insert(table, 3, 'kind, status', `'d', 'DEAD'`);
    await ticks.tick();
    await ticks.tick();
    expect(ticks.sum()).toMatchObject({ published: 625 });
    expect(ticks.sum('=c').published).toBe(25);
    expect(departureMemory(ticks.memory)?.open).toEqual([]);
  });
});

describe('a counter of attempts on MySQL', () => {
  it('tells failures, retries and deaths, of what is open and of what has gone out since', async () => {
    const ticks = watch(directory, 'tried', attemptsObserver);
    await insert('tried', 10, 'kind, tries', `if(i < 5, 'a', 'b'), 1`);
    await ticks.tick();
    expect(ticks.sum()).toMatchObject({ failures: 0, retries: 0, died: 0 });
    await database.query(`update tried set tries = tries + 2 where kind = 'a'`);
    await ticks.tick();
    expect(ticks.sum('=a')).toMatchObject({ failures: 10 });
    await database.query(`update tried set status = 'DEAD', tries = 4 where kind = 'a'`);
    await database.query(`update tried set status = 'DONE', tries = 2, published_at = utc_timestamp(6) where kind = 'b'`);
    await insert('tried', 7, 'kind, status, tries, published_at', `'c', 'DONE', 3, utc_timestamp(6)`);
    await ticks.tick();
    await ticks.tick(11_000);
    await ticks.tick(16_000);
    expect(ticks.sum('=a')).toMatchObject({ failures: 15, died: 5 });
    expect(ticks.sum('=b')).toMatchObject({ failures: 5, died: 0 });
    expect(ticks.sum('=c')).toMatchObject({ failures: 21, retries: 21 });
    expect(attemptsMemory(ticks.memory)?.reach).toBe('complete');
  });
});
