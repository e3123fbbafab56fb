import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { holdAutovacuum } from '@/scripts/testing/autovacuum';
import { useTestDatabase } from '@/scripts/testing/database';
import { Problem } from '@/lib/shared/problems';
import { openDatabase } from './database';

describe('an observed database', () => {
  const database = useTestDatabase(async (db) => {
    await db.query('CREATE TABLE t (id int PRIMARY KEY)');
  });

  it('cancels a slow statement and says so, and the connection serves the next', async () => {
    const db = openDatabase({ id: 'test', url: database.url });
    await expect(db.read((read) => sql`select pg_sleep(5)`.execute(read), { statementMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
    expect((await db.read((read) => sql<{ one: number }>`select 1 as one`.execute(read))).rows).toEqual([{ one: 1 }]);
    await db.close();
  });

  it('reads in a read-only transaction, whatever its role may do', async () => {
    const db = openDatabase({ id: 'test', url: database.url });
    await expect(db.read((read) => sql`insert into t values (1)`.execute(read))).rejects.toMatchObject({ code: 'read_only' });
    await db.close();
  });

  it('knows about how many rows a table has, its partitions together, and says of a view that nobody can tell', async () => {
    await database.query(`CREATE TABLE counted AS SELECT generate_series(1, 5000) AS id; CREATE TABLE uncounted (id) WITH (autovacuum_enabled = off) AS SELECT generate_series(1, 5000);
      CREATE TABLE parted (id int) PARTITION BY RANGE (id); CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (1000); CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (1000) TO (10000);
      INSERT INTO parted SELECT generate_series(1, 5000); CREATE VIEW seen AS SELECT * FROM counted; ANALYZE counted, parted`);
    const db = openDatabase({ id: 'test', url: database.url });
    const rows = async (table: string): Promise<number | null | undefined> =>
      (await db.read((read) => db.engine.describe(read, { schema: null, table })))?.estimatedRows;
    expect(await rows('counted')).toBeCloseTo(5_000, -1);
    expect(await rows('parted')).toBeCloseTo(5_000, -1);
    expect(await rows('uncounted')).toBeGreaterThan(1_000);
    expect(await rows('seen')).toBeNull();
    await db.close();
  });

  it('names who else is connected to it, to a role without rights too', async () => {
    await database.query('drop role if exists looks_on; create role looks_on login password $$looks$$');
    const db = openDatabase({ id: 'test', url: database.urlFor('looks_on', 'looks') });
    const relays = [1, 2].map(() => new pg.Client({ connectionString: database.url, application_name: 'shop-relay' }));
    await Promise.all(relays.map((relay) => relay.connect()));
    const autovacuum = await holdAutovacuum(database);
    const others = (): Promise<{ name: string; count: number }[] | null> => db.read((read) => db.engine.otherSessions(read));
    expect(await others()).toContainEqual({ name: 'shop-relay', count: 2 });
    expect((await others())?.filter(({ name }) => name === '' || name.startsWith('outbox-console'))).toEqual([]);
    await autovacuum.end();
    await Promise.all(relays.map((relay) => relay.end()));
    await db.close();
    await database.query('drop role looks_on');
  });

  it('names itself, and keeps reader and operator apart', async () => {
    const db = openDatabase({ id: 'test', url: database.url, operatorUrl: database.url });
    const name = sql<{ name: string }>`select current_setting('application_name') as name`;
    expect((await db.read((read) => name.execute(read))).rows[0]?.name).toMatch(/^outbox-console\/reader@/);
    expect((await db.write?.((write) => name.execute(write)))?.rows[0]?.name).toMatch(/^outbox-console\/operator@/);
    await db.close();
  });

  it('survives the end of a connection in use and of one at rest', async () => {
    const db = openDatabase({ id: 'test', url: database.url });
    const slow = db.read((read) => sql`select pg_sleep(30)`.execute(read), { statementMs: 40_000 });
    slow.catch(() => undefined);
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'outbox-console/%'`;
    await expect.poll(async () => (await database.query(kill)).length, { interval: 20 }).toBeGreaterThan(0);
    await expect(slow).rejects.toMatchObject({ code: 'connection' });
    await db.read((read) => sql`select 1`.execute(read));
    await database.query(kill);
    await expect
      .poll(
        async () =>
          db
            .read((read) => sql`select 1`.execute(read))
            .then(
              () => 'fine',
              () => 'not yet',
            ),
        { interval: 20 },
      )
      .toBe('fine');
    await db.close();
  });

  it('passes problems and bugs of ours as they are', async () => {
    const db = openDatabase({ id: 'test', url: database.url });
    await expect(db.read(() => Promise.reject(new Problem('conflict', 'ours')))).rejects.toMatchObject({ code: 'conflict' });
    await expect(db.read(() => Promise.reject(new TypeError('a bug')))).rejects.toBeInstanceOf(TypeError);
    await db.close();
  });

  it('fails fast when nobody listens', async () => {
    const db = openDatabase({ id: 'test', url: 'postgres://nobody:x@127.0.0.1:1/none' });
    await expect(db.read((read) => sql`select 1`.execute(read))).rejects.toMatchObject({ code: 'connection' });
    expect(() => openDatabase({ id: 'test', url: 'oracle://x' })).toThrow(Problem);
    await db.close();
  });
});
