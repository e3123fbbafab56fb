/** How often rows that went out had been tried: what a counter still tells of a time in which nobody watched it rise. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql } from '@/lib/outbox/rows/row';
import { cellIn, type Additions } from '@/lib/rollup/additions';
import { traitsOf } from '@/lib/outbox/scan/traits';
import { typeOf } from '@/lib/outbox/scan/type-of';
import { publishedFrom, publishedIn, type Span } from './fold-sql';
import type { SeriesNames } from './series-names';

export interface PastAttempts {
  /** Steps since the epoch in which the rows were published. */
  step: number;
  type: string | null;
  /** Attempts of theirs that failed, which are as many as were repeated. */
  failed: number;
}

/** Of rows published in a span; none where no counter is kept. Served and bounded like the cells of the same span. */
export async function readPastAttempts(db: Db, outbox: Outbox, span: Span, stepMinutes: number): Promise<PastAttempts[]> {
  const { attempts: counted, countsClaims } = traitsOf(outbox);
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const attempts = at.role('attempts');
  if (!counted || attempts === null) return [];
  // A counter that rises at the claim has counted the attempt that succeeded, too.
  const failed = sql`${fragments.integer(attempts.sql)} - ${sql.lit(countsClaims ? 1 : 0)}`;
  const type = typeOf(outbox, at);
  const step = fragments.epochSteps(at.roleInstant('publishedAt') ?? fragments.nothing('instant'), stepMinutes * 60);
  const { rows } = await sql<{ step: number | string; type: string | null; failed: string }>`
    select ${step} as step, ${fragments.bytewise(type)} as type, sum(${failed}) as failed
    from ${publishedFrom(outbox)} where ${publishedIn(outbox, span)} and ${failed} > 0 group by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, step: Number(row.step), failed: Number(row.failed) }));
}

/** Adds them to the time in which their rows went out: when each attempt failed no row tells. */
export function addPastAttempts(additions: Additions, past: readonly PastAttempts[], names: SeriesNames, stepMinutes: number): void {
  for (const { step, type, failed } of past) {
    for (const series of names.allOf(type)) {
      const cell = cellIn(additions, step * stepMinutes, series);
      cell.failures += failed;
      cell.retries += failed;
    }
  }
}
