import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import { describe, expect, it } from 'vitest';
import { numbersTo, useTestMysql } from '@/scripts/testing/mysql';
import { Problem } from '@/lib/shared/problems';
import { openDatabase, type Database } from '../database';
import type { TransactionLimits } from '../engine';

/** MySQL's sleep wakes up and calls it a success: this works instead, on ten billion rows. */
const TEN_BILLION = `select sum(a.n * b.n) as v from ${numbersTo(100_000, 'a')} cross join ${numbersTo(100_000, 'b')}`;

describe('an observed MySQL or MariaDB database', () => {
  const database = useTestMysql(async (db) => {
    await db.query('CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL DEFAULT 0) ENGINE=InnoDB');
  });

  const withDatabase = async (work: (db: Database) => Promise<void>): Promise<void> => {
    const db = openDatabase({ id: 'test', url: database.url, operatorUrl: database.url });
    try {
      await work(db);
    } finally {
      await db.close();
    }
  };
  const read = async <T>(db: Database, statement: RawBuilder<T>, limits?: Partial<TransactionLimits>): Promise<T[]> =>
    (await db.read((one) => statement.execute(one), limits)).rows;

  it('cancels a slow statement and says so, and the next is served', async () => {
    await withDatabase(async (db) => {
      await expect(read(db, sql.raw(TEN_BILLION), { statementMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
      expect(await read(db, sql`select 'served' as answer`)).toEqual([{ answer: 'served' }]);
    });
  });

  it('ends a slow change over a second connection where the server’s own limit does not, and nothing of it remains', async () => {
    await withDatabase(async (db) => {
      await database.query('INSERT INTO t VALUES (1, 0)');
      const started = Date.now();
      const slow = db.write?.(
        async (write) => {
          // MySQL limits no change by itself.
          if (database.mariadb) await sql`set session max_statement_time = 0`.execute(write);
          await sql`update t set v = 1 where id = 1 and sleep(5) = 0`.execute(write);
        },
        { statementMs: 100 },
      );
      await expect(slow).rejects.toMatchObject({ code: 'timeout' });
      expect(Date.now() - started, 'before it would have ended by itself').toBeLessThan(4_800);
      expect(await database.query('SELECT v FROM t WHERE id = 1')).toEqual([{ v: 0 }]);
      await db.write?.((write) => sql`update t set v = 2 where id = 1`.execute(write));
      expect(await database.query('SELECT v FROM t WHERE id = 1')).toEqual([{ v: 2 }]);
    });
  });

  it('a change whose statement somebody else ends has timed out too, and nothing of it remains', async () => {
    await withDatabase(async (db) => {
      await database.query('INSERT INTO t VALUES (3, 0), (4, 0)');
      const change = db.write?.(async (write) => {
        await sql`update t set v = 1 where id = 3`.execute(write);
        await sql`update t set v = 1 where id = 4 and sleep(5) = 0`.execute(write);
      });
      const ended = expect(change).rejects.toMatchObject({ code: 'timeout', state: '1317' });
      const running = async (): Promise<{ id: string }[]> =>
        database.query(`SELECT id AS id FROM information_schema.processlist WHERE info LIKE 'update t set v = 1 where id = 4%'`);
      await expect.poll(async () => (await running()).length, { interval: 20 }).toBe(1);
      for (const { id } of await running()) await database.query(`KILL QUERY ${id}`);
      await ended;
      expect(await database.query('SELECT v FROM t WHERE id IN (3, 4)')).toEqual([{ v: 0 }, { v: 0 }]);
    });
  });

  it('a change that rests for longer than it may is ended by the server, its locks with it, and a session between two is not', async () => {
    await withDatabase(async (db) => {
      await database.query('INSERT INTO t VALUES (5, 0)');
      const rested = db.write?.(
        async (write) => {
          await sql`update t set v = 1 where id = 5`.execute(write);
          await sleep(2_500);
          await sql`select 1`.execute(write);
        },
        { idleMs: 1_000 },
      );
      await expect(rested).rejects.toMatchObject({ code: 'connection' });
      expect(await database.query('SELECT v FROM t WHERE id = 5 FOR UPDATE NOWAIT')).toEqual([{ v: 0 }]);
      const session = (): Promise<unknown> =>
        Promise.resolve(db.write?.(async (write) => (await sql`select connection_id() as id`.execute(write)).rows, { idleMs: 1_000 }));
      const before = await session();
      await sleep(2_500);
      expect(await session()).toEqual(before);
    });
  });

  it('waits for a lock no longer than it was told, and says that it is locked', async () => {
    await withDatabase(async (db) => {
      await database.query('INSERT IGNORE INTO t VALUES (2, 0)');
      await db.write?.(async (holder) => {
        await sql`select * from t where id = 2 for update`.execute(holder);
        const other = db.write?.((write) => sql`update t set v = 9 where id = 2`.execute(write), { lockMs: 500 });
        await expect(other).rejects.toMatchObject({ code: 'locked' });
      });
    });
  });

  it('reads in a read-only transaction, whatever its user may do', async () => {
    await withDatabase(async (db) => {
      await expect(read(db, sql`insert into t values (7, 7)`)).rejects.toMatchObject({ code: 'read_only' });
    });
  });

  it('of one statement costs that statement, in a session that only reads, and is over with it', async () => {
    await withDatabase(async (db) => {
      const alone = { alone: true };
      const asked = sql<{ VARIABLE_VALUE: string }>`select variable_value as VARIABLE_VALUE
        from ${sql.raw(database.mariadb ? 'information_schema' : 'performance_schema')}.session_status where variable_name = 'Questions'`;
      const count = async (): Promise<number> => Number((await read(db, asked, alone))[0]?.VARIABLE_VALUE);
      await read(db, sql`select 1`);
      await count();
      const before = await count();
      expect((await count()) - before).toBe(1);
      // Versions compare with one moment, told once.
      const now = await db.read(async (one) => {
        const moment = sql<{ now: string }>`select cast(@outbox_console_now as char) as now`;
        const [first, second] = [await moment.execute(one), await moment.execute(one)];
        return [first.rows[0]?.now, second.rows[0]?.now];
      });
      expect(now[0]).toMatch(/^\d{4}-/);
      expect(now[1]).toBe(now[0]);
      await expect(read(db, sql`insert into t values (8, 8)`, alone)).rejects.toMatchObject({ code: 'read_only' });
      await expect(read(db, sql.raw(TEN_BILLION), { ...alone, statementMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
      const two = db.read(async (one) => {
        await sql`select 1`.execute(one);
        await sql`select 2`.execute(one);
      }, alone);
      await expect(two).rejects.toThrow('one statement');
      expect(await read(db, sql`select 'served' as answer`, alone)).toEqual([{ answer: 'served' }]);
      await expect(read(db, sql`insert into t values (8, 8)`)).rejects.toMatchObject({ code: 'read_only' });
    });
  });

  it('asks the server what it is once, and sets up each other connection in one statement', async () => {
    await withDatabase(async (db) => {
      const isolation = sql.raw<{ level: string; n: string }>(
        `select @@session.${database.mariadb ? 'tx' : 'transaction'}_isolation as level, variable_value as n
         from ${database.mariadb ? 'information_schema' : 'performance_schema'}.session_status where variable_name = 'Questions'`,
      );
      await read(db, sql`select 1`);
      const held = db.read(async (one) => {
        // The other one is taken; this is of a connection that knows: it is set up, told its limits, and asked.
        const [row] = await read(db, isolation, { alone: true });
        await sql`select 1`.execute(one);
        return row;
      });
      expect(await held).toEqual({ level: 'READ-COMMITTED', n: '3' });
    });
  });

  it('reads what is committed while it runs: read committed, in UTC, strictly', async () => {
    await withDatabase(async (db) => {
      const [row] = await read<{ zone: string; mode: string }>(db, sql`select @@time_zone as zone, @@sql_mode as mode`);
      expect(row?.zone).toBe('+00:00');
      expect(row?.mode).toContain('STRICT_ALL_TABLES');
      await db.read(async (one) => {
        const seen = async (): Promise<unknown> => (await sql`select count(*) as n from t where id = 50`.execute(one)).rows;
        expect(await seen()).toEqual([{ n: '0' }]);
        await database.query('INSERT INTO t VALUES (50, 0)');
        expect(await seen()).toEqual([{ n: '1' }]);
      });
    });
  });

  it('names itself, and keeps reader and operator apart', async () => {
    await withDatabase(async (db) => {
      const name = sql<{ name: string }>`select attr_value as name from performance_schema.session_connect_attrs
        where processlist_id = connection_id() and attr_name = 'program_name'`;
      expect((await read(db, name))[0]?.name).toMatch(/^outbox-console\/reader@/);
      expect((await db.write?.((write) => name.execute(write)))?.rows[0]?.name).toMatch(/^outbox-console\/operator@/);
    });
  });

  it('survives the end of a connection in use and of one at rest', async () => {
    await withDatabase(async (db) => {
      const own = await read<{ id: string }>(db, sql`select connection_id() as id`);
      const slow = read(db, sql`select sleep(30)`, { statementMs: 40_000 });
      slow.catch(() => undefined);
      const connections = async (): Promise<{ id: string }[]> =>
        database.query(`SELECT id AS id FROM information_schema.processlist WHERE info LIKE 'select sleep(30)%'`);
      await expect.poll(async () => (await connections()).length, { interval: 20 }).toBe(1);
      for (const { id } of await connections()) await database.query(`KILL ${id}`);
      await expect(slow).rejects.toMatchObject({ code: 'connection' });
      await read(db, sql`select 1`);
      for (const { id } of own) await database.query(`KILL ${id}`).catch(() => undefined);
      await expect
        .poll(
          () =>
            read(db, sql`select 1`).then(
              () => 'fine',
              () => 'not yet',
            ),
          { interval: 20 },
        )
        .toBe('fine');
    });
  });

  it('fails fast when nobody listens, and for a password that is wrong', async () => {
    const away = openDatabase({ id: 'test', url: 'mariadb://nobody:x@127.0.0.1:1/none' });
    await expect(read(away, sql`select 1`)).rejects.toMatchObject({ code: 'connection' });
    await away.close();
    const refused = openDatabase({ id: 'test', url: database.urlFor('tester', 'wrong') });
    await expect(read(refused, sql`select 1`)).rejects.toMatchObject({ code: 'connection', state: '1045' });
    await refused.close();
  });

  it('passes problems and bugs of ours as they are', async () => {
    await withDatabase(async (db) => {
      await expect(db.read(() => Promise.reject(new Problem('conflict', 'ours')))).rejects.toMatchObject({ code: 'conflict' });
      await expect(db.read(() => Promise.reject(new TypeError('a bug')))).rejects.toBeInstanceOf(TypeError);
    });
  });

  it('knows what the server is and whether it refuses writes', async () => {
    await withDatabase(async (db) => {
      expect(await db.read((one) => db.engine.isReadOnly(one))).toBe(false);
    });
  });
});
