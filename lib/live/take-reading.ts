/** One reading of an outbox. Where an engine evaluates a subquery at each use, bounded rows are fetched and the store computes from them. */
import { groupBy } from '@/lib/shared/group-by';
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import { slotSight } from '@/lib/outbox/replication-slots/seen';
import { SCAN, FETCHED_ROWS, PARTS, isCut, type Part, type Source } from '@/lib/outbox/scan/sources';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { cellIn, ALL_TYPES, OTHER_TYPES, TOUCHED, seriesOfType, type Additions } from '@/lib/rollup/cell';
import { addTo } from '@/lib/rollup/histogram';
import { FETCH_STATEMENT_MS, READING_STATEMENT_MS, COMPUTE_STATEMENT_MS } from '@/lib/shared/polling';
import type { Store } from '@/lib/store/store';
import type { Aggregates, Coverage, Reading, SliceCount } from './reading';
import { AXES, type Axis } from './over-time-sql';
import {
  actedFrom,
  countedName,
  endsOf,
  figuresStatement,
  planOf,
  readingStatement,
  sourcesFor,
  BASE_COLUMNS,
  instant,
  rowsFrom,
  type Plan,
  type ReadingRow,
  type BaseColumn,
  type ReadingInput,
} from './reading-sql';

/** In one read-only transaction; of published rows only those since `foldedTo`. Throws DatabaseFailure, NotComputed if the store cannot. */
export async function readNow(
  outbox: Outbox,
  { foldedTo, aggregates, compute, acted }: Pick<Plan, 'foldedTo' | 'aggregates'> & { compute: Compute | null; acted: boolean },
): Promise<Reading> {
  const plan = planOf(outbox, foldedTo, aggregates, { slots: await slotSight(outbox), acted });
  const { database } = outbox;
  const row = database.engine.features.sharesSubqueries ? await readThere(outbox, plan) : await fetchAndCompute(outbox, plan, compute);
  if (row === undefined) throw new Error('A reading answers one row');
  return toReading(plan, row);
}

const readThere = (outbox: Outbox, plan: Plan): Promise<ReadingRow | undefined> =>
  outbox.database.read(
    async (db) => {
      await outbox.database.engine.byIndex(db, { memory: true });
      const { rows } = await readingStatement(outbox, plan).execute(db);
      return rows[0];
    },
    { statementMs: READING_STATEMENT_MS, alone: true },
  );

async function fetchAndCompute(outbox: Outbox, plan: Plan, compute: Compute | null): Promise<ReadingRow | undefined> {
  if (compute === null) throw new NotComputed('there is no store to compute the figures');
  const input = await outbox.database.read(
    async (db) => {
      await outbox.database.engine.byIndex(db);
      return fetchRows(db, outbox, plan);
    },
    // The end of a scan along a key is read first, and what operators did last, by statements of their own.
    { statementMs: FETCH_STATEMENT_MS, alone: plan.acted === null && plan.sources.every(({ walk }) => walk === null) },
  );
  return compute(figuresStatement(input));
}

/** A slice has the same index in all columns; null if there is no slice. */
type SliceColumns = Record<'at' | 'n', number[] | null> & { untold?: number[] | null };

const slicesOf = (columns: SliceColumns | undefined): Map<number, SliceCount> =>
  new Map(columns?.at?.map((slice, place) => [slice, { n: columns.n?.[place] ?? 0, untold: columns.untold?.[place] ?? 0 }]));

interface TailRow extends Record<'at' | 'n' | 'ms' | 'negative', number> {
  type: string | null;
  latency: number | null;
  processing: number | null;
  touched?: boolean;
}

