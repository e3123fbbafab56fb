/** Indexes that relays and the console need: missing ones, unfinished ones, and dead events in the index of waiting ones. */
import { commonTests, disjoint, notNull, valuesOf } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import { fitBlocks, fitRange, fitTests, fitWalk, fixes, holds } from '@/lib/outbox/indexes/index-fit';
import { listOf } from '@/lib/outbox/lists/walks';
import type { Outbox } from '@/lib/outbox/outbox';
import { timeColumn } from '@/lib/outbox/scan/traits';
import { isIndexTest, leadingColumns, listIndex, publishedIndex, waitingIndex, type WantedIndex } from '@/lib/outbox/indexes/wanted-index';
import type { FindingValues } from '@/lib/shared/doctor';
import type { LiveState } from '@/lib/shared/states';
import { SMALL_ROWS, type CheckInput, type Checks, type Found } from './check';
import { tablesOf, type IndexFacts, type TableFacts } from './facts/facts';
import { ratesOf } from './samples';

const WAITING: readonly LiveState[] = ['pending', 'retrying'];
/** From this many rows on, scanning the table for one figure slows down everything in the database. */
const GRAVE_ROWS = 1_000_000;
/** From this many dead rows on: the relay's claim steps over them, a page each. */
const STEPPED_OVER = 500;
const PAGE_BYTES = 8_192;
const FILL = 0.9;
const DEFAULT_VALUE_BYTES = 16;

const isFixed = (column: string | undefined, by: readonly Leaf[]): boolean => by.some((test) => test.column === column && fixes(test));

/** Whether an index has the waiting rows in another order that relays claim by: key, due time, priority; not type or topic. */
function leadsAnotherWay({ database, main }: Outbox, tests: readonly Leaf[]): boolean {
  const about = (['type', 'topic', 'aggregateType'] as const).map((role) => main.roles[role]?.column.name);
  const asked = new Set(tests.map(({ column }) => column));
  return main.description.indexes.some(({ columns, sorted, predicate }) => {
    if (sorted.length === 0 || !holds(predicate, [...tests])) return false;
    if (predicate === null && !isFixed(columns[0], tests)) return false;
    const order = columns.find((column) => (predicate === null ? !isFixed(column, tests) : !asked.has(column)));
    if (order === undefined) return database.engine.features.keyEndsIndexes && main.id.length === 1 && main.id[0]?.kind === 'integer';
    return !asked.has(order) && !about.includes(order);
  });
}

/** No index finds the rows of a state: counting, listing and finding stuck ones scan the table. */
function stateUnindexed(input: CheckInput, state: 'processing' | 'dead'): Found[] {
  const { outbox, facts } = input;
  const tests = testsOf(outbox, [state]);
  const created = firstColumn(outbox);
  if (tests.length === 0 || created === undefined || fitTests(outbox.main, 'o', created, tests) !== null) return [];
  if (servedByAdvice(outbox, tests, created)) return [];
  const id = outbox.main.id[0]?.name;
  const then = state === 'dead' && id !== undefined ? [created, id] : [created];
  const columns = leadingColumns(outbox.database.engine.features.partialIndexes, tests, then);
  const counted = state === 'dead' ? facts.rows.dead?.count : undefined;
  return missingIndex(input, facts.main, { purpose: state, columns, tests }, counted ?? entriesOf(facts.main, tests));
}

/** The same for a large dead-letter table. */
function deadTableUnindexed(input: CheckInput): Found[] {
  const { outbox, facts } = input;
  if (outbox.dead === null || facts.dead === null) return [];
  const since = timeColumn(outbox.dead, 'diedAt') ?? timeColumn(outbox.dead, 'createdAt');
  if (since === null || fitWalk(outbox.dead, since, [], false) !== null) return [];
  const id = outbox.main.id[0]?.name;
  const wanted = { purpose: 'died', columns: id === undefined ? [since] : [since, id], tests: [] };
  return missingIndex(input, facts.dead, wanted, facts.dead.rows ?? 0);
}

