import type { ColumnDescription, Engine, TableName } from '@/lib/database/engine';
import type { Leaf } from './conditions';
import type { Place } from './outbox';

/** A test on one column that the predicate of an index can hold: it never changes with the clock or a parameter. */
export type IndexTest = Extract<Leaf, { equals: unknown }> | Extract<Leaf, { in: unknown }> | Extract<Leaf, { isNull: unknown }>;

export const isIndexTest = (test: Leaf): test is IndexTest =>
  (('equals' in test || 'in' in test) && test.ignoreCase !== true) || 'isNull' in test;

/** An index that is wanted: its columns in order, and the rows it is to hold where the engine can leave others out. */
export interface WantedIndex {
  /** Ends its name: `<table>_<purpose>`. */
  purpose: string;
  columns: string[];
  /** Tests on single columns that all its rows pass; empty for every row. */
  tests: IndexTest[];
  unique?: boolean;
}

/** The table an index is wanted on. */
export interface IndexedTable {
  name: TableName;
  columns: ReadonlyMap<string, Pick<ColumnDescription, 'type'>>;
  /** Names that indexes of it have. */
  taken: readonly string[];
  /** Quoted names of its partitions; null where it has none. */
  partitions: readonly string[] | null;
}

/** What PostgreSQL cuts a name to. */
const NAME_MAX = 63;
/** A text without a length is indexed by its beginning there, which finds but does not order. */
const MYSQL_PREFIX = 191;

/** The table of a place. `partitions` are not known there: statements for a table that has some need them. */
export const indexedPlace = ({ table, description }: Place): IndexedTable => ({
  name: table,
  columns: description.columns,
  taken: description.indexes.map(({ name }) => name),
  partitions: null,
});

/** The index in the order of creation, in which events are listed. */
export const listIndex = ({ id }: Place, created: string): WantedIndex => ({
  purpose: 'list',
  columns: [created, ...id.map(({ name }) => name)],
  tests: [],
});

/** The index in the order of publishing. */
export const publishedIndex = (published: string): WantedIndex => ({
  purpose: 'published',
  columns: [published],
  tests: [{ column: published, isNull: false }],
});

/** The index of what waits, oldest first; columns with a fixed value lead where an index cannot leave rows out. */
export const waitingIndex = (engine: Engine, tests: IndexTest[], created: string): WantedIndex => ({
  purpose: 'waiting',
  columns: leadingColumns(engine.features.partialIndexes, tests, [created]),
  tests,
});

/** Columns an index sorts by: fixed ones first where it cannot leave rows out. */
export function leadingColumns(partialIndexes: boolean, tests: readonly IndexTest[], then: readonly string[]): string[] {
  const fixed = partialIndexes ? [] : tests.filter((test) => !('isNull' in test && !test.isNull)).map(({ column }) => column);
  return [...new Set([...fixed, ...then])];
}

/**
 * The statement that makes an index, for a person to read and run: the same whoever advises it. It stops no writer
 * (CONCURRENTLY; online, and refused rather than locking); null where the engine cannot do so with this table.
 */
export function createIndexStatement(engine: Engine, table: IndexedTable, wanted: WantedIndex): string | null {
  return engine.features.partialIndexes ? postgresStatement(engine.quote, table, wanted) : mysqlStatement(engine.quote, table, wanted);
}

function postgresStatement({ identifier, literal }: Engine['quote'], table: IndexedTable, wanted: WantedIndex): string {
  const value = (one: string | number | boolean): string => (typeof one === 'string' ? literal(one) : String(one));
  const test = (leaf: IndexTest): string => {
    const name = identifier(leaf.column);
    if ('isNull' in leaf) return `${name} IS ${leaf.isNull ? '' : 'NOT '}NULL`;
    return 'in' in leaf ? `${name} IN (${leaf.in.map(value).join(', ')})` : `${name} = ${value(leaf.equals)}`;
  };
  const name = freeName(table, wanted.purpose);
  const on = quotedName(identifier, table.name);
  const unique = wanted.unique === true ? 'UNIQUE ' : '';
  const body = `(${wanted.columns.map(identifier).join(', ')})${wanted.tests.length === 0 ? '' : ` WHERE ${wanted.tests.map(test).join(' AND ')}`}`;
  if (table.partitions === null) return `CREATE ${unique}INDEX CONCURRENTLY ${identifier(name)} ON ${on} ${body};`;
  // The server refuses CONCURRENTLY on a partitioned table: each partition gets its own, and all are attached to an empty one.
  const parts = table.partitions.map((partition, at) => ({ partition, name: `${name.slice(0, NAME_MAX - 4)}_${at + 1}` }));
  const schema = on.slice(0, on.length - identifier(table.name.table).length);
  return [
    `CREATE ${unique}INDEX ${identifier(name)} ON ONLY ${on} ${body};`,
    ...parts.map((part) => `CREATE ${unique}INDEX CONCURRENTLY ${identifier(part.name)} ON ${part.partition} ${body};`),
    ...parts.map((part) => `ALTER INDEX ${schema}${identifier(name)} ATTACH PARTITION ${schema}${identifier(part.name)};`),
  ].join('\n');
}

function mysqlStatement({ identifier }: Engine['quote'], table: IndexedTable, wanted: WantedIndex): string | null {
  const part = (name: string): string =>
    /text|blob/i.test(table.columns.get(name)?.type ?? '') ? `${identifier(name)}(${MYSQL_PREFIX})` : identifier(name);
  const columns = wanted.columns.map(part);
  // The beginnings of two texts may be the same where the texts are not.
  if (wanted.unique === true && columns.some((column) => column.endsWith(')'))) return null;
  return `CREATE ${wanted.unique === true ? 'UNIQUE ' : ''}INDEX ${identifier(freeName(table, wanted.purpose))} ON ${quotedName(identifier, table.name)} (${columns.join(', ')}) ALGORITHM=INPLACE LOCK=NONE;`;
}

const quotedName = (identifier: Engine['quote']['identifier'], { schema, table }: TableName): string =>
  (schema === null ? [table] : [schema, table]).map(identifier).join('.');

/** `<table>_<purpose>`, numbered where the table has an index of that name. */
function freeName({ name: { table }, taken }: IndexedTable, purpose: string): string {
  const stem = `${table.slice(0, NAME_MAX - purpose.length - 5)}_${purpose}`;
  let name = stem;
  for (let number = 2; taken.includes(name); number += 1) name = `${stem}_${number}`;
  return name;
}
