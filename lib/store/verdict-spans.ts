/** Queries on `verdict_span`: when each verdict began to hold, and when it ended. */
import { sql } from 'kysely';
import type { Verdict, VerdictSpan } from '@/lib/shared/figures/verdicts';
import type { StoreDb, StoreTransaction } from './store';

export type VerdictChanges = Record<'begun' | 'ended', { verdict: Verdict; at: string }[]>;

/** Of each outbox the verdicts that hold and since when, in one statement; served by `verdict_span_open`. */
export async function openVerdictSpans(db: StoreDb, outboxes: readonly string[]): Promise<Map<string, Map<Verdict, string>>> {
  const open = new Map(outboxes.map((outbox) => [outbox, new Map<Verdict, string>()]));
  if (outboxes.length === 0) return open;
  const spans = db.selectFrom('verdict_span').select(['outbox', 'verdict', 'beganAt']).where('outbox', 'in', outboxes);
  const rows = await spans.where('endedAt', 'is', null).execute();
  for (const { outbox, verdict, beganAt } of rows) open.get(outbox)?.set(verdict, beganAt);
  return open;
}

/** Verdicts that began or ended since, the last change first; served by `verdict_span_ended`. Locks nothing. */
export function recentVerdictSpans(db: StoreDb, since: string, limit: number): Promise<VerdictSpan[]> {
  return db
    .selectFrom('verdict_span')
    .select(['outbox', 'verdict', 'beganAt', 'endedAt'])
    .where('verdict', '<>', 'healthy')
    .where((eb) => eb.or([eb('endedAt', '>=', since), eb.and([eb('endedAt', 'is', null), eb('beganAt', '>=', since)])]))
    .orderBy(sql`coalesce(ended_at, began_at)`, 'desc')
    .limit(limit)
    .execute();
}

/** Enters what began and ended. Only inside a transaction that holds the outbox's lease. */
export async function putVerdictChanges(db: StoreTransaction, outbox: string, { begun, ended }: VerdictChanges): Promise<void> {
  for (const { verdict, at } of ended) {
    await db
      .updateTable('verdict_span')
      // Times of an outage are by our clock, others by that of the observed database.
      .set({ endedAt: sql<string>`greatest(began_at, ${at}::timestamptz)` })
      .where('outbox', '=', outbox)
      .where('verdict', '=', verdict)
      .where('endedAt', 'is', null)
      .execute();
  }
  if (begun.length === 0) return;
  await db
    .insertInto('verdict_span')
    .values(begun.map(({ verdict, at }) => ({ outbox, verdict, beganAt: at, endedAt: null })))
    // The same start again is the same incident.
    .onConflict((conflict) => conflict.columns(['outbox', 'verdict', 'beganAt']).doUpdateSet({ endedAt: null }))
    .execute();
}