/** Whether an index finds the rows of `tests` by its predicate or first columns; with `all`, using none of those beyond `tests`. */
function leadsTo({ valid, method, predicate, columns }: IndexFacts, tests: readonly Leaf[], all = tests): boolean {
  if (!valid || method !== 'btree' || !holds(predicate, [...tests])) return false;
  if (predicate === null && !isFixed(columns[0], tests)) return false;
  // A later column may separate dead rows.
  const end = columns.findIndex((column) => !isFixed(column, all));
  return columns.slice(0, end < 0 ? columns.length : end).every((column) => isFixed(column, tests));
}

/** A finding that an index is missing, with the statement that creates it and its cost. */
function missingIndex(input: CheckInput, table: TableFacts, wanted: WantedIndex, entries: number): Found[] {
  const { rows } = table;
  if (rows === null || rows <= SMALL_ROWS) return [];
  const held = input.outbox.database.engine.features.partialIndexes ? entries : rows;
  const values = { rows, pages: Math.ceil(table.heapBytes / PAGE_BYTES), ...priceOf(input, table, wanted, held) };
  return [{ severity: rows >= GRAVE_ROWS ? 'act' : 'watch', values, cure: input.fixes.createIndex(table, wanted) }];
}

/** Size by rows and width of the columns, writes that maintain it, and HOT updates lost. `entries`: how many rows it would hold. */
function priceOf(input: CheckInput, table: TableFacts, wanted: WantedIndex, entries: number): FindingValues {
  const { facts, samples, fixes, now } = input;
  const { roles } = input.outbox.main;
  const width = wanted.columns.reduce((sum, name) => sum + (table.columns.get(name)?.averageBytes ?? DEFAULT_VALUE_BYTES), 0);
  const rates = ratesOf(table, samples, facts.statisticsSince, now);
  const relayWrites = (['attempts', 'attemptedAt', 'publishedAt', 'error'] as const).map((role) => roles[role]?.column.name ?? '');
  const changes = wanted.tests.length > 0 || wanted.columns.some((column) => relayWrites.includes(column));
  return {
    entries,
    estimatedBytes: Math.max(2 * PAGE_BYTES, Math.ceil((entries * (width + fixes.entryOverheadBytes)) / FILL)),
    readBytes: table.heapBytes,
    writesPerSecond: rates === null ? null : rates.insertsPerSecond + (changes ? rates.updatesPerSecond : 0),
    hotLostPerSecond: rates === null || rates.hotUpdatesPerSecond === null ? null : changes ? rates.hotUpdatesPerSecond : 0,
  };
}

const firstColumn = ({ main }: Outbox): string | undefined => timeColumn(main, 'createdAt') ?? main.id[0]?.name;

/** The tests that an index over rows of these states can use; empty if the rules share none. */
const testsOf = ({ shape }: Outbox, states: readonly LiveState[]) => commonTests(shape, states).filter(isIndexTest);

/** About how many rows pass tests on single columns, by the server's statistics of frequent values; 0 without them. */
function entriesOf(table: TableFacts, tests: readonly Leaf[]): number {
  const shares = tests.flatMap((test): number[] => {
    const values = valuesOf(test)?.map(String) ?? [];
    const frequent = table.columns.get(test.column)?.frequent ?? [];
    if (values.length === 0 || frequent.length === 0) return [];
    return [frequent.filter(({ value }) => values.includes(value)).reduce((sum, { share }) => sum + share, 0)];
  });
  return Math.round((table.rows ?? 0) * (shares.length === 0 ? 0 : Math.min(...shares)));
}

/** Without partial indexes, the index advised for waiting events also finds those of other states by the same column. */
function servedByAdvice({ database, shape, main }: Outbox, tests: readonly Leaf[], created: string): boolean {
  if (database.engine.features.partialIndexes) return false;
  const waiting = commonTests(shape, WAITING);
  const isShared = tests.some(({ column }) => waiting.some((test) => test.column === column));
  return isShared && (fitTests(main, 'o', created, waiting)?.order ?? null) === null;
}

