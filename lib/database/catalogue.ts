/** What detection reads of a database: its tables, and bounded samples of the values of a column. */
import { sql, type RawBuilder } from 'kysely';
import { tableRef, type ColumnDescription, type Db, type TableDescription, type TableName } from './description';

export interface CatalogueColumn extends Omit<ColumnDescription, 'labels'> {
  /** Labels of an enumerated type, in their order; null for any other. */
  labels: string[] | null;
}

/** A table by the catalogue. Leaves out views, partitions, inheriting tables, temporary and system tables. */
export interface CatalogueTable {
  name: Required<TableName> & { schema: string };
  /** In the schema in which names without one are looked up. */
  home: boolean;
  columns: CatalogueColumn[];
  /** The owner's COMMENT on it. */
  comment: string | null;
  /** Approximate rows at the server's last count; null if there is none. */
  estimatedRows: number | null;
  readable: boolean;
  /** Row-level security applies to this role: it may see fewer rows than there are. */
  rowSecurity: boolean;
}

export interface CatalogueReader {
  /** At most `limit` tables by name, of `schema`, or of all (MySQL: of the connection's database). Reads the catalogue only, locks nothing. */
  tables(db: Db, limit: number, schema: string | null): Promise<CatalogueTable[]>;
  /** At most `limit` distinct values, read from an index alone; null if no index starts with the column. */
  indexedValues(db: Db, table: TableDescription, column: string, limit: number): Promise<string[] | null>;
  /** The most common values by the server's statistics; empty without statistics. */
  commonValues(db: Db, table: TableDescription, column: string): Promise<string[]>;
  /** About `limit` rows as texts cut to 200 characters: the oldest and the newest by a key, or any rows without such a key. */
  sampleRows(db: Db, table: TableDescription, columns: readonly string[], limit: number): Promise<SampleRow[]>;
}

type SampleRow = Record<string, string | null>;

const VALUE_CHARACTERS = 200;
export const shortened = (text: RawBuilder<unknown>): RawBuilder<string> => sql`left(${text}, ${sql.lit(VALUE_CHARACTERS)})`;

/** Whether a B-tree index over all rows starts with this column. */
export const indexLedBy = (table: TableDescription, column: string): boolean =>
  table.indexes.some((index) => index.columns[0] === column && index.predicate === null && index.method.toLowerCase() === 'btree');

export const sampler =
  (asText: (column: RawBuilder<unknown>) => RawBuilder<unknown>): CatalogueReader['sampleRows'] =>
  async (db, table, columns, limit) => {
    const chosen = sql.join(columns.map((name) => sql`${shortened(asText(sql.ref(name)))} as ${sql.ref(name)}`));
    const from = tableRef(table.name);
    const key = ageKey(table);
    const half = (way: 'asc' | 'desc') =>
      sql`(select ${sql.ref(key ?? '')} as oc_key, ${chosen} from ${from} order by ${sql.ref(key ?? '')} ${sql.raw(way)} limit ${sql.lit(Math.ceil(limit / 2))})`;
    // UNION drops duplicates: with the key selected, only a row that is in both halves.
    const any = sql<SampleRow>`select ${chosen} from ${from} limit ${sql.lit(limit)}`;
    const sample = key === null ? any : sql<SampleRow>`${half('asc')} union ${half('desc')}`;
    return (await sample.execute(db)).rows;
  };

/** The first integer column with a unique key of its own: it usually counts up and so orders rows by age. null if there is none. */
function ageKey(table: TableDescription): string | null {
  const keys = table.indexes.filter((index) => index.unique && index.columns.length === 1 && index.predicate === null);
  return keys.map((index) => index.columns[0] ?? '').find((name) => table.columns.get(name)?.kind === 'integer') ?? null;
}
