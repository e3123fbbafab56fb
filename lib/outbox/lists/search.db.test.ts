/** A search in a table too large to be tried whole goes on from where the one before it ended, until it has every row in its order. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { useTestDatabase } from '@/scripts/testing/database';
import { numbersTo, useTestMysql } from '@/scripts/testing/mysql';
import { settingsFor } from '@/scripts/testing/outbox';
import { bindOutbox } from '../bind';
import { listEvents } from './list-events';
import type { Outbox } from '../outbox';
import { KEYED, KEYED_ROWS as ROWS, KEYED_WAITING as WAITING } from '@/fixtures/keyed-table';

/** Rows that came in one transaction, and so at one time: the rows that a search may try end in the middle of some. */
const TOGETHER = 700;

/**
 * `rare` is here and there; `late` once among the published rows, and then only among those that wait; `edge` has the time of
 * the last row that a search of published rows tries, from either end, and comes after it.
 */
const kind = `case when n % 40000 = 7 then 'rare' when n = 150000 or n > ${ROWS - WAITING} and n % 1000 = 0 then 'late'
  when n in (89700, 90000, 100050) then 'edge' else 'other' end`;
const age = `floor((${ROWS} - n) / ${TOGETHER})`;

const ENGINES = {
  PostgreSQL: () =>
    useTestDatabase(async ({ query }) => {
      await query('create table keyed (id int primary key, kind text, made timestamptz not null, sent timestamptz)');
      await query(
        `insert into keyed select n, ${kind}, now() - ${age} * interval '1 second', case when n <= ${ROWS - WAITING} then now() - ${age} * interval '1 second' end from generate_series(1, ${ROWS}) as n`,
      );
      await query('create index on keyed (sent, made)');
      await query('analyze keyed');
    }),
  MySQL: () =>
    useTestMysql(async ({ query }) => {
      await query(
        'create table keyed (id int primary key, kind varchar(40), made datetime(3) not null, sent datetime(3) null, key (sent, made))',
      );
      await query(
        `insert into keyed select n, ${kind}, utc_timestamp(3) - interval ${age} second, if(n <= ${ROWS - WAITING}, utc_timestamp(3) - interval ${age} second, null) from ${numbersTo(ROWS, 'numbers')}`,
      );
      await query('analyze table keyed');
    }),
};

describe.each(Object.entries(ENGINES))('on %s', (_, use) => {
  const database = use();
  let opened: Database;
  let outbox: Outbox;
  beforeAll(async () => {
    opened = openDatabase({ id: 'test', url: database.url });
    outbox = await bindOutbox(settingsFor(KEYED, { inline: true, table: 'keyed' }), opened);
  });
  afterAll(() => opened.close());

  test.each([
    ['rare', 'newest', 2],
    ['rare', 'oldest', 1],
    ['late', 'newest', 10],
    ['late', 'oldest', 10],
    ['edge', 'newest', 10],
    ['edge', 'oldest', 10],
  ] as const)('%s, %s first, pages of %d', async (type, order, limit) => {
    const wanted = await database.query<{ id: number }>(
      `select id from keyed where kind = '${type}' order by id ${order === 'newest' ? 'desc' : 'asc'}`,
    );
    const found: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await listEvents(outbox, { type: [type], order }, { limit, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...page.events.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
      pages += 1;
    } while (cursor !== undefined && pages < 40);
    expect(found).toEqual(wanted.map(({ id }) => String(id)));
    expect(pages).toBeLessThan(40);
  });
});
