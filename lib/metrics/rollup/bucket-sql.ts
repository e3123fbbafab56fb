import { sql } from 'kysely';
import type { Sql } from '../spelling';
import { BUCKETS_PER_OCTAVE, FIRST_OCTAVE } from './histogram';

/**
 * The bucket of a duration in milliseconds (double precision), as `bucketOf` of histogram.ts computes it: never in numeric,
 * whose logarithm costs three times as much. NULL for NULL.
 */
export function bucketSql(milliseconds: Sql): Sql {
  const ms = sql`(${milliseconds})::float8`;
  const octave = sql`floor(ln(${ms}) / ${sql.lit(Math.LN2)}::float8)`;
  const first = 1 - FIRST_OCTAVE * BUCKETS_PER_OCTAVE;
  // A logarithm that lands just beside a whole number gives the same bucket: the end of one octave is the start of the next.
  return sql`case when ${ms} < ${sql.lit(2 ** FIRST_OCTAVE)}::float8 then 0
    when ${ms} is not null then (${sql.lit(first)} + ${octave} * ${sql.lit(BUCKETS_PER_OCTAVE)} + floor((${ms} / power(2::float8, ${octave}) - 1) * ${sql.lit(BUCKETS_PER_OCTAVE)}))::int end`;
}
