import { sql, type RawBuilder } from 'kysely';
import type { Fragments } from '@/lib/database/engine';
import { postgresFragments } from '@/lib/database/postgres/fragments';
import { BUCKETS_PER_OCTAVE, FIRST_OCTAVE } from './histogram';

/**
 * The bucket of a duration in milliseconds (double precision), as `bucketOf` of histogram.ts computes it: never in numeric,
 * whose logarithm costs three times as much. NULL for NULL. Of the console's own database unless told otherwise.
 */
export function bucketSql(milliseconds: RawBuilder<unknown>, { float, shortInteger }: Fragments = postgresFragments): RawBuilder<unknown> {
  const ms = float(milliseconds);
  const octave = sql`floor(ln(${ms}) / ${float(sql.lit(Math.LN2))})`;
  const first = 1 - FIRST_OCTAVE * BUCKETS_PER_OCTAVE;
  // A logarithm that lands just beside a whole number gives the same bucket: the end of one octave is the start of the next.
  const bucket = sql`${sql.lit(first)} + ${octave} * ${sql.lit(BUCKETS_PER_OCTAVE)} + floor((${ms} / power(${float(sql.lit(2))}, ${octave}) - 1) * ${sql.lit(BUCKETS_PER_OCTAVE)})`;
  return sql`case when ${ms} < ${float(sql.lit(2 ** FIRST_OCTAVE))} then 0 when ${ms} is not null then ${shortInteger(bucket)} end`;
}
