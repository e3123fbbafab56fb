import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { ColumnFacts, IndexFacts, TableFacts } from './facts';
import { AHEAD_BYTES, hasOwnTablespace } from './mysql-tablespace';

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
  free: string | null;
  next: string | null;
}

/** A table's size, columns and indexes: its rows of the catalogue and InnoDB's own estimates; nothing of the table is read. */
export async function readMysqlTable(db: Db, outbox: Outbox, place: Place): Promise<MysqlTable> {
  const { identifier } = outbox.database.engine.quote;
  const { schema, table } = place.table;
  const where = sql`table_schema = ${schema === null ? sql`database()` : schema} and table_name = ${table}`;
  const { rows } =
    await sql<TableRow>`select engine as engine, table_rows as n, avg_row_length as row_bytes, data_length as data, index_length as indexes, data_free as free, auto_increment as next
    from information_schema.tables where ${where}`.execute(db);
  const [row] = rows;
  const columns = await readColumns(db, where);
  const entries = row?.n == null ? null : Number(row.n);
  const uses = await usesOf(db, where);
  const indexes = await readIndexes(db, where, columns, entries, uses ?? new Map());
  const { rows: locks } = await sql<{
    n: string;
  }>`select count(*) as n from information_schema.partitions where ${where} and partition_name is not null`.execute(db);
  const quoted = (schema === null ? [table] : [schema, table]).map(identifier).join('.');
  const free = row?.free == null ? null : Number(row.free);
  return {
    autoIncrement: row?.next ?? null,
    usesTold: uses !== null,
    table: {
      place,
      quoted,
      rows: entries,
      tableBytes: Number(row?.data ?? 0),
      heapBytes: Number(row?.data ?? 0),
      // The dictionary of all tables is not asked for what is not worth telling.
      freeBytes: free !== null && free >= AHEAD_BYTES && !(await hasOwnTablespace(db, place.table, quoted)) ? null : free,
      indexBytes: Number(row?.indexes ?? 0),
      rowBytes: row?.row_bytes == null ? null : Number(row.row_bytes),
      writes: null,
      vacuum: null,
      columns,
      indexes,
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
          nullShare: 0,
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

/** `select *`, whose names both servers write large: only MySQL has expressions and visibility, only MariaDB has ignored indexes. */
interface IndexRow {
  INDEX_NAME: string;
  COLUMN_NAME: string | null;
  EXPRESSION?: string | null;
  SUB_PART: string | number | null;
  NON_UNIQUE: string | number;
  INDEX_TYPE: string;
  COLLATION: string | null;
  IS_VISIBLE?: string;
  IGNORED?: string;
}

async function readIndexes(
  db: Db,
  where: ReturnType<typeof sql>,
  columns: ReadonlyMap<string, ColumnFacts>,
  entries: number | null,
  uses: ReadonlyMap<string, number>,
): Promise<IndexFacts[]> {
  const { rows } =
    await sql<IndexRow>`select * from information_schema.statistics where ${where} order by index_name, seq_in_index`.execute(db);
  const byName = new Map<string, IndexRow[]>();
  for (const row of rows) byName.set(row.INDEX_NAME, [...(byName.get(row.INDEX_NAME) ?? []), row]);
  return [...byName].map(([name, parts]): IndexFacts => {
    const [first] = parts;
    const named = parts.map((part) => (part.SUB_PART === null ? (part.COLUMN_NAME ?? '') : ''));
    const width = named.reduce((sum, column) => sum + (columns.get(column)?.averageBytes ?? TEXT_BYTES), 0);
    const unique = Number(first?.NON_UNIQUE ?? 1) === 0;
    return {
      name,
      definition: `${name === 'PRIMARY' ? 'PRIMARY KEY' : `${unique ? 'UNIQUE ' : ''}KEY ${name}`} (${parts.map(keyText).join(', ')})`,
      method: (first?.INDEX_TYPE ?? 'btree').toLowerCase(),
      columns: named,
      included: [],
      depends: parts.flatMap((part) => (part.COLUMN_NAME === null ? [] : [part.COLUMN_NAME])),
      predicate: null,
      sorting: parts.map((part) => part.COLLATION ?? '').join(' '),
      unique,
      primary: name === 'PRIMARY',
      constraint: name === 'PRIMARY',
      // One that the planner is not shown is kept up with every write and serves nobody.
      valid: first?.IS_VISIBLE !== 'NO' && first?.IGNORED !== 'YES',
      // InnoDB tells sizes to administrators only: what its entries need.
      bytes: entries === null ? 0 : entries * (width + 20),
      entries,
      scans: uses.get(name) ?? null,
    };
  });
}

const keyText = ({ COLUMN_NAME: column, EXPRESSION: expression, SUB_PART: part, COLLATION: way }: IndexRow): string =>
  `${column ?? `(${unescaped(expression ?? 'expression')})`}${part === null ? '' : `(${part})`}${way === 'D' ? ' DESC' : ''}`;

/** MySQL tells expressions as they would stand in a literal. */
const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1');

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
