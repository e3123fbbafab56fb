/** The names an index cannot have are looked up among those that begin alike, however many others the catalogue holds. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openDatabase, type Database } from '../database';

const TABLES = ['outbox_events', 'a_%x\\y_begun', 'zzzzzzzzzzzz', '주문이벤트아웃박스테이블이다', 'zebra\u{10ffff}', 'short'];
/** Names after all of the above, and before some. */
const OTHERS = 2_000;

const database = useTestDatabase(async (db) => {
  for (const table of TABLES) {
    const beginning = [...table].slice(0, 12).join('');
    await db.query(`CREATE TABLE "${table}" (id int PRIMARY KEY)`);
    await db.query(`CREATE SEQUENCE "${beginning}"`).catch(() => db.query(`CREATE SEQUENCE "${beginning}_s"`));
    await db.query(`CREATE SEQUENCE "${beginning}\u{10ffff}~"`);
    await db.query(`CREATE SEQUENCE "${[...beginning].slice(0, -1).join('')}é"`);
  }
  await db.query('CREATE TABLE a_bcx_y_begun (id int)');
  await db.query(
    `DO $$ BEGIN FOR i IN 1..${OTHERS} LOOP EXECUTE format('CREATE TYPE pile_%s AS ()', i); EXECUTE format('CREATE TYPE "|pile_%s" AS ()', i); END LOOP; END $$`,
  );
});
let opened: Database;
beforeAll(() => {
  opened = openDatabase({ id: 'test', url: database.url });
});
afterAll(() => opened.close());

it.each(TABLES)('of %s', async (table) => {
  const { found, entries } = await opened.read(async (db) => {
    const read = sql<{ n: string }>`select pg_stat_get_xact_tuples_returned('pg_class_relname_nsp_index'::regclass) as n`;
    const before = Number((await read.execute(db)).rows[0]?.n);
    const described = await opened.engine.describe(db, { schema: null, table });
    return { found: described?.namesakes, entries: Number((await read.execute(db)).rows[0]?.n) - before };
  });
  const beginning = [...table].slice(0, 12).join('');
  const expected = await database.query<{ relname: string }>(
    'SELECT relname FROM pg_class WHERE starts_with(relname, $1) ORDER BY relname',
    [beginning],
  );
  expect(found).toEqual(expected.map(({ relname }) => relname));
  expect(found?.length).toBeGreaterThanOrEqual(4);
  expect(entries).toBeLessThan(100);
});
