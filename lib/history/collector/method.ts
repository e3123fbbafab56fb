import { commonTests, notNull } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import type { TableSize } from '@/lib/database/engine';
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import { kindOf } from '@/lib/shape/shape';
import type { CollectionMethod } from '@/lib/shared/figures/collection';
import { fitBlocks, fitRange, fitTests, numberedKey, type Fit } from '@/lib/outbox/indexes/index-fit';
import { createIndexStatement, indexedPlace, isIndexTest, publishedIndex, waitingIndex } from '@/lib/outbox/indexes/wanted-index';
import { countersGrant } from '@/lib/outbox/rights/rights';
import { STATES_OF, READING_ROWS } from '@/lib/outbox/scan/sources';
import { timeColumn } from '@/lib/outbox/scan/traits';

/** How rows published in a span are found: by an ordered index, by a block index (BRIN), or by reading the whole table. */
export type Access = 'ordered' | 'blocks' | 'whole';

export interface Choice {
  method: CollectionMethod;
  /** null unless rows are counted by their time of publishing. */
  access: Access | null;
  /** Whether the method sees anything: if not, no minute counts as watched. */
  sees: boolean;
  advice: { code: string; sql: string | null } | null;
}

/** Above this many rows an index is advised instead of reading the whole table. */
const SMALL_ROWS = 20_000;

export interface Size extends TableSize {
  /** The database reports its counts of changes; only checked if the choice depends on it. */
  counted: boolean;
}

/** What the choice depends on, from the catalogue and the database's own counters; reads no row of the table. */
export async function sizeOf(db: Db, outbox: Outbox): Promise<Size> {
  const { database, main } = outbox;
  const size = await database.engine.tableSize(db, main.table);
  const matters = size.rows > READING_ROWS || !keepsPublished(outbox);
  return { ...size, counted: matters && (await database.engine.changeCounts(db, main.table)) !== null };
}

const keepsPublished = ({ shape }: Outbox): boolean => shape.states.some((rule) => rule.state === 'published');

/** The column with the time of publishing; null if there is none, or only a date. */
export function publishedColumn({ main }: Outbox): string | null {
  const column = timeColumn(main, 'publishedAt');
  return column !== null && main.description.columns.get(column)?.type === 'date' ? null : column;
}

const publishedTests = ({ shape }: Outbox, column: string): Leaf[] => [...commonTests(shape, STATES_OF.published), notNull(column)];

export function publishedByIndex(outbox: Outbox): Fit | null {
  const column = publishedColumn(outbox);
  return column === null ? null : fitRange(outbox.main, 'o', column, publishedTests(outbox, column));
}

/** How an outbox with a table of this size is collected. */
export function chooseMethod(outbox: Outbox, size: Size): Choice {
  const { main } = outbox;
  const { rows } = size;
  const counters = size.counted ? null : countersAdvice(outbox);
  // What is published from the log cannot be seen, only what is created.
  if (kindOf(outbox.shape) === 'external') return { ...seeing('statistics', null, counters), sees: size.counted };
  if (!keepsPublished(outbox)) return seeing('deleted', null, counters);
  const published = publishedColumn(outbox);
  const orderedAdvice = published === null ? null : indexAdvice(outbox, size, 'index_published_at', publishedIndex(published));
  if (published !== null) {
    if (publishedByIndex(outbox) !== null) return seeing('published_index', 'ordered', null);
    if (fitBlocks(main, published, publishedTests(outbox, published))) return seeing('published_index', 'blocks', null);
    if (rows <= READING_ROWS) return seeing('scan', 'whole', rows <= SMALL_ROWS ? null : orderedAdvice);
  }
  const waiting = fitTests(main, 'o', timeColumn(main, 'createdAt'), commonTests(outbox.shape, STATES_OF.waiting)) !== null;
  const advice = orderedAdvice ?? waitingIndexAdvice(outbox, size, waiting || rows <= SMALL_ROWS);
  if (waiting || numberedKey(main) !== null || rows <= READING_ROWS) return seeing('observed', null, advice);
  if (size.counted) return seeing('statistics', null, advice);
  return { ...seeing('observed', null, advice), sees: false };
}

const seeing = (method: CollectionMethod, access: Access | null, advice: Choice['advice']): Choice => {
  return { method, access, sees: true, advice };
};

/** The grant that an installation makes too. The host of the login is not known here: '%' is any. */
function countersAdvice({ main, database: { engine, roles } }: Outbox): Choice['advice'] {
  // Changes to a view are not counted, whatever is granted.
  if (main.description.kind !== 'table') return { code: 'base_table_needed', sql: null };
  const account = `${engine.quote.literal(roles.reader)}@${engine.quote.literal('%')}`;
  return { code: 'read_counters', sql: engine.changeCounters === null ? null : `${countersGrant(engine.changeCounters, account)};` };
}

/** A shape without a time of publishing is always observed; an index on what waits makes that cheap. */
function waitingIndexAdvice(outbox: Outbox, size: Size, served: boolean): Choice['advice'] {
  const created = timeColumn(outbox.main, 'createdAt') ?? outbox.main.id[0]?.name;
  const tests = commonTests(outbox.shape, STATES_OF.waiting).filter(isIndexTest);
  if (served || created === undefined || tests.length === 0) return { code: 'column_published_at', sql: null };
  return indexAdvice(outbox, size, 'index_waiting', waitingIndex(outbox.database.engine, tests, created));
}

/** The doctor's statement; null for a view, and for a partitioned table, whose partitions the doctor names. */
function indexAdvice({ main, database }: Outbox, { partitioned }: Size, code: string, wanted: ReturnType<typeof waitingIndex>) {
  if (main.description.kind !== 'table' || partitioned) return { code: 'base_table_needed', sql: null };
  return { code, sql: createIndexStatement(database.engine, indexedPlace(main), wanted) };
}
