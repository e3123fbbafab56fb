import type { Engine } from '@/lib/database/engine';
import type { TableFacts } from '../facts/facts';
import { PURGE_ROWS, type Cures, type IndexTest, type WantedIndex } from './cures';

const NAME_MAX = 63;

/** PostgreSQL's statements: indexes are built and dropped CONCURRENTLY, so that no writer waits. */
export function postgresCures({ identifier, literal }: Engine['quote']): Cures {
  const value = (one: string | number | boolean): string => (typeof one === 'string' ? literal(one) : String(one));
  const test = (leaf: IndexTest): string => {
    const name = identifier(leaf.column);
    if ('isNull' in leaf) return `${name} IS ${leaf.isNull ? '' : 'NOT '}NULL`;
    return 'in' in leaf ? `${name} IN (${leaf.in.map(value).join(', ')})` : `${name} = ${value(leaf.equals)}`;
  };
  const schemaOf = (quoted: string, table: TableFacts): string =>
    quoted.slice(0, quoted.length - identifier(table.place.table.table).length);

  function build(table: TableFacts, wanted: WantedIndex): string {
    const name = freeName(table, wanted.purpose);
    const unique = wanted.unique === true ? 'UNIQUE ' : '';
    const body = `(${wanted.columns.map(identifier).join(', ')})${wanted.tests.length === 0 ? '' : ` WHERE ${wanted.tests.map(test).join(' AND ')}`}`;
    if (!table.partitioned) return `CREATE ${unique}INDEX CONCURRENTLY ${identifier(name)} ON ${table.quoted} ${body};`;
    // The server refuses CONCURRENTLY on a partitioned table: each partition gets its own, and all are attached to an empty one.
    const parts = table.partitions.map((partition, at) => ({ partition, name: `${name.slice(0, NAME_MAX - 4)}_${at + 1}` }));
    return [
      `CREATE ${unique}INDEX ${identifier(name)} ON ONLY ${table.quoted} ${body};`,
      ...parts.map((part) => `CREATE ${unique}INDEX CONCURRENTLY ${identifier(part.name)} ON ${part.partition} ${body};`),
      ...parts.map(
        (part) =>
          `ALTER INDEX ${schemaOf(table.quoted, table)}${identifier(name)} ATTACH PARTITION ${schemaOf(table.quoted, table)}${identifier(part.name)};`,
      ),
    ].join('\n');
  }

  return {
    partialIndexes: true,
    entryOverheadBytes: 12,
    createIndex: build,
    dropIndex: (table, { name }) =>
      `DROP INDEX ${table.partitioned ? '' : 'CONCURRENTLY '}${schemaOf(table.quoted, table)}${identifier(name)};`,
    rebuildIndex: (table, { name }) => `REINDEX INDEX CONCURRENTLY ${schemaOf(table.quoted, table)}${identifier(name)};`,
    clean: ({ quoted }) => `VACUUM (ANALYZE) ${quoted};`,
    analyze: ({ quoted }) => `ANALYZE ${quoted};`,
    purge: ({ quoted }, id, published, keepDays) =>
      `DELETE FROM ${quoted} WHERE ${identifier(id)} IN (SELECT ${identifier(id)} FROM ${quoted} WHERE ${identifier(published)} < now() - interval '${keepDays} days' ORDER BY ${identifier(published)} LIMIT ${PURGE_ROWS} FOR UPDATE SKIP LOCKED);`,
    widen: ({ quoted }, column) => `ALTER TABLE ${quoted} ALTER COLUMN ${identifier(column)} TYPE integer;`,
    rewrite: ({ quoted }) => `VACUUM (FULL, ANALYZE) ${quoted};`,
  };
}

/** `<table>_<purpose>`, numbered where the table has an index of that name. */
export function freeName(table: TableFacts, purpose: string): string {
  const taken = new Set(table.indexes.map(({ name }) => name));
  const stem = `${table.place.table.table.slice(0, NAME_MAX - purpose.length - 5)}_${purpose}`;
  let name = stem;
  for (let number = 2; taken.has(name); number += 1) name = `${stem}_${number}`;
  return name;
}
