/** A server whose every default is against us, and one that is no server at all. */
import { rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { sql, type RawBuilder } from 'kysely';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMariadb, type MariadbServer } from '@/scripts/testing/mariadb';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { openDatabase, type Database } from '../database';
import type { ColumnDescription } from '../description';
import { mysqlEngine } from './engine';
import { serverOf } from './server';

const { fragments } = mysqlEngine;

/** What an administrator may have set, and a session begins with. */
const HOSTILE = [
  "time_zone = '+09:00'",
  "sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
  "init_connect = 'SET NAMES latin1'",
  'autocommit = 0',
  'sql_safe_updates = 1',
  'sql_select_limit = 2',
  'sql_big_selects = 0',
  'max_join_size = 1',
  'sql_auto_is_null = 1',
];

describe('a server whose defaults are against us', () => {
  let dir: string;
  let server: MariadbServer;
  let db: Database;
  beforeAll(async () => {
    dir = makeDataFolder('oc-hostile-');
    server = await startMariadb(dir);
    const root = await mysql.createConnection({ uri: server.url });
    for (const statement of [
      'CREATE DATABASE shop CHARACTER SET latin1',
      // Who may do everything is spared `init_connect`.
      "CREATE USER 'plain'@'127.0.0.1' IDENTIFIED BY 'plain'",
      "GRANT ALL ON shop.* TO 'plain'@'127.0.0.1'",
      'CREATE TABLE shop.t (id int AUTO_INCREMENT PRIMARY KEY, v varchar(40) CHARACTER SET utf8mb4, ts timestamp(3) NULL, wall datetime(3))',
      "INSERT INTO shop.t VALUES (1, 'a', '2026-01-01 00:00:00', '2026-01-01 09:00:00'), (2, 'b', NULL, NULL), (3, 'c', NULL, NULL)",
      ...HOSTILE.map((setting) => `SET GLOBAL ${setting}`),
    ])
      await root.query(statement);
    await root.end();
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = ['plain', 'plain', '/shop'];
    db = openDatabase({ id: 'test', url: url.href, operatorUrl: url.href });
  });
  afterAll(async () => {
    await db.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const read = async (statement: RawBuilder<unknown>): Promise<unknown[]> => (await db.read((one) => statement.execute(one))).rows;
  const column = async (name: string): Promise<ColumnDescription> => {
    const table = await db.read((one) => db.engine.describe(one, { schema: null, table: 't' }));
    const found = table?.columns.get(name);
    if (found === undefined) throw new Error(`no column ${name}`);
    return found;
  };

  it('times are UTC, whatever zone it is in', async () => {
    const [ts, wall] = [await column('ts'), await column('wall')];
    expect(
      await read(
        sql`select ${fragments.isoTime(sql.id('ts'), ts, 'Asia/Seoul')} as ts, ${fragments.isoTime(sql.id('wall'), wall, 'Asia/Seoul')} as wall from t where id = 1`,
      ),
    ).toEqual([{ ts: '2026-01-01T00:00:00.000000Z', wall: '2026-01-01T00:00:00.000000Z' }]);
    const [now] = (await read(sql`select ${fragments.nowIso()} as at`)) as { at: string }[];
    expect(Math.abs(Date.parse(now?.at ?? '') - Date.now())).toBeLessThan(60_000);
  });

  it('quotes and backslashes mean what they mean here', async () => {
    const hostile = `a "b" 'c' \\ || d`;
    expect(await read(sql`select ${sql.lit(hostile)} as l, ${hostile} as v`)).toEqual([{ l: hostile, v: hostile }]);
    expect(await read(sql.raw(`select ${mysqlEngine.quote.literal(hostile)} as v, "text" as t`))).toEqual([{ v: hostile, t: 'text' }]);
  });

  it('every letter arrives, both ways', async () => {
    await db.write?.((write) => sql`update t set v = ${'한국어 🚚 ñ'} where id = 2`.execute(write));
    expect(await read(sql`select v, hex(v) as x from t where id = 2`)).toEqual([
      { v: '한국어 🚚 ñ', x: Buffer.from('한국어 🚚 ñ').toString('hex').toUpperCase() },
    ]);
  });

  it('no list is cut, and no row comes for an id that is nobody’s', async () => {
    expect(await read(sql`select id from t order by id`)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    const found = await db.write?.(async (write) => {
      await sql`insert into t (v) values ('new')`.execute(write);
      const { rows } = await sql`select id from t where id is null`.execute(write);
      await sql`delete from t where id > 3`.execute(write);
      return rows;
    });
    expect(found).toEqual([]);
  });

  it('a change without a key is carried out, and what was committed is there', async () => {
    const changed = await db.write?.((write) => sql`update t set wall = ${'2026-02-02 00:00:00'} where v = 'c'`.execute(write));
    expect(changed?.numAffectedRows).toBe(1n);
    const [row] = await read(sql`select cast(wall as char) as wall from t where id = 3`);
    expect(row).toEqual({ wall: '2026-02-02 00:00:00.000' });
  });

  it('a zero date is carried along, and the session ends by itself when nobody uses it', async () => {
    await db.write?.((write) => sql`update t set wall = '0000-00-00 00:00:00' where id = 3`.execute(write));
    expect(await read(sql`select ${fragments.isoTime(sql.id('wall'), await column('wall'), 'UTC')} as wall from t where id = 3`)).toEqual([
      { wall: null },
    ]);
    // In a transaction MySQL has the transaction's limit there, having no other place for it.
    const { mariadb } = await db.read(serverOf);
    expect(await read(sql`select @@session.wait_timeout as s`)).toEqual([{ s: mariadb ? '60' : '10' }]);
  });
});

describe('a server that asks for a file', () => {
  /** A greeting, a welcome, and to every statement the wish for a file. */
  const packet = (sequence: number, body: Buffer): Buffer =>
    Buffer.concat([Buffer.from([body.length & 255, body.length >> 8, 0, sequence]), body]);
  const GREETING = Buffer.concat([
    Buffer.from([10]),
    Buffer.from('8.0.36\0'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('abcdefgh\0'),
    Buffer.from([0xff, 0xf7, 45, 2, 0, 0xff, 0xdf, 21]),
    Buffer.alloc(10),
    Buffer.from('ijklmnopqrst\0'),
    Buffer.from('mysql_native_password\0'),
  ]);
  const lengthOf = (data: Buffer): number => (data.length < 4 ? 4 : data.readUIntLE(0, 3) + 4);
  const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

  it('gets none, and is told at the beginning that it will not', async () => {
    const said: Buffer[] = [];
    const dir = makeDataFolder('oc-wanted-');
    const file = path.join(dir, 'file');
    await writeFile(file, 'nobody’s business');
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write(packet(0, GREETING));
      let rest = Buffer.alloc(0);
      socket.on('data', (data) => {
        rest = Buffer.concat([rest, data]);
        for (let length = lengthOf(rest); rest.length >= length; length = lengthOf(rest)) {
          const sequence = (rest[3] ?? 0) + 1;
          said.push(rest.subarray(0, length));
          rest = rest.subarray(length);
          socket.write(packet(sequence, said.length === 1 ? OK : Buffer.concat([Buffer.from([0xfb]), Buffer.from(file)])));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as net.AddressInfo;
    const db = openDatabase({ id: 'rogue', url: `mysql://u:p@127.0.0.1:${String(port)}/d` });
    await expect(db.read((one) => sql`select 1`.execute(one))).rejects.toThrow();
    await db.close();
    server.close();
    const LOCAL_FILES = 0x80;
    expect((said[0]?.readUInt32LE(4) ?? LOCAL_FILES) & LOCAL_FILES).toBe(0);
    expect(said.some((data) => data.includes('business'))).toBe(false);
    await rm(dir, { recursive: true });
  });
});
