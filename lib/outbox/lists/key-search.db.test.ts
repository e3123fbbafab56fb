/** What became of a business key in one outbox: where it is looked for, how far, and what is said of what was not looked at. */
import { afterAll, describe, expect, test, vi } from 'vitest';
import { defineShape } from '@/lib/shape/define';
import type { Shape } from '@/lib/shape/shape';
import type { FoundIn } from '@/lib/shared/lists/found';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { numbersTo } from '@/scripts/testing/mysql';
import { type AnyTestDatabase, settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { overCountingLine } from '@/scripts/testing/counting-line';
import { createDirectory } from '../directory';
import type { OutboxSettings } from '../outbox';
import { createKeyFates, type KeySearch } from './key-fates';

const STATES = ['pending', 'processing', 'retrying', 'published', 'dead'] as const;
const COLUMNS = {
  id: 'id',
  type: 'kind',
  dedupKey: 'dedup',
  aggregateId: 'order_id',
  createdAt: 'made',
  attemptedAt: 'claimed',
  payload: 'body',
} as const;

const shape = (engine: EngineKey, over: Partial<Shape> = {}) =>
  defineShape({
    key: 'inline',
    label: 'keys',
    origin: 'test',
    engines: [engine],
    table: 'keyed',
    columns: COLUMNS,
    states: STATES.map((state) => ({ state, when: { column: 'status', equals: state } })),
    parameters: { stuckAfter: 60, timeZone: 'UTC' },
    ...over,
  });

/** More than are read whole in one statement, and more than a search tries. */
const LARGE_ROWS = 30_000;
const ENDLESS_ROWS = 260_000;

const table = (engine: EngineKey, name: string, more = ''): string =>
  `create table ${name} (id varchar(40) primary key, kind varchar(20) not null default 'paid', dedup varchar(40), order_id varchar(40), status varchar(20) not null,
    made timestamp not null default current_timestamp, claimed timestamp null, body ${engine === 'postgres' ? 'jsonb' : 'json'}${more})`;

const filled = (engine: EngineKey, name: string, rows: number, body: string): string => {
  const from = engine === 'postgres' ? `generate_series(1, ${rows}) as n` : numbersTo(rows, 'numbers');
  const made = engine === 'postgres' ? `now() - (${rows} - n) * interval '1 second'` : `utc_timestamp() - interval (${rows} - n) second`;
  return `insert into ${name} (id, dedup, order_id, status, made, body) select concat('${name}-', n), concat('d', n), concat('o', n), 'published', ${made}, ${body} from ${from}`;
};

async function insert(database: AnyTestDatabase, name: string, row: Record<string, unknown>): Promise<void> {
  const names = Object.keys(row);
  const values = Object.values(row).map((value) => {
    if (value === 'stuck' || value === 'fresh')
      return database.engine === 'postgres'
        ? `now() at time zone 'UTC' - interval '${value === 'stuck' ? 61 : 5} seconds'`
        : `utc_timestamp() - interval ${value === 'stuck' ? 61 : 5} second`;
    return typeof value === 'object' ? `'${JSON.stringify(value)}'` : `'${String(value)}'`;
  });
  await database.query(`insert into ${name} (${names.join(', ')}) values (${values.join(', ')})`);
}

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const postgres = engine === 'postgres';
  const text = (path: string): string => (postgres ? `body ->> '${path}'` : `json_value(body, '$.${path}')`);
  const object = (name: string, value: string): string =>
    postgres ? `jsonb_build_object('${name}', ${value})` : `json_object('${name}', ${value})`;
  const database = useTestDatabaseOf(engine, async (own) => {
    const { query } = own;
    const generated = postgres ? '' : `, order_no varchar(64) as (${text('no')}) stored, key by_no (order_no)`;
    await query(table(engine, 'keyed', generated));
    if (postgres) await query(`create index by_no on keyed ((${text('no')}))`);
    await query('create index by_dedup on keyed (dedup)');
    await query('create index by_order on keyed (order_id)');
    await query(filled(engine, 'keyed', LARGE_ROWS, object('no', 'n')));
    for (const name of ['small', 'keyed_dead', 'removing']) await query(table(engine, name));
    for (const name of ['large', 'endless']) {
      await query(table(engine, name));
      await query(`create index by_${name} on ${name} (made)`);
      await query(filled(engine, name, name === 'large' ? LARGE_ROWS : ENDLESS_ROWS, object('no', 'n')));
    }
    for (const [id, status, more] of [
      ['e1', 'published', {}],
      ['e2', 'pending', {}],
      ['e3', 'retrying', {}],
      ['e4', 'processing', { claimed: 'stuck' }],
      ['e5', 'processing', { claimed: 'fresh' }],
      ['e6', 'odd', {}],
    ] as const)
      await insert(own, 'keyed', { id, order_id: 'order-7', status, dedup: `of-${id}`, ...more });
    // Older than what a search of the endless one gets to.
    await insert(own, 'large', { id: 'old', order_id: 'order-old', status: 'dead', made: '2020-01-01 00:00:00' });
    await insert(own, 'keyed_dead', { id: 'x1', order_id: 'order-8', status: 'dead' });
    await insert(own, 'keyed', { id: 'j1', status: 'pending', body: { no: 'nr-5', deep: { er: ['a', 'nr-6'] } } });
    await insert(own, 'small', { id: 's1', status: 'pending', order_id: 'order-9', body: { no: 'nr-5' } });
    for (let index = 0; index < 25; index += 1)
      await insert(own, 'keyed', { id: `m${index}`, order_id: 'many', status: index === 0 ? 'dead' : 'published' });
    await query(`insert into keyed (id, order_id, status) select concat('w', id), 'crowd', 'published' from large where id < 'large-20'`);
    for (const name of ['keyed', 'small', 'large', 'endless', 'keyed_dead', 'removing'])
      await query(`analyze ${postgres ? '' : 'table '}${name}`);
  });

  const opened: { close: () => Promise<void> }[] = [];
  afterAll(() => Promise.all(opened.map((one) => one.close())));
  const WITH_DEAD = { table: 'keyed_dead', columns: COLUMNS } as unknown as Shape['dead'];

  function finder(own: readonly (Partial<OutboxSettings> & { away?: boolean })[], url = database.url) {
    const directory = createDirectory({
      databases: [
        { id: 'here', url },
        // Nobody listens there.
        { id: 'away', url: database.url.replace(/:\d+\//, ':1/') },
      ],
      outboxes: own.map(({ away = false, ...over }) => ({
        ...settingsFor(over.shape ?? shape(engine), { id: String(over.table), inline: true, ...over }),
        database: away ? 'away' : 'here',
      })),
    });
    opened.push(directory);
    const fates = createKeyFates(directory);
    return (key: string, over: Partial<KeySearch> = {}) =>
      fates.find({ key, as: 'operator', outboxes: directory.ids, hidden: () => new Set(), shown: async (_, events) => events, ...over });
  }
  const told = ({ events, searched, more, why }: FoundIn) => ({
    events: events.map(({ id, fate }) => `${id} ${fate}`),
    ...(searched?.complete === false ? { complete: false } : {}),
    ...(more ? { more } : {}),
    ...(why === null ? {} : { why }),
  });

  test('its events are found by id, dedup key and aggregate id through indexes, each with what became of it, the worst first', async () => {
    const find = finder([{ table: 'keyed' }]);
    const { fate, outboxes, ...rest } = await find('order-7');
    expect(outboxes.map(told)).toEqual([{ events: ['e6 not_known', 'e4 stuck', 'e3 retrying', 'e5 waiting', 'e2 waiting', 'e1 out'] }]);
    expect(outboxes[0]?.searched).toEqual({ rows: 6, backTo: null, complete: true });
    // The one in no known state could be dead.
    expect(fate).toBe('not_known');
    expect(rest).toEqual({ key: 'order-7', asOf: expect.stringMatching(/^20.*Z$/) as string });
    expect(await find('of-e3')).toMatchObject({ fate: 'retrying', outboxes: [{ events: [{ id: 'e3', aggregateId: 'order-7' }] }] });
    expect(await find(' e4 ')).toMatchObject({ fate: 'stuck', outboxes: [{ events: [{ id: 'e4' }] }] });
    expect(await find('e5')).toMatchObject({ fate: 'waiting' });
    expect(await find('e1')).toMatchObject({ fate: 'out' });
    expect(await find('no such key')).toMatchObject({ fate: 'none', outboxes: [{ events: [], why: null }] });
    expect(await find('E1')).toMatchObject({ fate: 'none' });
  });

  test('it is looked for in the dead-letter table and the archive too', async () => {
    const find = finder([{ table: 'keyed', shape: shape(engine, { dead: WITH_DEAD }) }]);
    const found = await find('order-8');
    expect(found.outboxes.map(told)).toEqual([{ events: ['x1 dead'] }]);
    expect(found.fate).toBe('dead');
  });

  test('a configured path leads to it by an index on that very value, else in small tables', async () => {
    const keys = ['payload.no', 'payload.deep.er[1]'];
    const found = await finder([{ table: 'keyed', keys: keys.slice(0, 1) }, { table: 'small', keys }, { table: 'large' }])('nr-5');
    expect(found.outboxes.map(({ outbox }) => outbox)).toEqual(['keyed', 'small', 'large']);
    expect(found.outboxes.map(told)).toEqual([{ events: ['j1 waiting'] }, { events: ['s1 waiting'] }, { events: [] }]);
    // The index was used: nothing was searched.
    expect(found.outboxes[0]?.searched?.rows).toBe(1);
    expect((await finder([{ table: 'keyed', keys: ['payload.no'] }])('77')).outboxes[0]).toMatchObject({
      events: [{ id: 'keyed-77' }],
      searched: { rows: 1 },
    });
    expect((await finder([{ table: 'keyed', keys }])('nr-6')).outboxes.map(told)).toEqual([{ events: ['j1 waiting'] }]);
  });

  test('without an index it is searched as lists are, once for all who ask, and states are fresh all the same', async () => {
    const line = await overCountingLine(database);
    opened.push(line);
    const find = finder([{ table: 'large', keys: ['payload.no'] }, { table: 'endless' }], line.url);
    // A busy machine takes its time.
    const first = await vi.waitFor(
      async () => {
        const asked = await find('o29999', { as: String(Math.random()) });
        expect(asked.outboxes.map(({ why }) => why)).toEqual([null, null]);
        return asked;
      },
      { timeout: PATIENCE_MS, interval: 500 },
    );
    expect(first.outboxes.map(told)).toEqual([{ events: ['large-29999 out'] }, { events: [], complete: false }]);
    expect(first.outboxes.map(({ searched }) => searched?.rows)).toEqual([expect.any(Number), 100_000]);
    expect(first.outboxes[1]?.searched?.backTo).toMatch(/^20/);
    // What was found counts; where nothing was, what was not looked at may have it.
    expect(first.fate).toBe('out');
    expect((await find('o29999', { outboxes: ['endless'] })).fate).toBe('not_known');

    await database.query(`update large set status = 'retrying' where id = 'large-29999'`);
    line.heard();
    const again = await find('o29999', { as: 'b' });
    expect(again.outboxes.map(told)).toEqual([{ events: ['large-29999 retrying'] }, { events: [], complete: false }]);
    // One statement an outbox, and one for what it found: no search.
    expect(line.heard()).toHaveLength(3);
  });

  test('what one table tells is not cut where the search of another one ends', async () => {
    const dead = { table: 'large', columns: COLUMNS } as unknown as Shape['dead'];
    const find = finder([{ table: 'endless', shape: shape(engine, { dead }) }]);
    const found = await vi.waitFor(
      async () => {
        const asked = await find('order-old', { as: String(Math.random()) });
        expect(asked.outboxes.map(({ why }) => why)).toEqual([null]);
        return asked;
      },
      { timeout: PATIENCE_MS, interval: 500 },
    );
    expect(found.outboxes.map(told)).toEqual([{ events: ['old dead'], complete: false }]);
    expect(found.fate).toBe('dead');
    expect(found.asOf <= new Date().toISOString()).toBe(true);
  });

  test('where what is published is deleted, nothing found says that', async () => {
    const removing = shape(engine, { states: [{ state: 'pending', when: { always: true } }] as unknown as Shape['states'] });
    const found = await finder([{ table: 'removing', shape: removing }])('order-7');
    expect(found).toMatchObject({ fate: 'none', outboxes: [{ events: [], why: 'removed', searched: { complete: true } }] });
  });

  test('20 of many are shown, the worst among them, and that there are more; of very many not all are looked at', async () => {
    const find = finder([{ table: 'keyed' }]);
    const many = await find('many');
    expect(many.outboxes[0]?.events).toHaveLength(20);
    expect(many).toMatchObject({ fate: 'dead', outboxes: [{ more: true, searched: { complete: true } }] });
    expect(many.outboxes[0]?.events[0]?.id).toBe('m0');
    const crowd = await find('crowd');
    expect(crowd).toMatchObject({ fate: 'not_known', outboxes: [{ more: true, searched: { complete: false } }] });
  });

  test('a hidden field is not searched, an outbox that cannot be read is named, and both leave the fate open', async () => {
    const find = finder([{ table: 'keyed' }, { table: 'gone' }, { id: 'off', table: 'keyed', away: true }]);
    const asked = await find('order-7', { hidden: () => new Set(['aggregateId']), as: 'viewer' });
    expect(Object.fromEntries(asked.outboxes.map((one) => [one.outbox, told(one)]))).toEqual({
      keyed: { events: [], why: 'hidden' },
      gone: { events: [], why: 'unavailable' },
      off: { events: [], why: 'unavailable' },
    });
    expect(asked.fate).toBe('not_known');
    expect((await find('e1')).fate).toBe('not_known');
    // Nothing is worse than dead.
    expect((await find('m0')).fate).toBe('dead');
    expect((await find('e1', { outboxes: ['keyed'] })).fate).toBe('out');
  });
});
