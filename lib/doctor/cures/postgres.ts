import type { Engine } from '@/lib/database/engine';
import { createIndexStatement } from '@/lib/outbox/indexes/wanted-index';
import type { TableFacts } from '../facts/facts';
import { indexed, PURGE_ROWS, type Cures } from './cures';

/** PostgreSQL's statements: indexes are built and dropped CONCURRENTLY, so that no writer waits. */
export function postgresCures(engine: Engine): Cures {
  const { identifier } = engine.quote;
  const schemaOf = (quoted: string, table: TableFacts): string =>
    quoted.slice(0, quoted.length - identifier(table.place.table.table).length);

  return {
    partialIndexes: true,
    entryOverheadBytes: 12,
    createIndex: (table, wanted) => createIndexStatement(engine, indexed(table), wanted),
    dropIndex: (table, { name }) =>
      `DROP INDEX ${table.partitioned ? '' : 'CONCURRENTLY '}${schemaOf(table.quoted, table)}${identifier(name)};`,
    rebuildIndex: (table, { name }) => `REINDEX INDEX CONCURRENTLY ${schemaOf(table.quoted, table)}${identifier(name)};`,
    clean: ({ quoted }) => `VACUUM (ANALYZE) ${quoted};`,
    analyze: ({ quoted }) => `ANALYZE ${quoted};`,
    purge: ({ quoted }, id, published, keepDays) =>
      `DELETE FROM ${quoted} WHERE ${identifier(id)} IN (SELECT ${identifier(id)} FROM ${quoted} WHERE ${identifier(published)} < now() - interval '${keepDays} days' ORDER BY ${identifier(published)} LIMIT ${PURGE_ROWS} FOR UPDATE SKIP LOCKED);`,
    widen: ({ quoted }, { name, type }) =>
      `ALTER TABLE ${quoted} ALTER COLUMN ${identifier(name)} TYPE ${type === 'smallint' ? 'integer' : 'bigint'};`,
    rewrite: ({ quoted }) => `VACUUM (FULL, ANALYZE) ${quoted};`,
  };
}
