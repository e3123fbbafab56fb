import type { Engine } from '@/lib/database/engine';
import { createIndexStatement } from '@/lib/outbox/wanted-index';
import { indexed, PURGE_ROWS, type Cures } from './cures';

/** MySQL's statements: indexes are built and dropped online, and the server refuses rather than lock writers out. */
export function mysqlCures(engine: Engine): Cures {
  const { identifier } = engine.quote;
  return {
    partialIndexes: false,
    entryOverheadBytes: 20,
    createIndex: (table, wanted) => createIndexStatement(engine, indexed(table), wanted),
    dropIndex: (table, { name }) => `ALTER TABLE ${table.quoted} DROP INDEX ${identifier(name)}, ALGORITHM=INPLACE, LOCK=NONE;`,
    rebuildIndex: ({ quoted }) => `OPTIMIZE TABLE ${quoted};`,
    clean: ({ quoted }) => `ANALYZE TABLE ${quoted};`,
    analyze: ({ quoted }) => `ANALYZE TABLE ${quoted};`,
    purge: ({ quoted }, _id, published, keepDays) =>
      `DELETE FROM ${quoted} WHERE ${identifier(published)} < NOW() - INTERVAL ${keepDays} DAY ORDER BY ${identifier(published)} LIMIT ${PURGE_ROWS};`,
    widen: ({ quoted }, column) => `ALTER TABLE ${quoted} MODIFY ${identifier(column)} int NOT NULL DEFAULT 0;`,
    rewrite: ({ quoted }) => `OPTIMIZE TABLE ${quoted};`,
  };
}
