import type { Engine } from '@/lib/database/engine';
import { createIndexStatement } from '@/lib/outbox/indexes/wanted-index';
import type { TableFacts } from '../facts/facts';
import { indexed, PURGE_ROWS, type Cures } from './cures';

/** What a storage engine without transactions refuses: it builds indexes in no other way than it does. */
const online = ({ storage }: TableFacts): RegExp | string => (storage?.transactional === false ? /,? ALGORITHM=INPLACE,? LOCK=NONE/ : '');

/** MySQL's statements: indexes are built and dropped online, and the server refuses rather than lock writers out. */
export function mysqlCures(engine: Engine): Cures {
  const { identifier } = engine.quote;
  return {
    partialIndexes: false,
    entryOverheadBytes: 20,
    createIndex(table, wanted) {
      // A unique key of a partitioned table has to hold what tells its parts apart, which no catalogue says by column.
      if (wanted.unique === true && table.partitioned) return null;
      return createIndexStatement(engine, indexed(table), wanted)?.replace(online(table), '') ?? null;
    },
    dropIndex: (table, { name }) =>
      `ALTER TABLE ${table.quoted} DROP INDEX ${identifier(name)}, ALGORITHM=INPLACE, LOCK=NONE;`.replace(online(table), ''),
    rebuildIndex: ({ quoted }) => `OPTIMIZE TABLE ${quoted};`,
    clean: ({ quoted }) => `ANALYZE TABLE ${quoted};`,
    analyze: ({ quoted }) => `ANALYZE TABLE ${quoted};`,
    purge: ({ quoted }, _id, published, keepDays) =>
      `DELETE FROM ${quoted} WHERE ${identifier(published)} < NOW() - INTERVAL ${keepDays} DAY ORDER BY ${identifier(published)} LIMIT ${PURGE_ROWS};`,
    widen({ quoted, place }, { name, type, defaultText }) {
      const wide = `${/^(int|bigint)/i.test(type) ? 'bigint' : 'int'}${/unsigned/i.test(type) ? ' unsigned' : ''}`;
      // MODIFY says a column anew: what it does not say is lost.
      const nullable = place.description.columns.get(name)?.nullable === true;
      const fallback = defaultText !== null && /^-?\d+$/.test(defaultText) ? ` DEFAULT ${defaultText}` : '';
      return `ALTER TABLE ${quoted} MODIFY ${identifier(name)} ${wide}${nullable ? '' : ' NOT NULL'}${fallback};`;
    },
    rewrite: ({ quoted }) => `OPTIMIZE TABLE ${quoted};`,
  };
}
