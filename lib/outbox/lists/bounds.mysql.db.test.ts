/** What a page of a list takes on MySQL and MariaDB, where a column that is NULL leads the index: the rows of the page, not all that wait. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { settingsFor } from '@/scripts/testing/outbox';
import { numbersTo, useTestMysql } from '@/scripts/testing/mysql';
import { bindOutbox } from '../bind';
import { listEvents } from './list-events';
import { SEARCH_ROWS } from './walks';
import type { Outbox } from '../outbox';
import type { Shape } from '@/lib/shape/shape';
import { KEYED, KEYED_ROWS as ROWS, KEYED_WAITING as WAITING } from '@/fixtures/keyed-table';

/** What failed has no index: rows are tried as they lie in the table. */
const FAILING: Shape = {
  ...KEYED,
  table: 'failing',
  states: [{ state: 'dead', when: { kind: 'equals', column: 'failed', equals: true } }, ...KEYED.states],
};
/** Where the only one lies. */
const FAILED = 60_000;

const database = useTestMysql(async ({ query }) => {
  await query(
    `create table keyed (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, key (sent, made))`,
  );
  await query(
    `insert into keyed select uuid(), if(n % 2, 'odd', 'even'), utc_timestamp(6) - interval (${ROWS} - n) second,
      if(n > ${ROWS} - ${WAITING}, null, utc_timestamp(6) - interval (${ROWS} - n) second) from ${numbersTo(ROWS, 'numbers')}`,
  );
  await query('analyze table keyed');
  await query(
    'create table failing (id char(36) primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, failed boolean not null, key (sent, made))',
  );
  await query(
    `insert into failing select lpad(n, 36, '0'), 'any', utc_timestamp(6), if(n % 5, utc_timestamp(6), null), n = ${FAILED} from ${numbersTo(ROWS, 'numbers')}`,
  );
  await query('analyze table failing');
});

let opened: Database;
let outbox: Outbox;
let failing: Outbox;
/** Rows that the storage engine handed over since the last test began. */
let handedOver = 0;
beforeAll(async () => {
  opened = openDatabase({ id: 'test', url: database.url });
  const counted: Database = {
    ...opened,
    read: (work, limits) =>
      opened.read(async (db) => {
        const handlers = async (): Promise<number> => {
          const { rows } = await sql<{ Value: string }>`show session status like 'Handler_read%'`.execute(db);
          return rows.reduce((sum, { Value: value }) => sum + Number(value), 0);
        };
        const before = await handlers();
        const answer = await work(db);
        handedOver += (await handlers()) - before;
        return answer;
      }, limits),
  };
  outbox = await bindOutbox(settingsFor(KEYED, { inline: true, table: 'keyed' }), counted);
  failing = await bindOutbox(settingsFor(FAILING, { inline: true, table: 'failing' }), counted);
});
afterAll(() => opened.close());

test.each(['newest', 'oldest'] as const)('what waits, %s first: each page takes little more than its own rows', async (order) => {
  let cursor: string | undefined;
  for (let page = 0; page < 3; page += 1) {
    handedOver = 0;
    const found = await listEvents(outbox, { state: ['pending'], order }, { limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    expect(found.events).toHaveLength(50);
    expect(handedOver).toBeLessThan(2_000);
    cursor = found.nextCursor ?? undefined;
  }
});

test.each(['newest', 'oldest'] as const)(
  'every state, %s first: a column of the index between its time and the key sorts nothing but the page',
  async (order) => {
    const way = order === 'newest' ? 'desc' : 'asc';
    const wanted = await database.query<{ id: string }>(`select id from keyed order by coalesce(sent, made) ${way}, id ${way} limit 150`);
    const found: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 3; page += 1) {
      handedOver = 0;
      const { events, nextCursor } = await listEvents(outbox, { order }, { limit: 50, ...(cursor === undefined ? {} : { cursor }) });
      expect(handedOver).toBeLessThan(2_000);
      found.push(...events.map(({ id }) => id));
      cursor = nextCursor ?? undefined;
    }
    expect(found).toEqual(wanted.map(({ id }) => id));
  },
);

test('a frequent type: its page is found near, not in all that a search may look at', async () => {
  const wanted = await database.query<{ id: string }>(
    `select id from keyed where kind = 'odd' order by coalesce(sent, made) desc, id desc limit 150`,
  );
  const found: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 3; page += 1) {
    handedOver = 0;
    const { events, nextCursor } = await listEvents(outbox, { type: ['odd'] }, { limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    expect(handedOver).toBeLessThan(40_000);
    found.push(...events.map(({ id }) => id));
    cursor = nextCursor ?? undefined;
  }
  expect(found).toEqual(wanted.map(({ id }) => id));
});

test('a state that no index serves: as many rows are tried as the page says', async () => {
  const { events, searched } = await listEvents(failing, { state: ['dead'] }, { limit: 50 });
  expect(events.map(({ id }) => id)).toEqual([String(FAILED).padStart(36, '0')]);
  expect(searched).toMatchObject({ rows: SEARCH_ROWS, complete: false });
});
