import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import { commonTests, type Leaf } from '@/lib/outbox/conditions';
import { placeSql } from '@/lib/outbox/row';
import type { CollectionMethod } from '@/lib/shared/model';
import { fitBlocks, fitRange, fitTests, numberedKey } from '@/lib/outbox/index-fit';
import { READING_ROWS, STATES_OF } from '../sources';
import { timeColumn } from '../traits';

/** What finds the rows published in a span of time: an index in their order, one of blocks, or reading the whole table. */
export type Access = 'ordered' | 'blocks' | 'whole';

export interface Choice {
  method: CollectionMethod;
  /** Only where rows are counted by their time of publishing. */
  access: Access | null;
  advice: { code: string; sql: string | null } | null;
}

/** Above this many rows, reading the whole table is worth an index. */
const SMALL_ROWS = 20_000;

export interface Size {
  rows: number;
  partitioned: boolean;
}

/**
 * About how many rows the table has, as the planner estimates it: from its size now and its last statistics, over all
 * partitions, and for a view too. Reads two rows of the catalogue and nothing of the table itself.
 */
export async function sizeOf(db: Db, outbox: Outbox): Promise<Size> {
  const { schema, table } = outbox.main.table;
  const plan = await sql<{ 'QUERY PLAN': string }>`explain (format json) select 1 from ${placeSql(outbox, outbox.main).from}`.execute(db);
  const [explained] = JSON.parse(plan.rows[0]?.['QUERY PLAN'] ?? '[]') as { Plan: { 'Plan Rows': number } }[];
  const kind = await sql<{
    partitioned: boolean;
  }>`select c.relkind = 'p' as partitioned from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = ${table}`.execute(db);
  return { rows: explained?.Plan['Plan Rows'] ?? Infinity, partitioned: kind.rows[0]?.partitioned ?? false };
}

/** The column that says when a row was published; a date alone does not. */
export function publishedColumn({ main }: Outbox): string | null {
  const column = timeColumn(main, 'publishedAt');
  return column !== null && main.description.columns.get(column)?.type === 'date' ? null : column;
}

/** How an outbox with a table of this size is collected. */
export function chooseMethod(outbox: Outbox, size: Size): Choice {
  const { main, shape } = outbox;
  const { rows } = size;
  if (!shape.states.some((rule) => rule.state === 'published')) return { method: 'deleted', access: null, advice: null };
  const published = publishedColumn(outbox);
  if (published !== null) {
    const tests = [...commonTests(outbox.shape, STATES_OF.published), { column: published, isNull: false }];
    if (fitRange(main, 'o', published, tests) !== null) return { method: 'published_index', access: 'ordered', advice: null };
    if (fitBlocks(main, published, tests)) return { method: 'published_index', access: 'blocks', advice: null };
    if (rows <= READING_ROWS)
      return { method: 'scan', access: 'whole', advice: rows <= SMALL_ROWS ? null : publishedIndexAdvice(outbox, size, published) };
  }
  const waiting = fitTests(main, 'o', timeColumn(main, 'createdAt'), commonTests(outbox.shape, STATES_OF.waiting)) !== null;
  const advice =
    published === null ? waitingIndexAdvice(outbox, size, waiting || rows <= SMALL_ROWS) : publishedIndexAdvice(outbox, size, published);
  if (waiting || numberedKey(main) !== null || rows <= READING_ROWS) return { method: 'observed', access: null, advice };
  return { method: 'statistics', access: null, advice };
}

function publishedIndexAdvice(outbox: Outbox, size: Size, column: string): Choice['advice'] {
  return indexAdvice(outbox, size, 'index_published_at', column, [{ column, isNull: false }]);
}

/** A shape without a time of publishing is observed for ever; an index on what waits makes looking cheap. */
function waitingIndexAdvice(outbox: Outbox, size: Size, served: boolean): Choice['advice'] {
  const created = timeColumn(outbox.main, 'createdAt') ?? outbox.main.id[0]?.name;
  const tests = commonTests(outbox.shape, STATES_OF.waiting);
  if (served || created === undefined || tests.length === 0) return { code: 'column_published_at', sql: null };
  return indexAdvice(outbox, size, 'index_waiting', created, tests);
}

/** The statement a DBA would run; none for a view, nor for a partitioned table, where the server refuses CONCURRENTLY: it takes one per partition. */
function indexAdvice(outbox: Outbox, { partitioned }: Size, code: string, column: string, tests: Leaf[]): Choice['advice'] {
  const { quote } = outbox.database.engine;
  const { description, table } = outbox.main;
  if (description.kind !== 'table' || partitioned) return { code: 'base_table_needed', sql: null };
  const literal = (value: string | number | boolean): string => (typeof value === 'string' ? quote.literal(value) : String(value));
  const where = tests.map((test) => {
    const name = quote.identifier(test.column);
    if ('isNull' in test) return `${name} IS ${test.isNull ? '' : 'NOT '}NULL`;
    if ('in' in test) return `${name} IN (${test.in.map(literal).join(', ')})`;
    return 'equals' in test ? `${name} = ${literal(test.equals)}` : 'above' in test ? `${name} > ${String(test.above)}` : 'true';
  });
  const on = [table.schema, table.table].flatMap((name) => (name === null ? [] : [quote.identifier(name)])).join('.');
  return { code, sql: `CREATE INDEX CONCURRENTLY ON ${on} (${quote.identifier(column)}) WHERE ${where.join(' AND ')};` };
}
