import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox, Place } from '@/lib/outbox/outbox';
import type { ColumnFacts, IndexFacts, TableFacts } from './facts';

/** Bytes of a value, where nobody has counted them: of numbers and times what the type takes. */
const TYPE_BYTES: Record<string, number> = {
  tinyint: 1, smallint: 2, mediumint: 3, int: 4, bigint: 8, float: 4, double: 8, decimal: 8, date: 3, datetime: 8, timestamp: 7, time: 6, year: 1, bit: 1, enum: 1, uuid: 16,
}; // prettier-ignore
const TEXT_BYTES = 24;
const BITS: Record<string, bigint> = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, bigint: 64n };

/** The largest whole number a type holds; null for other types. */
export function largestOf(type: string): bigint | null {
  const bits = BITS[/^[a-z]+/i.exec(type)?.[0].toLowerCase() ?? ''];
  if (bits === undefined) return null;
  return /unsigned/i.test(type) ? (1n << bits) - 1n : (1n << (bits - 1n)) - 1n;
}

const TRANSACTIONAL = /^(innodb|rocksdb|ndbcluster|tokudb)$/i;

export interface MysqlTable {
  table: TableFacts;
  /** The next number, as text. */
  autoIncrement: string | null;
  /** The server counts how often indexes are read, and tells this user. */
  usesTold: boolean;
}

interface TableRow {
  engine: string | null;
  n: string | null;
  row_bytes: string | null;
  data: string | null;
  indexes: string | null;
  next: string | null;
}

/** A table's size, columns and indexes: its rows of the catalogue and InnoDB's own estimates; nothing of the table is read. */
export async function readMysqlTable(db: Db, outbox: Outbox, place: Place): Promise<MysqlTable> {
  const { identifier } = outbox.database.engine.quote;
  const { schema, table } = place.table;
  const where = sql`table_schema = ${schema === null ? sql`database()` : schema} and table_name = ${table}`;
  const { rows } =
    await sql<TableRow>`select engine, table_rows as n, avg_row_length as row_bytes, data_length as data, index_length as indexes, auto_increment as next
    from information_schema.tables where ${where}`.execute(db);
  const [row] = rows;
  const columns = await readColumns(db, where);
  const entries = row?.n == null ? null : Number(row.n);
  const uses = await usesOf(db, where);
  const indexes = await readIndexes(db, where, columns, entries, uses ?? new Map());
  const { rows: locks } = await sql<{
    n: string;
  }>`select count(*) as n from information_schema.partitions where ${where} and partition_name is not null`.execute(db);
  return {
    autoIncrement: row?.next ?? null,
    usesTold: uses !== null,
    table: {
      place,
      quoted: (schema === null ? [table] : [schema, table]).map(identifier).join('.'),
      rows: entries,
      tableBytes: Number(row?.data ?? 0),
      heapBytes: Number(row?.data ?? 0),
      indexBytes: Number(row?.indexes ?? 0),
      rowBytes: row?.row_bytes == null ? null : Number(row.row_bytes),
      writes: null,
      vacuum: null,
      columns,
      indexes,
      partitions: [],
      partitioned: Number(locks[0]?.n ?? 0) > 0,
      busy: false,
      storage: row?.engine == null ? null : { name: row.engine, transactional: TRANSACTIONAL.test(row.engine) },
    },
  };
}

interface ColumnRow {
  name: string;
  type: string;
  base: string;
  fallback: string | null;
  collation: string | null;
  charset: string | null;
  length: string | null;
}

async function readColumns(db: Db, where: ReturnType<typeof sql>): Promise<Map<string, ColumnFacts>> {
  const { rows } = await sql<ColumnRow>`select column_name as name, column_type as type, data_type as base, column_default as fallback,
      collation_name as collation, character_set_name as charset, character_maximum_length as length
    from information_schema.columns where ${where}`.execute(db);
  return new Map(
    rows.map((row): [string, ColumnFacts] => {
      const largest = largestOf(row.type);
      return [
        row.name,
        {
          name: row.name,
          type: row.type,
          largest: largest === null ? null : String(largest),
          frequent: [],
          smallestSeen: null,
          largestSeen: null,
          averageBytes: TYPE_BYTES[row.base.toLowerCase()] ?? Math.min(TEXT_BYTES, Number(row.length ?? TEXT_BYTES)),
          declared: /^enum/i.test(row.type)
            ? [...row.type.matchAll(/'((?:[^']|'')*)'/g)].map((match) => (match[1] ?? '').replaceAll("''", "'"))
            : [],
          defaultText: row.fallback,
          caseless: row.collation !== null && /_ci$/i.test(row.collation),
          charset: row.charset,
        },
      ];
    }),
  );
}

interface IndexRow {
  name: string;
  column: string | null;
  part: string | null;
  position: string;
  unlike: string;
  method: string;
  way: string | null;
}

async function readIndexes(
  db: Db,
  where: ReturnType<typeof sql>,
  columns: ReadonlyMap<string, ColumnFacts>,
  entries: number | null,
  uses: ReadonlyMap<string, number>,
): Promise<IndexFacts[]> {
  const { rows } =
    await sql<IndexRow>`select index_name as name, column_name as \`column\`, sub_part as part, seq_in_index as position, non_unique as unlike, index_type as method, collation as way
    from information_schema.statistics where ${where} order by index_name, seq_in_index`.execute(db);
  const byName = new Map<string, IndexRow[]>();
  for (const row of rows) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
  return [...byName].map(([name, parts]): IndexFacts => {
    const [first] = parts;
    const named = parts.map((part) => (part.part === null ? (part.column ?? '') : ''));
    const keys = parts.map(
      (part) => `${part.column ?? '(expression)'}${part.part === null ? '' : `(${part.part})`}${part.way === 'D' ? ' DESC' : ''}`,
    );
    const width = named.reduce((sum, column) => sum + (columns.get(column)?.averageBytes ?? TEXT_BYTES), 0);
    const unique = Number(first?.unlike ?? 1) === 0;
    return {
      name,
      definition: `${name === 'PRIMARY' ? 'PRIMARY KEY' : `${unique ? 'UNIQUE ' : ''}KEY ${name}`} (${keys.join(', ')})`,
      method: (first?.method ?? 'btree').toLowerCase(),
      columns: named,
      included: [],
      depends: parts.flatMap((part) => (part.column === null ? [] : [part.column])),
      predicate: null,
      sorting: parts.map((part) => part.way ?? '').join(' '),
      unique,
      primary: name === 'PRIMARY',
      constraint: name === 'PRIMARY',
      valid: true,
      // InnoDB tells sizes to administrators only: what its entries need.
      bytes: entries === null ? 0 : entries * (width + 20),
      entries,
      scans: uses.get(name) ?? null,
    };
  });
}

/** How often each index was read since the server started; null where this user is not told. A server that does not count tells nothing. */
async function usesOf(db: Db, where: ReturnType<typeof sql>): Promise<Map<string, number> | null> {
  try {
    const { rows } = await sql<{
      name: string;
      n: string;
    }>`select index_name as name, count_read as n from performance_schema.table_io_waits_summary_by_index_usage
      where index_name is not null and object_schema = (select table_schema from information_schema.tables where ${where}) and object_name = (select table_name from information_schema.tables where ${where})`.execute(
      db,
    );
    return new Map(rows.map((row) => [row.name, Number(row.n)]));
  } catch {
    return null;
  }
}
