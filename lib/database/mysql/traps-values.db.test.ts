/** Traps of values, beside those of traps.db.test.ts: what the driver hands over, what comparisons find, and what statements count. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { mysqlEngine } from './engine';
import { column, t, useTables } from '@/fixtures/mysql-tables';

const { fragments } = mysqlEngine;

describe('on MySQL and MariaDB', () => {
  const tables = useTables();
  const { database, make, described, values } = tables;

  it('a time arrives as the text that is stored, every digit of its second and in no zone of this machine', async () => {
    const table = await make(
      'moments',
      'id int PRIMARY KEY, wall datetime(6), ts timestamp(6) NULL, day date',
      "1, '2026-03-01 09:00:00.123456', '2026-03-01 09:00:00.123456', '2026-03-01'",
    );
    for (const [name, wanted] of [
      ['wall', '2026-03-01 09:00:00.123456'],
      ['ts', '2026-03-01 09:00:00.123456'],
      ['day', '2026-03-01'],
    ] as const)
      expect.soft(await values(table, t(name)), name).toEqual([wanted]);
  });

  it('JSON arrives as its text, no number of it rounded', async () => {
    const table = await make('documents', 'id int PRIMARY KEY, doc json', `1, '{"n": 9007199254740993, "price": 10.50}'`);
    const [doc] = await values(table, t('doc'));
    expect(doc).toContain('9007199254740993');
  });

  it('a text that is no JSON has no value at any path, and takes no list down', async () => {
    const table = await make('half', 'id int PRIMARY KEY, doc text', `1, '{"a": "x"}'`, `2, '{"a": '`, "3, ''", '4, NULL');
    expect(await values(table, fragments.jsonText(t('doc'), ['a'], column(table, 'doc')))).toEqual(['x', null, null, null]);
  });

  it('what the server says of a table’s size is of now, not of when somebody asked last', async () => {
    await make('growing', 'id int AUTO_INCREMENT PRIMARY KEY, v int');
    // MySQL keeps the answer for a day, for whoever asks next.
    await database.query("SELECT table_rows FROM information_schema.tables WHERE table_schema = database() AND table_name = 'growing'");
    await database.query('INSERT INTO growing (v) VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)');
    const after = await described('growing');
    expect(after?.estimatedRows).toBe(10);
  });

  it('a DECIMAL is told from its neighbour in the last of its digits', async () => {
    const table = await make(
      'decimals',
      'id int PRIMARY KEY, amount decimal(30,10)',
      '1, 12345678901234567890.0123456789',
      '2, 12345678901234567890.0123456788',
    );
    const amount = column(table, 'amount');
    expect(await values(table, t('id'), fragments.isOneOf(t('amount'), ['12345678901234567890.0123456789'], amount))).toEqual([1]);
    expect(await values(table, t('id'), fragments.isLiteral(t('amount'), ['12345678901234567890.0123456788'], amount))).toEqual([2]);
  });

  it('a TINYINT(1) may hold more than a truth value, and each of its numbers is found', async () => {
    const table = await make('codes', 'id int PRIMARY KEY, status tinyint(1)', '1, 1', '2, 2', '3, -1', '4, 0', '5, NULL');
    const status = column(table, 'status');
    const found = async (value: number | boolean): Promise<unknown[]> =>
      values(table, t('id'), fragments.isLiteral(t('status'), [value], status));
    expect([await found(2), await found(-1), await found(0), await found(1)]).toEqual([[2], [3], [4], [1]]);
    const asked = async (value: string): Promise<unknown[]> => values(table, t('id'), fragments.isOneOf(t('status'), [value], status));
    expect([await asked('2'), await asked('-1'), await asked('true'), await asked('false')]).toEqual([[2], [3], [1], [4]]);
    expect(await values(table, t('id'), fragments.isTrue(t('status'), status, true))).toEqual([1, 2, 3]);
    expect(await values(table, t('id'), fragments.isTrue(t('status'), status, false))).toEqual([4]);
  });

  it('an ENUM is its word, never the number of its place, and its empty error value is no word', async () => {
    await make('enums', "id int PRIMARY KEY, status enum('1','new','sent') NULL");
    await database.queryUnder("sql_mode = ''", "INSERT INTO enums VALUES (1, 'new'), (2, 'sent'), (3, '1'), (4, 'nonsense'), (5, NULL)");
    const table = await described('enums');
    const status = column(table, 'status');
    expect(await values(table, t('id'), fragments.isLiteral(t('status'), [1], status))).toEqual([3]);
    expect(await values(table, t('id'), fragments.isLiteral(t('status'), [2], status))).toEqual([]);
    expect(await values(table, t('id'), fragments.isOneOf(t('status'), ['new'], status))).toEqual([1]);
    expect(await values(table, t('status'))).toEqual(['new', 'sent', '1', '', null]);
  });

  it('a text that is a digit is no truth value of its own: 0 and false are false, words are neither', async () => {
    const table = await make(
      'words',
      'id int PRIMARY KEY, done varchar(10)',
      "1, '0'",
      "2, '1'",
      "3, 'false'",
      "4, 'TRUE'",
      "5, 'later'",
      "6, ''",
      '7, NULL',
    );
    const done = column(table, 'done');
    expect(await values(table, t('id'), fragments.isTrue(t('done'), done, true))).toEqual([2, 4]);
    expect(await values(table, t('id'), fragments.isTrue(t('done'), done, false))).toEqual([1, 3]);
  });

  it('a comparison with NULL is not true', async () => {
    const table = await make(
      'nulls',
      'id int PRIMARY KEY, a varchar(5), b varchar(5)',
      '1, NULL, NULL',
      "2, NULL, 'x'",
      "3, 'x', NULL",
      "4, 'x', 'x'",
      "5, 'x', 'y'",
    );
    expect(await values(table, t('id'), fragments.notTrue(sql`t.a = t.b`))).toEqual([1, 2, 3, 5]);
  });

  it('numbers that count from 1970 are times before it, after 2038, and none beyond the calendar', async () => {
    const table = await make(
      'epochs',
      'id int PRIMARY KEY, ms bigint, s decimal(20,3), word varchar(40)',
      "1, -86400000, -86400, '-86400000'",
      "2, 2147483648000, 2147483648, '2147483648000'",
      "3, 4102444800123, 4102444800.123, '4102444800123'",
      "4, 253402300800000, 253402300800, '253402300800000'",
      "5, 9223372036854775807, 99999999999999999, '99999999999999999999'",
      "6, NULL, NULL, 'soon'",
    );
    const wanted = ['1969-12-31T00:00:00.000000Z', '2038-01-19T03:14:08.000000Z', '2100-01-01T00:00:00.123000Z', null, null, null];
    for (const [name, time] of [
      ['ms', 'epoch_ms'],
      ['s', 'epoch_s'],
      ['word', 'epoch_ms'],
    ] as const)
      expect.soft(await values(table, fragments.isoTime(t(name), { ...column(table, name), time }, 'Asia/Seoul')), name).toEqual(wanted);
  });

  it('a DATETIME after 2038 is moved by the zone of its writer like any other', async () => {
    const table = await make('later', 'id int PRIMARY KEY, at datetime', "1, '2040-06-01 09:00:00'", "2, '1969-06-01 09:00:00'");
    expect(await values(table, fragments.isoTime(t('at'), column(table, 'at'), 'Asia/Seoul'))).toEqual([
      '2040-06-01T00:00:00.000000Z',
      '1969-06-01T00:00:00.000000Z',
    ]);
  });

  it('per cent and underscore are letters to search for', async () => {
    const table = await make(
      'letters',
      'id int PRIMARY KEY, v varchar(20)',
      "1, '100% sure'",
      "2, '100 x sure'",
      "3, 'a_b'",
      "4, 'a-b'",
      "5, 'a\\\\b'",
    );
    expect(await values(table, t('id'), fragments.contains(t('v'), '0% S'))).toEqual([1]);
    expect(await values(table, t('id'), fragments.contains(t('v'), 'a_b'))).toEqual([3]);
    expect(await values(table, t('id'), fragments.contains(t('v'), 'a\\b'))).toEqual([5]);
  });

  it('a change that leaves a row as it was has changed it: rows that are found count', async () => {
    await make('same', 'id int PRIMARY KEY, status varchar(10)', "1, 'new'", "2, 'new'");
    const result = await tables.db.write?.((write) => sql`update same set status = 'new' where id in (1, 2)`.execute(write));
    expect(result?.numAffectedRows).toBe(2n);
  });

  it('values never become part of a statement’s text: the server is given both apart', async () => {
    const executed = await tables.db.read(async (read) => {
      const count = async (): Promise<number> => {
        const { rows } = await sql<{ Value: string }>`show session status like 'Com_stmt_execute'`.execute(read);
        return Number(rows[0]?.Value);
      };
      const before = await count();
      await sql`select ${'one'} as v`.execute(read);
      return (await count()) - before;
    });
    expect(executed).toBe(1);
  });

  it('a name may hold a backtick, a quote and a question mark', async () => {
    const odd = "we`ird\" 'name' ?";
    const quoted = mysqlEngine.quote.identifier(odd);
    await database.query(`CREATE TABLE ${quoted} (id int PRIMARY KEY, ${mysqlEngine.quote.identifier('a`b')} int)`);
    await tables.db.write?.((write) => sql`insert into ${sql.id(odd)} values (1, 2)`.execute(write));
    const table = await described(odd);
    expect([...(table?.columns.keys() ?? [])]).toEqual(['id', 'a`b']);
    const { rows } = await tables.db.read((read) =>
      sql.raw<{ v: number }>(`select ${mysqlEngine.quote.identifier('a`b')} as v from ${quoted}`).execute(read),
    );
    expect(rows).toEqual([{ v: 2 }]);
  });

  it('a number written any other way than the server prints it is no id, and neither are digits of other scripts', async () => {
    const table = await make('ids', 'id bigint PRIMARY KEY, name varchar(20)', "1000, 'a'");
    for (const text of ['1e3', '0x3E8', '01000', ' 1000', '1000 ', '+1000', '1000.0', '١٠٠٠', '１０００', '', '-0', '--1'])
      expect.soft(mysqlEngine.idFits(text, column(table, 'id')), text).toBe(false);
    expect(mysqlEngine.idFits('1000', column(table, 'id'))).toBe(true);
    expect(mysqlEngine.idFits('a\u0000', column(table, 'name'))).toBe(false);
  });

  it('a connection whose statement was ended from outside is not used for the next', async () => {
    const idOf = (): Promise<string | undefined> | undefined =>
      tables.db.write?.(async (write) => {
        const { rows } = await sql<{ id: string }>`select cast(connection_id() as char) as id`.execute(write);
        return rows[0]?.id;
      });
    await make('slow', 'id int PRIMARY KEY, v int', '1, 0');
    const first = await idOf();
    expect(await idOf()).toBe(first);
    const ended = tables.db.write?.(
      async (write) => {
        if (database.mariadb) await sql`set session max_statement_time = 0`.execute(write);
        await sql`update slow set v = 1 where id = 1 and sleep(5) = 0`.execute(write);
      },
      { statementMs: 100 },
    );
    await expect(ended).rejects.toMatchObject({ code: 'timeout' });
    expect(await idOf()).not.toBe(first);
  });
});