export const INDEX_CHECKS: Checks = {
  /** No index finds the waiting rows: each claim and each figure scans the table. */
  index_waiting(input) {
    const { outbox, facts } = input;
    const tests = testsOf(outbox, WAITING);
    const created = firstColumn(outbox);
    if (tests.length === 0 || created === undefined) return [];
    if ((fitTests(outbox.main, 'o', created, tests)?.order ?? null) !== null || leadsAnotherWay(outbox, tests)) return [];
    const wanted = waitingIndex(outbox.database.engine, tests, created);
    return missingIndex(input, facts.main, wanted, facts.rows.waiting?.seen ?? entriesOf(facts.main, tests));
  },
  index_processing: (input) => stateUnindexed(input, 'processing'),
  index_dead: (input) => (input.outbox.dead === null ? stateUnindexed(input, 'dead') : deadTableUnindexed(input)),
  /** No index in the order of publishing: what was published lately cannot be counted, and purging scans the table. */
  index_published(input) {
    const { outbox, facts } = input;
    const published = timeColumn(outbox.main, 'publishedAt');
    if (published === null || !outbox.shape.states.some((rule) => rule.state === 'published')) return [];
    const tests = [...testsOf(outbox, ['published']), notNull(published)];
    if (fitRange(outbox.main, 'o', published, tests) !== null || fitBlocks(outbox.main, published, tests)) return [];
    return missingIndex(input, facts.main, publishedIndex(published), facts.main.rows ?? 0);
  },
  /** No index has events of every state in the order of their creation: lists leave some out, or show them by key. */
  index_list(input) {
    const { outbox, facts } = input;
    const created = timeColumn(outbox.main, 'createdAt');
    if (created === null || listOf(outbox, {}).missingIndex !== 'order') return [];
    const missing = missingIndex(input, facts.main, listIndex(outbox.main, created), facts.main.rows ?? 0);
    return missing.map((found) => ({ ...found, severity: 'watch' }));
  },
  /** An index whose build failed: it is maintained with every write and serves no query. */
  index_invalid({ facts, fixes: { dropIndex } }) {
    return tablesOf(facts).flatMap((table) =>
      table.indexes.flatMap((index): Found[] => {
        const { name, bytes, unfinished } = index;
        return unfinished ? [{ severity: 'watch', subject: name, values: { index: name, bytes }, cure: dropIndex(table, index) }] : [];
      }),
    );
  },
  /** Dead events are in the index of the waiting ones: every claim steps over them before it finds work. */
  dead_in_waiting_index(input) {
    const { outbox, facts } = input;
    const { dead, waiting } = facts.rows;
    if (outbox.dead !== null || dead === null || dead.count < STEPPED_OVER) return [];
    const tests = commonTests(outbox.shape, WAITING);
    const deadTests = commonTests(outbox.shape, ['dead']);
    // Tests that waiting rows pass and dead ones do not; an index that uses none of them holds both.
    const apart = tests.filter((test) => deadTests.length > 0 && disjoint(test, { kind: 'all', all: deadTests }));
    const shared = tests.filter((test) => !apart.includes(test));
    const serving = facts.main.indexes.filter((index) => leadsTo(index, tests));
    const [index] = serving;
    const created = firstColumn(outbox);
    if (index === undefined || created === undefined || !serving.every((one) => leadsTo(one, shared, tests))) return [];
    // A full index serves other queries too, and the only one that finds the dead events of a large table is needed for that.
    const isNeeded =
      index.predicate === null ||
      ((facts.main.rows ?? 0) > SMALL_ROWS && !facts.main.indexes.some((other) => other !== index && leadsTo(other, deadTests)));
    const wanted = waitingIndex(outbox.database.engine, tests.filter(isIndexTest), created);
    const create = apart.some(isIndexTest) ? input.fixes.createIndex(facts.main, wanted) : null;
    const price = priceOf(input, facts.main, wanted, waiting?.seen ?? 0);
    const values = { index: index.name, dead: dead.count, waiting: waiting?.seen ?? null, ...price };
    const cure = create === null || isNeeded ? create : `${create}\n${input.fixes.dropIndex(facts.main, index)}`;
    return [{ severity: 'watch', subject: index.name, values, cure }];
  },
};
