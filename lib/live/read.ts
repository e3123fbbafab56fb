import type { Outbox } from '@/lib/outbox/outbox';
import { FETCH_STATEMENT_MS, READING_STATEMENT_MS } from '@/lib/shared/polling';
import { fetchRows } from './fetch-rows';
import type { Aggregates } from './base';
import type { Reach, Reading, SliceCount } from './reading';
import { NotComputed, type Compute } from './compute-in-store';
import { countedName, figuresStatement, planOf, readingStatement, sourcesFor, type Plan, type ReadingRow } from './reading-sql';
import { addTo } from '@/lib/rollup/histogram';
import { cellIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES, OTHER_TYPES, seriesOfType } from '@/lib/rollup/series-key';
import { SCAN } from '@/lib/outbox/scan/scan';
import { AXES, type Axis } from './slices';
import { PARTS, type Part } from '@/lib/outbox/scan/source';
import { isCut } from '@/lib/outbox/scan/sources';

/**
 * Takes one reading in one read-only transaction, of published rows only those since `foldedTo` (ISO 8601; none for null).
 * What the database does not compute itself is computed by `compute`. Throws DatabaseFailure, and NotComputed where there
 * is nobody to compute.
 */
export async function readNow(
  outbox: Outbox,
  { foldedTo, aggregates, compute }: { foldedTo: string | null; aggregates: readonly Aggregates[]; compute: Compute | null },
): Promise<Reading> {
  const plan = planOf(outbox, foldedTo, aggregates);
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
    // A scan along a key has its end read first.
    { statementMs: FETCH_STATEMENT_MS, alone: plan.sources.every(({ walk }) => walk === null) },
  );
  return compute(figuresStatement(input));
}

/** A slice's values have one place in all columns; null where there is no slice. */
type SliceColumns = Record<'at' | 'n', number[] | null> & { untold?: number[] | null };

function slicesOf(columns: SliceColumns | undefined): Map<number, SliceCount> {
  return new Map(columns?.at?.map((slice, place) => [slice, { n: columns.n?.[place] ?? 0, untold: columns.untold?.[place] ?? 0 }]));
}

interface TailRow {
  at: number;
  type: string | null;
  latency: number | null;
  processing: number | null;
  n: number;
  ms: number;
  negative: number;
}

function toReading({ sources, absent, traits, foldedTo }: Plan, row: ReadingRow): Reading {
  const rowsRead = JSON.parse(row.rows_read) as Record<string, number>;
  const slices = JSON.parse(row.slices) as Partial<Record<Axis, SliceColumns>>;
  const reachOf = (part: Part): Reach => {
    if (absent.includes(part)) return 'absent';
    const cut = sourcesFor(part, sources).some((source) =>
      isCut(source, rowsRead[source.name] ?? 0, rowsRead[countedName(source.name)] ?? null),
    );
    return cut ? 'cut' : 'complete';
  };
  const perPart = <T>(value: (part: Part) => T): Record<Part, T> =>
    Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Record<Part, T>;
  return {
    asOf: row.as_of,
    foldedTo,
    traits,
    reach: perPart(reachOf),
    // A scan that begins with the newest rows leaves out the oldest: of what waits those are the ones that matter.
    ordered: perPart((part) => sourcesFor(part, sources).every(({ name, ordered }) => ordered && !(name === SCAN && part === 'waiting'))),
    rowsRead: Object.values(rowsRead).reduce((sum, rows) => sum + rows, 0),
    deadDetailed: sourcesFor('dead', sources).every(({ name, limit }) => (rowsRead[name] ?? 0) < limit),
    figures: JSON.parse(row.figures) as Reading['figures'],
    types: JSON.parse(row.types) as Reading['types'],
    slices: Object.fromEntries(AXES.map((axis) => [axis, slicesOf(slices[axis])])) as unknown as Reading['slices'],
    tail: tailOf(JSON.parse(row.tail) as TailRow[]),
  };
}

function tailOf(rows: TailRow[]): Additions {
  const tail: Additions = new Map();
  for (const { at, type, latency, processing, n, ms, negative } of rows) {
    for (const series of [ALL_TYPES, type === null ? OTHER_TYPES : seriesOfType(type)]) {
      const cell = cellIn(tail, at, series);
      cell.published += n;
      cell.latencySumMs += ms;
      cell.negative += negative;
      if (latency !== null) addTo(cell.latency, latency, n);
      if (processing !== null) addTo(cell.processing, processing, n);
    }
  }
  return tail;
}
