import { readTotals } from '@/lib/store/rollups';
import type { StoreDb } from '@/lib/store/store';
import { getOrMake } from '@/lib/shared/group-by';
import { bucketBounds, countOf, countsByBound } from '@/lib/rollup/histogram';
import { ALL_TYPES, cellsOfTypes, seriesOfType, decodeCell, isSampled, type Cell } from '@/lib/rollup/cell';
import { OTHER, TYPES_MAX, type TypeLabels } from './counters';

/** In seconds: edges of stored buckets, so that no count has to be split. An event exactly at a bound counts above it. */
export const LATENCY_LE_SECONDS = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384, 32.768, 65.536, 131.072,
  262.144, 524.288, 1048.576, 2097.152, 4194.304, 16777.216,
] as const;

export interface LatencyTotals {
  /** Events per bucket of `LATENCY_LE_SECONDS`, not cumulative; the last count is of those above all bounds. */
  counts: readonly number[];
  sumSeconds: number;
}

/** What was collected of an outbox since it was first watched. It only grows: across restarts, replicas and purges. */
export interface OutboxTotals {
  /** Events created, counted when they are published. */
  created: number;
  published: number;
  /** null if it is not known how long publishing took. */
  latency: LatencyTotals | null;
  /** By label; `other` counts from this process's first scrape, when the types with a label are chosen. */
  types: ReadonlyMap<string, TypeTotals>;
}

type TypeTotals = Record<'retries' | 'errors', number>;

/** Reads totals, null if none: at most 51 rows by primary key once 50 types have labels. Rejects with the driver's error. */
export function createTotals(db: StoreDb, labels: TypeLabels): (outbox: string) => Promise<OutboxTotals | null> {
  const began = new Map<string, TypeTotals>();

  return async (outbox) => {
    const labelled = labels.kept(outbox);
    const wanted = labelled.length < TYPES_MAX ? undefined : [ALL_TYPES, ...labelled.map(seriesOfType)];
    const cells = new Map((await readTotals(db, outbox, wanted)).map(({ series, data }) => [series, decodeCell(data)]));
    const all = cells.get(ALL_TYPES);
    if (all === undefined) return null;
    const types = new Map<string, TypeTotals>();
    // The first labels go to the types with the most events.
    const busiest = cellsOfTypes(cells).sort(([a, one], [b, other]) => other.published - one.published || (a < b ? -1 : 1));
    for (const [type, cell] of busiest) {
      const label = labels.labelOf(outbox, type);
      if (label !== OTHER) types.set(label, plus(types.get(label), { retries: cell.retries, errors: cell.failures }));
    }
    const rest = [...types.values()].reduce(minus, { retries: all.retries, errors: all.failures });
    const before = getOrMake(began, outbox, () => rest);
    types.set(OTHER, minus(rest, before));
    return { created: all.created, published: all.published, latency: latencyOf(all), types };
  };
}

const plus = (a: TypeTotals | undefined, b: TypeTotals): TypeTotals =>
  a === undefined ? b : { retries: a.retries + b.retries, errors: a.errors + b.errors };
const less = (a: number, b: number): number => Math.max(0, a - b);
const minus = (a: TypeTotals, b: TypeTotals): TypeTotals => ({ retries: less(a.retries, b.retries), errors: less(a.errors, b.errors) });

function latencyOf(cell: Cell): LatencyTotals | null {
  const { published, latency, latencySumMs } = cell;
  if (isSampled(cell) || (published > 0 && countOf(latency) === 0)) return null;
  const counts = countsByBound(latency, LATENCY_LE_SECONDS, (bucket) => bucketBounds(bucket).to / 1_000);
  return { counts, sumSeconds: Math.max(0, latencySumMs) / 1_000 };
}
