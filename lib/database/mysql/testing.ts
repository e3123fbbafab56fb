/** Tables of one's own on the test's MySQL or MariaDB, for trying what the driver and the server do with their values. */
import { sql, type RawBuilder } from 'kysely';
import { afterAll, beforeAll } from 'vitest';
import { useTestMysql, type TestMysql } from '@/scripts/testing/mysql';
import { openDatabase, type Database } from '../database';
import type { ColumnDescription, TableDescription } from '../engine';
import { tableRef } from '../table-ref';

export interface Tables {
  database: TestMysql;
  /** As the console has it; open while tests run. */
  readonly db: Database;
  make(name: string, columns: string, ...rows: string[]): Promise<TableDescription>;
  described(name: string, schema?: string | null): Promise<TableDescription>;
  /** One value for every row of the table that is meant, in the order of its id. */
  values(table: TableDescription, value: RawBuilder<unknown>, where?: RawBuilder<unknown>): Promise<unknown[]>;
}

export function useTables(): Tables {
  const database = useTestMysql();
  let db: Database;
  beforeAll(() => {
    db = openDatabase({ id: 'test', url: database.url, operatorUrl: database.url });
  });
  afterAll(() => db.close());
  const described = async (name: string, schema: string | null = null): Promise<TableDescription> => {
    const found = await db.read((read) => db.engine.describe(read, { schema, table: name }));
    if (found === null) throw new Error(`no table ${name}`);
    return found;
  };
  return {
    database,
    get db() {
      return db;
    },
    async make(name, columns, ...rows) {
      await database.query(`CREATE TABLE \`${name}\` (${columns}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci`);
      for (const row of rows) await database.query(`INSERT INTO \`${name}\` VALUES (${row})`);
      return described(name);
    },
    described,
    async values(table, value, where = sql`true`) {
      const { rows } = await db.read((read) =>
        sql<{ v: unknown }>`select ${value} as v from ${tableRef(table.name)} as t where ${where} order by t.id`.execute(read),
      );
      return rows.map((row) => row.v);
    },
  };
}

export function column(table: TableDescription, name: string): ColumnDescription {
  const found = table.columns.get(name);
  if (found === undefined) throw new Error(`no column ${name}`);
  return found;
}

/** A column of the table that `values` reads. */
export const t = (name: string): RawBuilder<unknown> => sql.id('t', name);
