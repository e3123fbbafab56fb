/** A list of one cause: paged both ways, past the dead events that are looked at for one page, by the text that the asker sees. */
import { freezeEvents } from '@/fixtures/batches';
import { beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_KEYS, type EventFilter } from '@/lib/shared/model';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { numbersTo } from '@/scripts/testing/mysql';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { listEvents } from './list-events';
import type { Outbox } from '../outbox';

const ROWS = 2_600;
/** Every second row is dead, every 26th of them of the one cause; the last ten have no time. */
const WANTED = ROWS / 26;
const error = "case when n % 26 = 0 then concat('order ', n, ' refused') when n % 2 = 0 then concat('node ', n, ' down') end";
const kind = "case when n % 52 = 0 then 'b' else 'a' end";

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async ({ query }) => {
    const [time, numbers, made] =
      engine === 'postgres'
        ? ['timestamptz', `generate_series(1, ${ROWS}) as n`, "timestamptz '2026-01-01' + floor(n / 7) * interval '1 second'"]
        : ['datetime(3)', numbersTo(ROWS, 'numbers'), "timestamp '2026-01-01 00:00:00' + interval floor(n / 7) second"];
    await query(`create table died (id int primary key, kind text, error text, made ${time} null)`);
    await query(`insert into died select n, ${kind}, ${error}, case when n <= ${ROWS - 10} then ${made} end from ${numbers}`);
  });
  const opened = useOpened(database);
  let outbox: Outbox;
  beforeAll(async () => {
    outbox = await bindInline(opened(), 'died', {
      columns: { id: 'id', type: 'kind', error: 'error', createdAt: 'made' },
      states: [
        { state: 'dead', when: { column: 'error', isNull: false } },
        { state: 'pending', when: { always: true } },
      ],
    });
  });

  const cause = 'order 7 refused';
  const walk = async (filter: EventFilter, limit: number) => {
    const pages: string[][] = [];
    const back: string[][] = [];
    let page = await listEvents(outbox, filter, { limit });
    for (;;) {
      pages.push(page.events.map(({ id }) => id));
      if (page.nextCursor === null) break;
      page = await listEvents(outbox, filter, { limit, cursor: page.nextCursor });
    }
    while (page.previousCursor !== null) {
      page = await listEvents(outbox, filter, { limit, cursor: page.previousCursor });
      back.unshift(page.events.map(({ id }) => id));
    }
    return { ids: pages.flat(), back: [...back.flat(), ...(pages.at(-1) ?? [])] };
  };

  it.each(['newest', 'oldest'] as const)('has every event of the cause once, %s first, there and back', async (order) => {
    const { ids, back } = await walk({ cause, order }, 30);
    const all = (await listEvents(outbox, { error: 'order ', order }, { limit: 500 })).events.map(({ id }) => id);
    expect(all).toHaveLength(WANTED);
    expect(ids).toEqual(all);
    expect(back).toEqual(all);
  });

  it('says how far it looked, and goes on from there', async () => {
    const first = await listEvents(outbox, { cause: 'order … refused' }, { limit: 200 });
    expect(first.searched).toMatchObject({ rows: 1_000, complete: false });
    expect(first.events.length).toBeLessThan(WANTED);
    const second = await listEvents(outbox, { cause }, { limit: 200, cursor: first.nextCursor ?? '' });
    expect(second.searched).toMatchObject({ rows: ROWS / 2 - 1_000, complete: true });
    expect(first.events.length + second.events.length).toBe(WANTED);
  });

  it('is of the types and states that were asked for, and frozen whole', async () => {
    expect((await walk({ cause, type: ['b'] }, 50)).ids).toHaveLength(WANTED / 2);
    expect((await walk({ cause, type: ['b', 'a'], state: ['dead', 'pending'] }, 50)).ids).toHaveLength(WANTED);
    expect(await listEvents(outbox, { cause, state: ['pending'] }, { limit: 50 })).toMatchObject({
      events: [],
      searched: { rows: 0, complete: true },
    });
    const frozen = await freezeEvents(outbox, { cause, state: ['dead'] }, { type: 'b', error: 'order … refused' });
    const rest = await freezeEvents(outbox, { cause, state: ['dead'] }, { type: 'b', error: 'order … refused' }, frozen.nextCursor ?? '');
    expect([...frozen.events, ...rest.events]).toHaveLength(WANTED / 2);
  });

  it.each([1, 30])('loses and repeats none where all of a page of %i are no longer dead when they are read whole', async (limit) => {
    const all = (await walk({ cause }, 200)).ids;
    const gone = all.slice(0, limit);
    let page = await listEvents(outbox, { cause }, { limit }, async (rows) => {
      await database.query(`update died set kind = error, error = null where id in (${gone.join(', ')})`);
      return rows;
    });
    const ids = page.events.map(({ id }) => id);
    while (page.nextCursor !== null) {
      page = await listEvents(outbox, { cause }, { limit, cursor: page.nextCursor });
      ids.push(...page.events.map(({ id }) => id));
    }
    await database.query(`update died set error = kind, kind = ${kind.replaceAll('n %', 'id %')} where id in (${gone.join(', ')})`);
    expect(ids).toEqual(all.slice(limit));
  });

  it('holds the cause against what the asker sees', async () => {
    const see = (rows: { error: string | null }[]) =>
      Promise.resolve(rows.map((row) => ({ ...row, error: row.error?.replace('refused', '••••') ?? null })) as never);
    expect((await listEvents(outbox, { cause }, { limit: 5 }, see)).events).toEqual([]);
    expect((await listEvents(outbox, { cause: 'order 1 ••••' }, { limit: 5 }, see)).events).toHaveLength(5);
  });

  it('shows two events of one id, dead in both tables, each as it is', async () => {
    for (const table of ['shared_id', 'shared_id_dead'])
      await database.query(`create table ${table} (id int primary key, kind text, error text)`);
    await database.query("insert into shared_id values (1, 'a', 'order 1 refused')");
    await database.query("insert into shared_id_dead values (1, 'a', 'order 2 refused')");
    const both = await bindInline(opened(), 'shared_id', {
      columns: { id: 'id', type: 'kind', error: 'error' },
      dead: { table: 'shared_id_dead' },
      states: [
        { state: 'dead', when: { column: 'error', isNull: false } },
        { state: 'pending', when: { always: true } },
      ],
    });
    const { events } = await listEvents(both, { cause }, { limit: 5 });
    expect(events.map((event) => event.error).sort()).toEqual(['order 1 refused', 'order 2 refused']);
  });

  it.each(engine === 'mysql' ? ['text character set latin1', 'text collate utf8mb4_unicode_520_ci'] : ['varchar(300)'])(
    'shows errors as they are, of a table with text and of one with %s',
    async (other) => {
      const table = `kept_as_${other.replaceAll(/\W/g, '_')}`;
      for (const [name, text] of [
        [table, 'text'],
        [`${table}_dead`, other],
      ] as const) {
        await database.query(`create table ${name} (id int primary key, kind text, error ${text})`);
        await database.query(`insert into ${name} values (${name.length}, 'a', 'Zürich refused ${text}')`);
      }
      const both = await bindInline(opened(), table, {
        columns: { id: 'id', type: 'kind', error: 'error' },
        dead: { table: `${table}_dead` },
        states: [
          { state: 'dead', when: { column: 'error', isNull: false } },
          { state: 'pending', when: { always: true } },
        ],
      });
      const { events } = await listEvents(both, { state: ['dead'] }, { limit: 5 });
      expect(events.map(({ error }) => error).sort()).toEqual(['Zürich refused text', `Zürich refused ${other}`]);
    },
  );
});
