/** A server that takes no changes, no connections without TLS, or knows no rights: settings of the whole server, so it is one of its own. */
import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMariadb, type MariadbServer } from '@/scripts/testing/mariadb';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { openDatabase } from '../database';
import { tableRules } from './table-rules';

describe('a MySQL or MariaDB server', () => {
  let dir = '';
  let server: MariadbServer;
  let admin: mysql.Connection;
  let mariadb = false;
  beforeAll(async () => {
    dir = makeDataFolder('oc-closed-');
    server = await startMariadb(dir);
    admin = await mysql.createConnection({ uri: server.url });
    const [[row]] = await admin.query<mysql.RowDataPacket[]>('SELECT version() AS version');
    mariadb = /mariadb/i.test(String(row?.version));
    for (const statement of [
      'CREATE DATABASE shop',
      'CREATE TABLE shop.t (id int PRIMARY KEY)',
      "CREATE USER operator IDENTIFIED BY 'test'",
      'GRANT SELECT, INSERT ON shop.* TO operator',
    ])
      await admin.query(statement);
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const urlOf = (user: string | null): string => {
    const url = new URL(server.url);
    url.pathname = '/shop';
    if (user !== null) Object.assign(url, { username: user, password: 'test' });
    return url.href;
  };
  /** Whether the server says that it is read only, and what comes of a change. */
  const tried = async (user: string | null): Promise<[boolean, string]> => {
    const db = openDatabase({ id: 'test', url: urlOf(user), operatorUrl: urlOf(user) });
    try {
      const readOnly = await db.read((read) => db.engine.isReadOnly(read));
      const change = db.write?.((write) => sql`insert into t values (1)`.execute(write));
      return [
        readOnly,
        await Promise.resolve(change).then(
          () => 'done',
          (error: { code: string }) => error.code,
        ),
      ];
    } finally {
      await db.close();
    }
  };

  it('that takes no changes says so, and refuses them as such: of everybody where it is told to be strict', async () => {
    await admin.query(`SET GLOBAL ${mariadb ? 'read_only' : 'super_read_only'} = 1`);
    expect(await tried('operator')).toEqual([true, 'read_only']);
    // MariaDB 10 has no such setting: whoever may do everything may write still.
    expect(await tried(null)).toEqual([true, mariadb ? 'done' : 'read_only']);
    for (const name of mariadb ? ['read_only'] : ['super_read_only', 'read_only']) await admin.query(`SET GLOBAL ${name} = 0`);
    await admin.query('DELETE FROM shop.t');
    expect(await tried('operator')).toEqual([false, 'done']);
  });

  it('that wants TLS of everybody cannot be reached without it', async () => {
    await admin.query('SET GLOBAL require_secure_transport = 1');
    await expect(tried('operator')).rejects.toMatchObject({ code: 'connection' });
    await admin.query('SET GLOBAL require_secure_transport = 0');
  });
});

describe('a server that knows no rights (--skip-grant-tables)', () => {
  let dir = '';
  let server: MariadbServer;
  beforeAll(async () => {
    dir = makeDataFolder('oc-open-');
    server = await startMariadb(dir, { grants: false });
  });
  afterAll(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('lets everybody do everything, and a table is looked at as any other', async () => {
    const admin = await mysql.createConnection({ socketPath: new URL(server.url).searchParams.get('socket') ?? '' });
    for (const statement of ['CREATE DATABASE shop', 'CREATE TABLE shop.t (id int PRIMARY KEY)']) await admin.query(statement);
    await admin.end();
    const url = new URL(server.url);
    url.pathname = '/shop';
    const db = openDatabase({ id: 'test', url: url.href });
    try {
      const table = { schema: null, table: 't' };
      const described = await db.read((read) => db.engine.describe(read, table));
      expect(described?.privileges).toMatchObject({ delete: true });
      const [rules] = await db.read((read) => tableRules(read, [table]));
      expect(rules?.triggers).toEqual([]);
    } finally {
      await db.close();
    }
  });
});