function toReading({ sources, absent, traits, foldedTo, aggregates }: Plan, row: ReadingRow): Reading {
  const rowsRead = JSON.parse(row.rows_read) as Record<string, number>;
  const slices = JSON.parse(row.slices) as Partial<Record<Axis, SliceColumns>>;
  const reachOf = (part: Part): Coverage => {
    if (absent.includes(part)) return 'absent';
    const counted = (source: Source): number | null => rowsRead[countedName(source.name)] ?? null;
    const cut = sourcesFor(part, sources).some((source) => isCut(source, rowsRead[source.name] ?? 0, counted(source)));
    return cut ? 'cut' : 'complete';
  };
  const perPart = <T>(value: (part: Part) => T): Record<Part, T> =>
    Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Record<Part, T>;
  return {
    asOf: row.as_of,
    foldedTo,
    traits,
    reach: perPart(reachOf),
    ordered: perPart((part) => {
      const ofPart = sourcesFor(part, sources);
      // The newest dead of two tables are not in one order.
      if (part === 'dead' && ofPart.length !== 1) return false;
      // A scan that begins with the newest rows leaves out the oldest: of waiting rows those are the ones that matter.
      return ofPart.every(({ name, ordered }) => ordered && !(name === SCAN && part === 'waiting'));
    }),
    rowsRead: Object.values(rowsRead).reduce((sum, rows) => sum + rows, 0),
    deadDetailed: sourcesFor('dead', sources).every(({ name, limit }) => (rowsRead[name] ?? 0) < limit),
    figures: digested(JSON.parse(row.figures) as Reading['figures'], aggregates),
    types: JSON.parse(row.types) as Reading['types'],
    slices: Object.fromEntries(AXES.map((axis) => [axis, slicesOf(slices[axis])])) as unknown as Reading['slices'],
    tail: tailOf(JSON.parse(row.tail) as TailRow[]),
  };
}

function digested(figures: Reading['figures'], aggregates: readonly Aggregates[]): Reading['figures'] {
  const digests = aggregates.flatMap(({ owner, digest }) => {
    const told = figures[owner];
    return digest === undefined || told === undefined ? [] : [[owner, digest(told)] as const];
  });
  return { ...figures, ...Object.fromEntries(digests) };
}

function tailOf(rows: TailRow[]): Additions {
  const tail: Additions = new Map();
  for (const { at, type, latency, processing, n, ms, negative, touched = false } of rows) {
    const apart = touched && latency !== null;
    for (const series of [ALL_TYPES, type === null ? OTHER_TYPES : seriesOfType(type)]) {
      const cell = cellIn(tail, at, series);
      cell.published += n;
      if (!apart) cell.latencySumMs += ms;
      if (!apart) cell.negative += negative;
      if (latency !== null && !apart) addTo(cell.latency, latency, n);
      if (processing !== null) addTo(cell.processing, processing, n);
    }
    if (apart) addTo(cellIn(tail, at, TOUCHED).latency, latency, n);
  }
  return tail;
}

const NAMES = Object.keys(BASE_COLUMNS) as BaseColumn[];
const NUMBERS: readonly BaseColumn[] = ['state', 'serial', 'attempts', 'written', 'taken'];

type FetchedRow = Record<BaseColumn, string | number | null> & { source: string };

/** The part of the result that is not a row of a source: the ends of the table, the time, and whether rows are hidden. */
const ENDS = 'ends';

/** Reads sources, counts and ends in one statement on one snapshot, the end of a scan before it; locks nothing. Throws DatabaseFailure. */
export async function fetchRows(db: Db, outbox: Outbox, plan: Plan): Promise<ReadingInput> {
  const scan = plan.sources.find(({ name }) => name === SCAN) ?? null;
  const walked = (await scan?.walk?.ends.execute(db))?.rows[0] ?? null;
  const { rows } = await fetchStatement(outbox, plan, walked?.edge ?? null).execute(db);
  const acted = (await plan.acted?.execute(db))?.rows ?? null;
  const bySource = groupBy(rows, ({ source }) => source);
  const ends = bySource.get(ENDS)?.[0];
  if (ends?.attempted == null) throw new Error('a reading says when it was taken');
  const counts = { n: Number(ends.written), published_rows: Number(ends.taken) };
  return {
    ...plan,
    sources: plan.sources.map((source) => ({
      ...source,
      query: rowsFrom(asJson(bySource.get(source.name) ?? [])),
      counted: source.counted && sql`select ${sql.lit(Number(bySource.get(countedName(source.name))?.[0].attempts ?? 0))} as n`,
    })),
    newest: plan.newest && endsOf({ ...counts, newest_created: ends.created, last_published: ends.published, newest_serial: ends.serial }),
    now: instant(ends.attempted),
    hidden: sql.lit(Number(ends.attempts) === 1),
    acted: acted && actedFrom(JSON.stringify(acted)),
    slots: null,
    // If not every row of a scan was fetched, it counts as cut short: its count is its limit.
    scanEnds: walked && scan && { ...walked, n: (bySource.get(SCAN)?.length ?? 0) < FETCHED_ROWS ? walked.n : scan.limit },
  };
}

