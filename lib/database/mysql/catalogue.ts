import { sql } from 'kysely';
import { indexLedBy, sampler, shortened, type CatalogueColumn, type CatalogueReader } from '../catalogue';
import { tableRef } from '../description';
import { KIND_BY_TYPE, labelsOf } from './describe';

const SYSTEM = ['mysql', 'information_schema', 'performance_schema', 'sys'];

export const mysqlCatalogue: CatalogueReader = {
  // The connection's database is asked first, so that its name is a constant: the server then opens no other.
  // Two more statements, because MariaDB cuts aggregated text to a maximum length. The server lists only what the role may see.
  async tables(db, limit, schema) {
    const here = (await sql<{ here: string | null }>`select database() as here`.execute(db)).rows[0]?.here ?? null;
    const only = schema ?? here;
    const where = only === null ? sql`table_schema not in (${sql.join(SYSTEM.map((name) => sql.lit(name)))})` : sql`table_schema = ${only}`;
    const { rows } = await sql<{ s: string; t: string; comment: string | null; n: string | number | null }>`
      select table_schema as s, table_name as t, nullif(table_comment, '') as comment, table_rows as n from information_schema.tables
      where table_type = 'BASE TABLE' and ${where} order by table_schema, table_name limit ${sql.lit(limit)}`.execute(db);
    const columns = await sql<Record<'s' | 't' | 'name' | 'type' | 'base' | 'nullable' | 'extra', string>>`
      select table_schema as s, table_name as t, column_name as name, column_type as type, data_type as base, is_nullable as nullable, extra as extra
      from information_schema.columns where ${where} order by table_schema, table_name, ordinal_position`.execute(db);
    const byTable = new Map<string, CatalogueColumn[]>();
    for (const { s, t, name, type, base, nullable, extra } of columns.rows) {
      const key = `${s}\u0000${t}`;
      const kind = /^(tinyint|bit)\(1\)/.test(type) ? 'boolean' : (KIND_BY_TYPE[base.toLowerCase()] ?? 'other');
      const generated = /GENERATED/i.test(extra) && !/DEFAULT_GENERATED/i.test(extra);
      const column = { name, type, kind, nullable: nullable === 'YES', generated, labels: labelsOf(type) };
      byTable.set(key, [...(byTable.get(key) ?? []), column]);
    }
    return rows.map((row) => ({
      name: { schema: row.s, table: row.t },
      home: row.s === here,
      comment: row.comment,
      estimatedRows: row.n === null ? null : Number(row.n),
      readable: true,
      rowSecurity: false,
      columns: byTable.get(`${row.s}\u0000${row.t}`) ?? [],
    }));
  },

  // GROUP BY the first column of an index is a loose index scan: it skips from value to value.
  async indexedValues(db, table, column, limit) {
    if (!indexLedBy(table, column)) return null;
    const { rows } = await sql<{ value: string }>`
      select ${shortened(sql`cast(v as char)`)} as value from (select ${sql.ref(column)} as v from ${tableRef(table.name)}
        where ${sql.ref(column)} is not null group by ${sql.ref(column)} order by ${sql.ref(column)} limit ${sql.lit(limit)})
      as found`.execute(db);
    return rows.map((row) => row.value);
  },

  // Histograms exist only where someone created them, in a form that differs by server: the sample is used instead.
  commonValues: () => Promise.resolve([]),

  sampleRows: sampler((column) => sql`cast(${column} as char)`),
};
