/** The statements of a finding, for a person to read and run. The console runs none of them. */
import type { Engine } from '@/lib/database/engine';
import { createIndexStatement, indexedPlace, type IndexedTable, type WantedIndex } from '@/lib/outbox/indexes/wanted-index';
import type { EngineKey } from '@/lib/shared/model';
import type { ColumnFacts, IndexFacts, TableFacts } from './facts/facts';

/** Rows per batch of a purge: so few that no writer waits for its locks. */
const PURGE_ROWS = 5_000;

export interface Fixes {
  /** Bytes of one entry of an index beside its values. */
  entryOverheadBytes: number;
  /** Without blocking writers; null if the engine cannot do that for this table. */
  createIndex(table: TableFacts, wanted: WantedIndex): string | null;
  dropIndex(table: TableFacts, index: IndexFacts): string;
  /** Deletes one batch of the rows of `where`, which may end in ORDER BY; to be repeated until it deletes none. */
  purge(table: TableFacts, where: string): string;
  widen(table: TableFacts, column: ColumnFacts): string;
}

export const FIXES: Record<EngineKey, (engine: Engine) => Fixes> = { postgres: postgresFixes, mysql: mysqlFixes };

/** A table as `createIndexStatement` takes it, with the indexes that it has now. */
function indexed({ place, indexes }: TableFacts): IndexedTable {
  const table = indexedPlace(place);
  return { ...table, taken: [...table.taken, ...indexes.map(({ name }) => name)] };
}

/** Indexes are built and dropped CONCURRENTLY, so that no writer waits; those of partitioned tables cannot be dropped so. */
function postgresFixes(engine: Engine): Fixes {
  const { identifier } = engine.quote;
  return {
    entryOverheadBytes: 12,
    createIndex: (table, wanted) => createIndexStatement(engine, indexed(table), wanted),
    dropIndex({ quoted, place, partitioned }, { name }) {
      const schema = quoted.slice(0, -identifier(place.table.table).length);
      return `DROP INDEX ${partitioned ? '' : 'CONCURRENTLY '}${schema}${identifier(name)};`;
    },
    // Rows are fetched by where they lie, whatever the planner thinks of the batch; the same place is in every partition.
    purge({ quoted, partitioned }, where) {
      const batch = `FROM ${quoted} WHERE ${where} LIMIT ${PURGE_ROWS} FOR UPDATE SKIP LOCKED`;
      return partitioned
        ? `WITH batch AS MATERIALIZED (SELECT tableoid AS part, ctid AS place ${batch}) DELETE FROM ${quoted} WHERE ctid = ANY (ARRAY(SELECT place FROM batch)) AND (tableoid, ctid) IN (SELECT part, place FROM batch);`
        : `DELETE FROM ${quoted} WHERE ctid = ANY (ARRAY(SELECT ctid ${batch}));`;
    },
    widen: ({ quoted }, { name, type }) =>
      `ALTER TABLE ${quoted} ALTER COLUMN ${identifier(name)} TYPE ${type === 'smallint' ? 'integer' : 'bigint'};`,
  };
}

/** Indexes are built and dropped online; the server refuses rather than block writers. */
function mysqlFixes(engine: Engine): Fixes {
  const { identifier } = engine.quote;
  /** A storage engine without transactions cannot build indexes online, and refuses these clauses. */
  const asStored = ({ storage }: TableFacts, statement: string): string =>
    storage?.transactional === false ? statement.replace(/,? ALGORITHM=INPLACE,? LOCK=NONE/, '') : statement;
  return {
    entryOverheadBytes: 20,
    createIndex(table, wanted) {
      // A unique key of a partitioned table has to include the partitioning columns, which the catalogue does not list.
      const statement = wanted.unique === true && table.partitioned ? null : createIndexStatement(engine, indexed(table), wanted);
      return statement === null ? null : asStored(table, statement);
    },
    dropIndex: (table, { name }) =>
      asStored(table, `ALTER TABLE ${table.quoted} DROP INDEX ${identifier(name)}, ALGORITHM=INPLACE, LOCK=NONE;`),
    purge: ({ quoted }, where) => `DELETE FROM ${quoted} WHERE ${where} LIMIT ${PURGE_ROWS};`,
    widen({ quoted, place }, { name, type, defaultText }) {
      const wide = `${/^(int|bigint)/i.test(type) ? 'bigint' : 'int'}${/unsigned/i.test(type) ? ' unsigned' : ''}`;
      // MODIFY defines the column again: what it leaves out is lost.
      const nullable = place.description.columns.get(name)?.nullable === true;
      const fallback = defaultText !== null && /^-?\d+$/.test(defaultText) ? ` DEFAULT ${defaultText}` : '';
      return `ALTER TABLE ${quoted} MODIFY ${identifier(name)} ${wide}${nullable ? '' : ' NOT NULL'}${fallback};`;
    },
  };
}