/** Each part is in parentheses, so that its order and its limit are its own. */
function fetchStatement(outbox: Outbox, { sources, newest, traits }: Plan, edge: string | null): Sql<FetchedRow> {
  const { fragments } = outbox.database.engine;
  const nothing = (name: BaseColumn): Sql => fragments.nothing(NUMBERS.includes(name) ? 'integer' : 'text');
  const one = (source: string, values: Partial<Record<BaseColumn, Sql>>, from = sql``): Sql =>
    sql`(select ${fragments.bytewise(sql.lit(source))} as source, ${sql.join(NAMES.map((name) => sql`${values[name] ?? nothing(name)} as ${sql.id(name)}`))}${from})`;
  const of = (column: string): Sql => sql.ref(`newest.${column}`);
  const times = { created: fragments.instantText(of('newest_created')), published: fragments.instantText(of('last_published')) };
  const ends = { ...times, written: of('n'), taken: of('published_rows'), serial: of('newest_serial') };
  const attempts = sql`case when ${fragments.hidesRows(traits.tables)} then 1 else 0 end`;
  const here = { attempted: fragments.instantText(fragments.now()), attempts };
  const parts = [
    newest === null ? one(ENDS, here) : one(ENDS, { ...ends, ...here }, sql` from (${newest}) as newest`),
    ...sources.flatMap(({ name, query, walk, counted }) => [
      // Without a last row there is nothing to scan.
      ...(walk === null ? [sql`(${query})`] : edge === null ? [] : [sql`(${walk.rows(edge)})`]),
      ...(counted === null ? [] : [one(countedName(name), { attempts: sql`(${counted})` })]),
    ]),
  ];
  return sql<FetchedRow>`${sql.join(parts, sql` union all `)}`;
}

/** NULLs are left out. */
function asJson(rows: readonly FetchedRow[]): string {
  const told = (row: FetchedRow) => NAMES.flatMap((name) => (row[name] === null ? [] : [[name, withoutNul(row[name])]]));
  return JSON.stringify(rows.map((row) => Object.fromEntries(told(row))));
}

/** PostgreSQL's texts cannot hold NUL: it is replaced by U+FFFD. */
const withoutNul = (value: string | number | null): string | number | null =>
  typeof value === 'string' && value.includes('\u0000') ? value.replaceAll('\u0000', '\ufffd') : value;

/** Computes the figures from rows that were fetched. Throws NotComputed if it cannot. */
export type Compute = (statement: Sql<ReadingRow>) => Promise<ReadingRow | undefined>;

/** The store did not compute the figures of an outbox, or there is no store. */
export class NotComputed extends Error {
  override name = 'NotComputed';
}

/** Computes in the console's store, from a parameter and without reading its tables; holds a connection to it meanwhile. */
export function computeInStore({ db }: Store): Compute {
  return async (statement) => {
    try {
      return await db
        .withoutPlugins()
        .transaction()
        .setAccessMode('read only')
        .execute(async (transaction) => {
          await sql`select set_config('statement_timeout', ${String(COMPUTE_STATEMENT_MS)}, true), set_config('jit', 'off', true),
            set_config('max_parallel_workers_per_gather', '0', true), set_config('work_mem', '32MB', true)`.execute(transaction);
          const { rows } = await statement.execute(transaction);
          return rows[0];
        });
    } catch (error) {
      throw new NotComputed('the store did not compute the figures', { cause: error });
    }
  };
}
