/** What the driver and the server do differently from what one would think, one test each. */
import { rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql, type RawBuilder } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { numbersTo } from '@/scripts/testing/mysql';
import { openDatabase } from '../database';
import type { TableDescription } from '../description';
import { mysqlEngine } from './engine';
import { column, t, useTables } from '@/fixtures/mysql-tables';

const { fragments } = mysqlEngine;
const SEOUL = 'Asia/Seoul';

describe('on MySQL and MariaDB', () => {
  const tables = useTables();
  const { database, make, described, values } = tables;
  const version = (table: TableDescription): RawBuilder<string> => fragments.rowVersion('t', table, 'UTC');

  it('a number beyond 2^53 keeps every digit, written, read and compared', async () => {
    const table = await make('big', 'id bigint PRIMARY KEY', '9007199254740992', '9007199254740993');
    expect(await values(table, t('id'))).toEqual(['9007199254740992', '9007199254740993']);
    const found = fragments.isOneOf(t('id'), ['9007199254740993'], column(table, 'id'));
    expect(await values(table, t('id'), found)).toEqual(['9007199254740993']);
  });

  it('an unsigned bigint goes up to its end, and no id beyond either end is looked for', async () => {
    const table = await make('unsigned_ids', 'id bigint unsigned PRIMARY KEY', '18446744073709551615');
    const id = column(table, 'id');
    expect(mysqlEngine.idFits('18446744073709551615', id)).toBe(true);
    expect(mysqlEngine.idFits('18446744073709551616', id)).toBe(false);
    expect(mysqlEngine.idFits('-1', id)).toBe(false);
    expect(await values(table, t('id'), fragments.isOneOf(t('id'), ['18446744073709551615'], id))).toEqual(['18446744073709551615']);
  });

  it('a BIT(1) is a truth value, not bytes', async () => {
    const table = await make(
      'bits',
      'id int PRIMARY KEY, done bit(1), flags bit(64)',
      "1, b'1', 18446744073709551615",
      "2, b'0', 5",
      '3, NULL, NULL',
    );
    expect(column(table, 'done').kind).toBe('boolean');
    expect(await values(table, t('done'))).toEqual(['1', '0', null]);
    expect(await values(table, t('flags'))).toEqual(['18446744073709551615', '5', null]);
    expect(await values(table, fragments.asText(t('done'), column(table, 'done')))).toEqual(['1', '0', null]);
    expect(await values(table, t('id'), fragments.isLiteral(t('done'), [true], column(table, 'done')))).toEqual([1]);
    expect(await values(table, t('id'), fragments.isLiteral(t('done'), [false], column(table, 'done')))).toEqual([2]);
  });

  it('a DECIMAL is the digits that are stored', async () => {
    const table = await make('decimals', 'id int PRIMARY KEY, amount decimal(30,10)', '1, 12345678901234567890.0123456789', '2, 1.10');
    expect(await values(table, t('amount'))).toEqual(['12345678901234567890.0123456789', '1.1000000000']);
    const found = fragments.isOneOf(t('amount'), ['12345678901234567890.0123456789'], column(table, 'amount'));
    expect(await values(table, t('id'), found)).toEqual([1]);
  });

  it('a time kept to the second is never written into the future', async () => {
    const table = await make('seconds', 'id int PRIMARY KEY AUTO_INCREMENT, at datetime NOT NULL, fine datetime(6) NOT NULL');
    for (let tries = 0; tries < 20; tries += 1) {
      const at = fragments.nowFor(column(table, 'at'), 'UTC');
      const fine = fragments.nowFor(column(table, 'fine'), 'UTC');
      await tables.db.write?.((write) => sql`insert into seconds (at, fine) values (${at}, ${fine})`.execute(write));
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    expect(await values(table, t('id'), sql`t.at > t.fine`)).toEqual([]);
    expect((await values(table, sql`microsecond(t.fine)`)).some((micros) => micros !== 0)).toBe(true);
  });

  it('a row that changes twice within a second does not look as it did: ABA', async () => {
    const table = await make(
      'aba',
      'id int PRIMARY KEY, status varchar(10), updated_at datetime',
      "1, 'failed', utc_timestamp() - interval 1 hour",
    );
    const settled = await values(table, version(table));
    expect(await values(table, version(table))).toEqual(settled);
    // failed → pending → failed, all within one second of a column that knows no fraction of it.
    await database.query('UPDATE aba SET updated_at = utc_timestamp() WHERE id = 1');
    const seen = await values(table, version(table));
    await database.query("UPDATE aba SET status = 'pending' WHERE id = 1");
    await database.query("UPDATE aba SET status = 'failed' WHERE id = 1");
    expect(await values(table, version(table))).not.toEqual(seen);
    // Once the second is over the row has a version again that whoever sees it can act on.
    await database.query('UPDATE aba SET updated_at = updated_at - interval 1 minute WHERE id = 1');
    expect(await values(table, version(table))).toEqual(await values(table, version(table)));
  });

  it('the version covers every column, tells NULL from nothing, and counts each byte', async () => {
    const table = await make(
      'versions',
      'id int PRIMARY KEY, a varchar(20), b varchar(20), f float, big longtext',
      "1, 'x', 'y', 1.0000001, 'p'",
    );
    const seen = new Set(await values(table, version(table)));
    const changes = [
      "a = 'X'",
      "a = 'x '",
      'a = NULL',
      "a = ''",
      "a = 'x', b = 'Y'",
      "a = 'xy', b = ''",
      'f = 1.0000002',
      "big = 'q'",
      "big = repeat('p', 70000)",
      'big = NULL',
    ];
    for (const change of changes) {
      await database.query(`UPDATE versions SET ${change} WHERE id = 1`);
      const [now] = await values(table, version(table));
      expect.soft(now, change).toMatch(/^[0-9a-f]{32}$/);
      expect.soft(seen.has(now), change).toBe(false);
      seen.add(now);
    }
  });

  it('a TIMESTAMP is an instant and a DATETIME what its writer meant, whatever zone a session is in', async () => {
    await database.query('CREATE TABLE zones (id int PRIMARY KEY, ts timestamp(6) NULL, wall datetime(3) NULL)');
    await database.queryUnder(
      "time_zone = '+09:00'",
      "INSERT INTO zones VALUES (1, '2026-03-01 09:00:00.123456', '2026-03-01 09:00:00.123')",
    );
    const table = await described('zones');
    expect(await values(table, fragments.isoTime(t('ts'), column(table, 'ts'), SEOUL))).toEqual(['2026-03-01T00:00:00.123456Z']);
    expect(await values(table, fragments.isoTime(t('wall'), column(table, 'wall'), SEOUL))).toEqual(['2026-03-01T00:00:00.123000Z']);
    const at = fragments.instantValue('2026-03-01T00:00:00.123Z', column(table, 'wall'), SEOUL);
    expect(await values(table, t('id'), sql`t.wall = ${at}`)).toEqual([1]);
    expect(await values(table, fragments.millisecondsBetween(fragments.instant(t('wall'), column(table, 'wall'), SEOUL), t('ts')))).toEqual(
      [0.456],
    );
  });

  it('a zero date is no time, and takes no list down', async () => {
    await database.queryUnder(
      "sql_mode = ''",
      "CREATE TABLE zeros (id int PRIMARY KEY, at datetime NOT NULL, ts timestamp NOT NULL DEFAULT '0000-00-00 00:00:00')",
    );
    await database.queryUnder(
      "sql_mode = ''",
      "INSERT INTO zeros VALUES (1, '0000-00-00 00:00:00', '0000-00-00 00:00:00'), (2, '2026-00-10 00:00:00', '2026-01-01 00:00:00')",
    );
    const table = await described('zeros');
    expect(await values(table, fragments.isoTime(t('at'), column(table, 'at'), 'UTC'))).toEqual([null, null]);
    expect(await values(table, fragments.isoTime(t('ts'), column(table, 'ts'), SEOUL))).toEqual([null, '2026-01-01T00:00:00.000000Z']);
    for (const digest of await values(table, version(table))) expect(digest).toMatch(/^[0-9a-f]{32}$/);
    // A row that holds one can be moved, although this session is strict.
    await tables.db.write?.((write) => sql`insert into zeros select id + 10, at, ts from zeros`.execute(write));
    expect(await values(table, sql`cast(t.at as char)`)).toEqual([
      '0000-00-00 00:00:00',
      '2026-00-10 00:00:00',
      '0000-00-00 00:00:00',
      '2026-00-10 00:00:00',
    ]);
  });

  it('a collation makes no two texts one: neither case, nor accents, nor spaces at the end', async () => {
    const table = await make(
      'texts',
      'id int PRIMARY KEY, status varchar(20)',
      "1, 'Failed'",
      "2, 'failed'",
      "3, 'failed '",
      "4, 'fáiled'",
    );
    const status = column(table, 'status');
    for (const found of [
      fragments.isOneOf(t('status'), ['failed'], status),
      fragments.isLiteral(t('status'), ['failed'], status),
      fragments.isLiteral(t('status'), ['failed'], null),
    ])
      expect(await values(table, t('id'), found)).toEqual([2]);
    expect(await values(table, t('id'), fragments.isOneOf(t('status'), ['failed', 'Failed'], status))).toEqual([1, 2]);
    expect(await values(table, t('id'), fragments.contains(t('status'), 'FAILED'))).toEqual([1, 2, 3]);
  });

  it('a text is found by its bytes under every collation of its characters, not only the first', async () => {
    const collations = [
      'latin1_german2_ci',
      'latin1_swedish_ci',
      'utf8mb3_unicode_ci',
      'cp1251_ukrainian_ci',
      'ucs2_unicode_ci',
      'ascii_bin',
    ];
    const charset = (name: string): string => name.slice(0, name.indexOf('_'));
    const table = await make(
      'collations',
      `id int PRIMARY KEY, ${collations.map((name) => `${name} varchar(20) CHARACTER SET ${charset(name)} COLLATE ${name}, KEY (${name})`).join(', ')}`,
      ...['Ready', 'ready'].map((word, at) => `${at + 1}, ${collations.map(() => `'${word}'`).join(', ')}`),
    );
    for (const name of collations) {
      expect.soft(await values(table, t('id'), fragments.isOneOf(t(name), ['ready'], column(table, name))), name).toEqual([2]);
      expect
        .soft(await values(table, t('id'), fragments.isLiteral(t(name), ['ready', 'Ready'], column(table, name))), name)
        .toEqual([1, 2]);
    }
  });

  it('a comparison by the bytes is still found by the index', async () => {
    const table = await make('indexed', 'id int PRIMARY KEY AUTO_INCREMENT, status varchar(20), KEY by_status (status)');
    await database.query(`INSERT INTO indexed (status) SELECT IF(n = 7, 'dead', 'done') FROM ${numbersTo(2000, 's')}`);
    await database.query('ANALYZE TABLE indexed');
    const found = fragments.isLiteral(t('status'), ['dead'], column(table, 'status'));
    const { rows } = await tables.db.read((read) =>
      sql<{
        key: string | null;
        rows: string;
      }>`explain format = traditional select t.id from ${fragments.from(table.name, 't')} where ${found}`.execute(read),
    );
    expect(rows[0]).toMatchObject({ key: 'by_status' });
    expect(Number(rows[0]?.rows)).toBeLessThan(10);
  });

  it('a number finds no text: 0 is not every id that is a word', async () => {
    const table = await make('words', 'id varchar(20) PRIMARY KEY', "'abc'", "'0'", "'0x'");
    const id = column(table, 'id');
    expect(await values(table, t('id'), sql`t.id = 0`)).toHaveLength(3);
    expect(await values(table, t('id'), fragments.isLiteral(t('id'), [0], id))).toEqual(['0']);
    expect(await values(table, t('id'), fragments.isOneOf(t('id'), ['0'], id))).toEqual(['0']);
  });

  it('a text finds no number: abc is not 0', async () => {
    const table = await make('numbers', 'id int PRIMARY KEY', '0', '7');
    const id = column(table, 'id');
    expect(await values(table, t('id'), sql`t.id = 'abc'`)).toEqual([0]);
    expect(mysqlEngine.idFits('abc', id)).toBe(false);
    expect(mysqlEngine.idFits('07', id)).toBe(false);
    expect(await values(table, t('id'), fragments.isLiteral(t('id'), ['abc'], id))).toEqual([]);
    expect(await values(table, t('id'), fragments.isLiteral(t('id'), ['7'], id))).toEqual([7]);
  });

  it('no file of this machine is sent, though the server asks for it', async () => {
    await make('stolen', 'line text');
    const file = path.join(os.tmpdir(), `oc-infile-${process.pid}.txt`);
    await writeFile(file, 'secret\n');
    onTestFinished(() => rm(file));
    await expect(
      tables.db.write?.((write) => sql.raw(`LOAD DATA LOCAL INFILE '${file}' INTO TABLE stolen`).execute(write)),
    ).rejects.toThrow();
    expect(await database.query('SELECT * FROM stolen')).toEqual([]);
  });

  it('one statement is one statement, whatever the URL says', async () => {
    await expect(tables.db.read((read) => sql.raw('select 1; select 2').execute(read))).rejects.toMatchObject({ state: '1064' });
    expect(() => openDatabase({ id: 'test', url: `${database.url}?multipleStatements=true` }).read(() => Promise.resolve(1))).toThrow(
      'multipleStatements',
    );
  });

  it('nothing but plain values is a parameter', async () => {
    for (const value of [{ id: 1 }, [1, 2], new Date(), Buffer.from('x'), undefined, Number.NaN])
      await expect(tables.db.read((read) => sql`select ${value} as v`.execute(read))).rejects.toThrow('a statement takes');
    const { rows } = await tables.db.read((read) =>
      sql`select ${'a'} as a, ${null} as n, ${12345678901234567890n} as big, ${true} as yes`.execute(read),
    );
    expect(rows).toMatchObject([{ a: 'a', n: null, big: '12345678901234567890' }]);
    // An integer that comes from no column is a small one here and a big one, told as text, there.
    expect(rows).toHaveProperty('0.yes', database.mariadb ? 1 : '1');
  });

  it('quotes, backslashes and question marks are letters, in a value and in a literal', async () => {
    const hostile = `' OR 1=1 -- \\' " \\ ? \u0000 %_`;
    const { rows } = await tables.db.read((read) => sql`select ${hostile} as v, ${sql.lit(hostile)} as l`.execute(read));
    expect(rows).toEqual([{ v: hostile, l: hostile }]);
    const { rows: quoted } = await tables.db.read((read) =>
      sql.raw<{ v: string }>(`select ${mysqlEngine.quote.literal(hostile)} as v`).execute(read),
    );
    expect(quoted).toEqual([{ v: hostile }]);
  });

  it('a text that is not Unicode is refused, and an emoji found wherever it can be', async () => {
    const table = await make(
      'emoji',
      'id int PRIMARY KEY, v varchar(20), old varchar(20) CHARACTER SET latin1, three varchar(20) CHARACTER SET utf8mb3',
      "1, '🚚', 'plain', 'plain'",
    );
    await expect(tables.db.read((read) => sql`select ${'\ud83d'} as v`.execute(read))).rejects.toMatchObject({ code: 'bad_value' });
    expect(mysqlEngine.idFits('\ud83d', column(table, 'v'))).toBe(false);
    for (const [name, wanted] of [
      ['v', [1]],
      ['old', []],
      ['three', []],
    ] as const)
      expect.soft(await values(table, t('id'), fragments.isOneOf(t(name), ['🚚'], column(table, name))), name).toEqual(wanted);
    expect(await values(table, t('id'), fragments.isOneOf(t('old'), ['plain'], column(table, 'old')))).toEqual([1]);
  });

  it('a table’s name may hold a dot, and be one name', async () => {
    await make('cap.published', 'id bigint PRIMARY KEY', '1');
    const table = await described('published', 'cap');
    expect(table.name).toEqual({ schema: null, table: 'cap.published' });
    expect(await values(table, t('id'))).toEqual(['1']);
  });

  it('JSON is read by path, also where it is a text with a check, as on MariaDB; its null is no text', async () => {
    const table = await make(
      'documents',
      'id int PRIMARY KEY, doc json',
      `1, '{"a": {"b.c": [10.50, "x"]}, "n": null, "1": "one", "t": true, "z": 0, "s": "\\\\"null\\\\"", "e": ""}'`,
    );
    const doc = column(table, 'doc');
    expect([doc.type, doc.kind]).toEqual([database.mariadb ? 'longtext' : 'json', 'json']);
    const at = async (...steps: string[]): Promise<unknown> => (await values(table, fragments.jsonText(t('doc'), steps, doc)))[0];
    // MySQL keeps the number and not how it was written.
    expect(await at('a', 'b.c', '0')).toBe(database.mariadb ? '10.50' : '10.5');
    expect(await at('a', 'b.c', '1')).toBe('x');
    expect(await at('1')).toBe('one');
    expect(await at('n')).toBeNull();
    expect(await at('nothing')).toBeNull();
    expect([await at('t'), await at('z'), await at('s'), await at('e')]).toEqual(['true', '0', '"null"', '']);
    expect(await at('a')).toBe(database.mariadb ? '{"b.c": [10.50, "x"]}' : '{"b.c": [10.5, "x"]}');
  });

  it('the last element of a list is found, and nothing in an empty list or in what is none', async () => {
    const lists = ['[1, {"error": "x"}]', '[]', '{"a": 1}', '"x"', 'null'];
    const table = await make('lists', 'id int PRIMARY KEY, doc json', ...lists.map((list, index) => `${index}, '${list}'`), '9, NULL');
    const last = fragments.lastElement(t('doc'), column(table, 'doc'));
    const nothing = [null, null, null, null, null];
    expect(await values(table, fragments.jsonText(last.sql, ['error'], last.description))).toEqual(['x', ...nothing]);
    expect(await values(table, sql`${last.sql} is null`)).toEqual([0, 1, 1, 1, 1, 1].map((one) => (database.mariadb ? one : String(one))));
  });

  it('bytes have a text, and it finds them again', async () => {
    const table = await make('bytes', 'id binary(16) PRIMARY KEY', "x'00112233445566778899aabbccddeeff'");
    const id = column(table, 'id');
    expect(await values(table, fragments.asText(t('id'), id))).toEqual(['00112233445566778899aabbccddeeff']);
    expect(mysqlEngine.idFits('00112233445566778899aabbccddeeff', id)).toBe(true);
    expect(mysqlEngine.idFits('0011', id)).toBe(false);
    const found = fragments.isOneOf(t('id'), ['00112233445566778899aabbccddeeff'], id);
    expect(await values(table, sql`'found'`, found)).toEqual(['found']);
  });

  it('a row with the number 0 keeps it', async () => {
    const table = await make('nulls', 'id int PRIMARY KEY AUTO_INCREMENT');
    await tables.db.write?.((write) => sql`insert into nulls values (0)`.execute(write));
    expect(await values(table, t('id'))).toEqual([0]);
  });

  it('what does not fit is refused, not cut', async () => {
    await make('narrow', 'id int PRIMARY KEY, status varchar(3), n tinyint');
    const insert = (...parts: unknown[]): Promise<unknown> | undefined =>
      tables.db.write?.((write) => sql`insert into narrow values (${sql.join(parts)})`.execute(write));
    await expect(insert('1', 'toolong', '1')).rejects.toMatchObject({ code: 'bad_value' });
    await expect(insert('1', 'ok', '1000')).rejects.toMatchObject({ code: 'bad_value' });
    await insert('1', 'ok', '1');
    await expect(insert('1', 'ok', '1')).rejects.toMatchObject({ code: 'duplicate' });
  });

  it('an index on the beginning of a column neither orders nor finds whole values', async () => {
    const table = await make('prefixes', 'id int PRIMARY KEY, a varchar(50), b int, UNIQUE KEY part (b, a(10)), KEY down (b DESC, id)');
    expect(table.indexes.find((index) => index.name === 'part')).toMatchObject({ columns: ['b'], unique: false });
    expect(table.indexes.find((index) => index.name === 'down')).toMatchObject({
      columns: ['b', 'id'],
      sorted: [
        { descending: true, nullsFirst: false },
        { descending: false, nullsFirst: true },
      ],
    });
  });

  it('a generated column is known as one, and a view as a view that nobody counts', async () => {
    const table = await make(
      'computed',
      'id int PRIMARY KEY, a int, v int AS (a + 1) VIRTUAL, s int AS (a + 2) STORED, at datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP',
    );
    expect([...table.columns.values()].filter(({ generated }) => generated).map(({ name }) => name)).toEqual(['v', 's']);
    await database.query('CREATE VIEW seen AS SELECT * FROM computed');
    expect(await described('seen')).toMatchObject({ kind: 'view', estimatedRows: null });
    expect(await tables.db.read((read) => tables.db.engine.describe(read, { schema: null, table: 'no_such' }))).toBeNull();
  });

  it('an invisible column is part of its row', async () => {
    const table = await make('unseen', 'id int PRIMARY KEY, status varchar(10) INVISIBLE');
    await database.query("INSERT INTO unseen (id, status) VALUES (1, 'dead')");
    const { rows } = await tables.db.read((read) =>
      sql`select o.* from (select ${fragments.wholeRow('t', table)} from unseen as t) as o`.execute(read),
    );
    expect(rows).toEqual([{ id: 1, status: 'dead' }]);
  });

  it('rights are known by column, and for deleting by table', async () => {
    await make('granted', 'id int PRIMARY KEY, status varchar(10), payload text');
    const user = `g_${database.name}`;
    await database.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'test'`);
    await database.query(`GRANT SELECT, INSERT, UPDATE (status) ON granted TO ${user}@'%'`);
    const own = openDatabase({ id: 'test', url: database.urlFor(user, 'test') });
    const privileges = async () => (await own.read((read) => own.engine.describe(read, { schema: null, table: 'granted' })))?.privileges;
    expect(await privileges()).toEqual({ select: true, insert: true, delete: false, updateColumns: new Set(['status']) });
    await database.query(`GRANT DELETE ON ${database.name}.* TO ${user}@'%'`);
    await own.close();
    const again = openDatabase({ id: 'test', url: database.urlFor(user, 'test') });
    expect((await again.read((read) => again.engine.describe(read, { schema: null, table: 'granted' })))?.privileges.delete).toBe(true);
    await again.close();
  });
});
