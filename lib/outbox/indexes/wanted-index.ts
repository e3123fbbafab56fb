import { notNull } from '@/lib/shape/reason';
import type { Engine } from '@/lib/database/engine';
import type { ColumnDescription, TableDescription, TableName } from '@/lib/database/description';
import type { Leaf } from '@/lib/shape/schema/condition';
import type { Place } from '@/lib/shape/bound';
import { quotedName } from '../outbox';

/** A test on one column that an index predicate can hold: it depends on no clock and no parameter. */
export type IndexTest = Leaf<'equals' | 'in' | 'isNull'>;

export const isIndexTest = (test: Leaf): test is IndexTest =>
  ((test.kind === 'equals' || test.kind === 'in') && test.ignoreCase !== true) || test.kind === 'isNull';

/** A wanted index: its columns in order, and the rows it is limited to on engines with partial indexes. */
export interface WantedIndex {
  /** The end of its name: `<table>_<purpose>`. */
  purpose: string;
  columns: string[];
  /** Tests that all its rows pass; empty for an index over all rows. */
  tests: IndexTest[];
  unique?: boolean;
}

export interface IndexedTable {
  name: TableName;
  columns: ReadonlyMap<string, Pick<ColumnDescription, 'type'>>;
  taken: readonly string[];
  partitions: TableDescription['partitions'];
}

/** PostgreSQL cuts names to this many bytes; MySQL accepts as many characters. */
const NAME_BYTES = 63;
/** Partitions; a statement for more is too long for a person to read. */
const PARTS_MAX = 1_000;
/** Longest column that is indexed whole, in characters: InnoDB limits its bytes and counts four per character. */
const MYSQL_KEY_CHARACTERS = 700;
/** Characters indexed of a longer column or a text; a prefix finds rows but gives no order. */
const MYSQL_PREFIX = 191;

export const indexedPlace = ({ table, description }: Place): IndexedTable => ({
  name: table,
  columns: description.columns,
  taken: [...description.indexes.map(({ name }) => name), ...(description.namesakes ?? [])],
  partitions: description.partitions,
});

/** The index by creation time, in whose order events are listed. */
export const listIndex = ({ id }: Place, created: string): WantedIndex => ({
  purpose: 'list',
  columns: [created, ...id.map(({ name }) => name)],
  tests: [],
});

export const publishedIndex = (published: string): WantedIndex => ({
  purpose: 'published',
  columns: [published],
  tests: [notNull(published)],
});

/** The index of waiting events, oldest first; without partial indexes, columns with a fixed value lead. */
export const waitingIndex = (engine: Engine, tests: IndexTest[], created: string): WantedIndex => ({
  purpose: 'waiting',
  columns: leadingColumns(engine.features.partialIndexes, tests, [created]),
  tests,
});

/** The columns of an index: without partial indexes, those with a fixed value come first. */
export function leadingColumns(partialIndexes: boolean, tests: readonly IndexTest[], then: readonly string[]): string[] {
  const fixed = partialIndexes ? [] : tests.filter((test) => !(test.kind === 'isNull' && !test.isNull)).map(({ column }) => column);
  return [...new Set([...fixed, ...then])];
}

/** A CREATE INDEX that does not block writers, for a person to run; null if the engine cannot do so for this table. */
export const createIndexStatement = (engine: Engine, table: IndexedTable, wanted: WantedIndex): string | null =>
  engine.features.partialIndexes ? postgresStatement(engine, table, wanted) : mysqlStatement(engine, table, wanted);

function postgresStatement(engine: Engine, table: IndexedTable, wanted: WantedIndex): string | null {
  const { identifier, literal } = engine.quote;
  const value = (one: string | number | boolean): string => (typeof one === 'string' ? literal(one) : String(one));
  const test = (leaf: IndexTest): string => {
    const name = identifier(leaf.column);
    if (leaf.kind === 'isNull') return `${name} IS ${leaf.isNull ? '' : 'NOT '}NULL`;
    return leaf.kind === 'in' ? `${name} IN (${leaf.in.map(value).join(', ')})` : `${name} = ${value(leaf.equals)}`;
  };
  const name = freeName(table, wanted.purpose);
  const on = quotedName(engine, table.name);
  const create = `CREATE ${wanted.unique === true ? 'UNIQUE ' : ''}INDEX`;
  const body = `(${wanted.columns.map(identifier).join(', ')})${wanted.tests.length === 0 ? '' : ` WHERE ${wanted.tests.map(test).join(' AND ')}`}`;
  const { partitions } = table;
  if (partitions === undefined) return `${create} CONCURRENTLY ${identifier(name)} ON ${on} ${body};`;
  const { key, parts } = partitions;
  // A unique index on a partitioned table must contain the partition key.
  if (parts.length > PARTS_MAX || (wanted.unique === true && !key.every((column) => wanted.columns.includes(column)))) return null;
  // PostgreSQL refuses CONCURRENTLY on a partitioned table: each partition gets its own index, then all are attached to empty ones.
  const names = partNames(name, parts.length, table.taken);
  const made = parts.map((part, at) => ({ ...part, index: names[at] ?? '', on: quotedName(engine, part.name) }));
  const indexOf = new Map([
    [on, quotedName(engine, { schema: table.name.schema, table: name })],
    ...made.map((part) => [part.on, quotedName(engine, { schema: part.name.schema, table: part.index })] as const),
  ]);
  return [
    `${create} ${identifier(name)} ON ONLY ${on} ${body};`,
    ...made.map(
      (part) => `${create} ${part.leaf ? 'CONCURRENTLY ' : ''}${identifier(part.index)} ON ${part.leaf ? '' : 'ONLY '}${part.on} ${body};`,
    ),
    ...made.map((part) => `ALTER INDEX ${indexOf.get(quotedName(engine, part.of)) ?? ''} ATTACH PARTITION ${indexOf.get(part.on) ?? ''};`),
  ].join('\n');
}

function mysqlStatement(engine: Engine, table: IndexedTable, wanted: WantedIndex): string | null {
  const { identifier } = engine.quote;
  const columns = wanted.columns.map((name) => {
    const type = table.columns.get(name)?.type ?? '';
    const long = /text|blob/i.test(type) || Number(/^var(?:char|binary)\((\d+)\)/i.exec(type)?.[1] ?? 0) > MYSQL_KEY_CHARACTERS;
    return long ? `${identifier(name)}(${MYSQL_PREFIX})` : identifier(name);
  });
  // A unique prefix index would reject different texts that begin alike.
  if (wanted.unique === true && columns.some((column) => column.endsWith(')'))) return null;
  return `CREATE ${wanted.unique === true ? 'UNIQUE ' : ''}INDEX ${identifier(freeName(table, wanted.purpose))} ON ${quotedName(engine, table.name)} (${columns.join(', ')}) ALGORITHM=INPLACE LOCK=NONE;`;
}

/** `<table>_<purpose>`, numbered if that name is taken. */
function freeName({ name: { table }, taken }: IndexedTable, purpose: string): string {
  const stem = `${cut(table, NAME_BYTES - purpose.length - 5)}_${purpose}`;
  let name = stem;
  for (let number = 2; taken.includes(name); number += 1) name = `${stem}_${number}`;
  return name;
}

/** `count` names `<index>_<n>` that are not taken. */
function partNames(index: string, count: number, taken: readonly string[]): string[] {
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    const name = `${cut(index, NAME_BYTES - 6)}_${number}`;
    if (!taken.includes(name)) names.push(name);
  }
  return names;
}

function cut(name: string, bytes: number): string {
  let kept = '';
  for (const character of name) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}
