/** What a database holds, for finding outboxes in it: every table in one look, and bounded looks at the values of a column. */
import { sql, type RawBuilder } from 'kysely';
import { tableRef, type ColumnDescription, type Db, type TableDescription, type TableName } from './description';

export interface CatalogueColumn extends Omit<ColumnDescription, 'labels'> {
  /** Labels of an enumerated type, in their order; null for any other. */
  labels: string[] | null;
}

/** A table as the catalogue describes it. Views, partitions of another table and the system's own are left out. */
export interface CatalogueTable {
  name: Required<TableName> & { schema: string };
  columns: CatalogueColumn[];
  /** What its owner wrote about it. */
  comment: string | null;
  /** About how many rows, as last counted by the server; null where nobody has. */
  estimatedRows: number | null;
  /** This role may read its rows. */
  readable: boolean;
  /** Row-level security applies to this role: what it reads may be less than there is. */
  rowSecurity: boolean;
}

export interface CatalogueReader {
  /** At most `limit` tables in the order of their names; one statement on the catalogue, which locks nothing. */
  tables(db: Db, limit: number, schema: string | null): Promise<CatalogueTable[]>;
  /** Values an index lists without reading the rows, at most `limit` of them; null where no index does. */
  indexedValues(db: Db, table: TableDescription, column: string, limit: number): Promise<string[] | null>;
  /** The most common values in the server's statistics, none where there are no statistics. */
  commonValues(db: Db, table: TableDescription, column: string): Promise<string[]>;
  /** Columns of at most `limit` rows as texts, cut at 200 characters: by the key that orders rows by age the first and the last ones. */
  sampleRows(db: Db, table: TableDescription, columns: readonly string[], limit: number): Promise<SampleRow[]>;
}

type SampleRow = Record<string, string | null>;

/** Characters of a value that a look at a column shows. */
const VALUE_CHARACTERS = 200;
export const shortened = (text: RawBuilder<unknown>): RawBuilder<string> => sql`left(${text}, ${sql.lit(VALUE_CHARACTERS)})`;

/** The index that lists the values of a column: a whole one with the column in front. */
export function indexLedBy(table: TableDescription, column: string): boolean {
  return table.indexes.some((index) => index.columns[0] === column && index.predicate === null && index.method.toLowerCase() === 'btree');
}

/** `CatalogueReader.sampleRows`, given how the engine makes a text of a column. */
export const sampler =
  (asText: (column: RawBuilder<unknown>) => RawBuilder<unknown>): CatalogueReader['sampleRows'] =>
  async (db, table, columns, limit) => {
    const chosen = sql.join(columns.map((name) => sql`${shortened(asText(sql.ref(name)))} as ${sql.ref(name)}`));
    const from = tableRef(table.name);
    const key = ageKey(table);
    const half = (way: 'asc' | 'desc') =>
      sql`(select ${sql.ref(key ?? '')} as oc_key, ${chosen} from ${from} order by ${sql.ref(key ?? '')} ${sql.raw(way)} limit ${sql.lit(Math.ceil(limit / 2))})`;
    // Distinct with the key: rows that are both among the first and among the last come once.
    const sample =
      key === null
        ? sql<SampleRow>`select ${chosen} from ${from} limit ${sql.lit(limit)}`
        : sql<SampleRow>`${half('asc')} union ${half('desc')}`;
    return (await sample.execute(db)).rows;
  };

/** The column of a key that orders rows by age more often than not: a single-column unique key of integers. */
function ageKey(table: TableDescription): string | null {
  const keys = table.indexes.filter((index) => index.unique && index.columns.length === 1 && index.predicate === null);
  return keys.map((index) => index.columns[0] ?? '').find((name) => table.columns.get(name)?.kind === 'integer') ?? null;
}
