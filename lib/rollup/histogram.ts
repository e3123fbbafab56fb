import { sql, type RawBuilder } from 'kysely';
import type { Fragments } from '@/lib/database/fragments';
import { postgresFragments } from '@/lib/database/postgres/fragments';

/**
 * Durations as a sparse log-linear histogram: 32 equal buckets per doubling from a microsecond up, so that the value of a bucket is off by
 * at most 1 part in 65. Histograms of any two slices of time merge by adding their counts. `bucketSql` puts values into the same buckets
 * inside the database.
 */

const BUCKETS_PER_OCTAVE = 32;
/** The first octave begins at 2^-10 ms, about a microsecond: the clocks of databases are not finer. */
const FIRST_OCTAVE = -10;
/** The largest error of a quantile, as a share of the true value. */
export const RELATIVE_ERROR = 1 / (2 * BUCKETS_PER_OCTAVE + 1);

/** Events by bucket; buckets without an event are left out. */
export type Histogram = Map<number, number>;

/** The bucket of a duration in milliseconds; 0 holds what is shorter than a microsecond, negative durations too. */
export function bucketOf(milliseconds: number): number {
  if (!(milliseconds >= 2 ** FIRST_OCTAVE)) return 0;
  // A logarithm that lands just beside a whole number gives the same bucket: the end of one octave is the start of the next.
  const octave = Math.floor(Math.log2(milliseconds));
  return 1 + (octave - FIRST_OCTAVE) * BUCKETS_PER_OCTAVE + Math.floor((milliseconds / 2 ** octave - 1) * BUCKETS_PER_OCTAVE);
}

/** Where a bucket begins and ends, in milliseconds. */
export function bucketBounds(bucket: number): { from: number; to: number } {
  if (bucket <= 0) return { from: 0, to: 2 ** FIRST_OCTAVE };
  const edge = (position: number): number =>
    2 ** (FIRST_OCTAVE + Math.floor(position / BUCKETS_PER_OCTAVE)) * (1 + (position % BUCKETS_PER_OCTAVE) / BUCKETS_PER_OCTAVE);
  return { from: edge(bucket - 1), to: edge(bucket) };
}

/** The value of a bucket, in milliseconds: the harmonic mean of its ends, so that the relative error is the same at both. */
export function bucketValue(bucket: number): number {
  if (bucket <= 0) return 0;
  const { from, to } = bucketBounds(bucket);
  return (2 * from * to) / (from + to);
}

export function addTo(histogram: Histogram, bucket: number, count = 1): void {
  if (count !== 0) histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
}

export function mergeInto(histogram: Histogram, other: Histogram): void {
  for (const [bucket, count] of other) addTo(histogram, bucket, count);
}

export const countOf = (histogram: Histogram): number => [...histogram.values()].reduce((total, count) => total + count, 0);

/** `bucketOf` in SQL, of double precision: a logarithm in numeric costs three times as much. NULL for NULL. */
export function bucketSql(milliseconds: RawBuilder<unknown>, { float, shortInteger }: Fragments = postgresFragments): RawBuilder<unknown> {
  const ms = float(milliseconds);
  const octave = sql`floor(ln(${ms}) / ${float(sql.lit(Math.LN2))})`;
  const first = 1 - FIRST_OCTAVE * BUCKETS_PER_OCTAVE;
  // A logarithm that lands just beside a whole number gives the same bucket: the end of one octave is the start of the next.
  const bucket = sql`${sql.lit(first)} + ${octave} * ${sql.lit(BUCKETS_PER_OCTAVE)} + floor((${ms} / power(${float(sql.lit(2))}, ${octave}) - 1) * ${sql.lit(BUCKETS_PER_OCTAVE)})`;
  return sql`case when ${ms} < ${float(sql.lit(2 ** FIRST_OCTAVE))} then 0 when ${ms} is not null then ${shortInteger(bucket)} end`;
}

/** Events by the first of these upper bounds that `valueOf` their bucket keeps to; the last count is of those above all bounds. */
export function countsByBound(histogram: Histogram, bounds: readonly number[], valueOf: (bucket: number) => number): number[] {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const [bucket, count] of histogram) {
    const found = bounds.findIndex((bound) => valueOf(bucket) <= bound);
    const at = found === -1 ? bounds.length : found;
    counts[at] = (counts[at] ?? 0) + count;
  }
  return counts;
}
