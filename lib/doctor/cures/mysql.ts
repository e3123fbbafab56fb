import type { Engine } from '@/lib/database/engine';
import type { TableFacts } from '../facts/facts';
import { PURGE_ROWS, type Cures, type WantedIndex } from './cures';
import { freeName } from './postgres';

/** A text without a length is indexed by its beginning, which finds but does not order. */
const PREFIX = 191;

/** MySQL's statements: indexes are built and dropped online, and the server refuses rather than lock writers out. */
export function mysqlCures({ identifier }: Engine['quote']): Cures {
  const part = (table: TableFacts, name: string): string =>
    /text|blob/i.test(table.columns.get(name)?.type ?? '') ? `${identifier(name)}(${PREFIX})` : identifier(name);
  return {
    partialIndexes: false,
    entryOverheadBytes: 20,
    createIndex(table, wanted: WantedIndex) {
      const columns = wanted.columns.map((name) => part(table, name));
      // The beginnings of two texts may be the same where the texts are not.
      if (wanted.unique === true && columns.some((column) => column.endsWith(')'))) return null;
      return `CREATE ${wanted.unique === true ? 'UNIQUE ' : ''}INDEX ${identifier(freeName(table, wanted.purpose))} ON ${table.quoted} (${columns.join(', ')}) ALGORITHM=INPLACE LOCK=NONE;`;
    },
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
