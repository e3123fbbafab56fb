import { groupBy } from './group-by';
import { causeText, errorTemplate } from './lists/cause';
import type { DeadLetterGroup, EventFilter, OutboxEvent } from './model';
import { sumAmounts } from './text/money';

/** A dead event for counting, as the viewer may see it. */
export type DeadEvent = Pick<OutboxEvent, 'id' | 'type' | 'error' | 'createdAt'> &
  Partial<Pick<OutboxEvent, 'diedAt' | 'amount' | 'currency'>>;

/** Groups dead events (newest first) by cause; texts that differ get their template. Largest group first. */
export function groupByCause(outbox: string, events: readonly DeadEvent[]): DeadLetterGroup[] {
  const causes = groupBy(events, ({ type, error }) => JSON.stringify([type, error === null ? null : errorTemplate(error)]));
  return [...causes.values()].map((rows) => groupOf(outbox, rows)).sort(byCount);
}

export const byCount = (a: DeadLetterGroup, b: DeadLetterGroup): number =>
  b.count - a.count || (b.lastSeenAt ?? '').localeCompare(a.lastSeenAt ?? '');

function groupOf(outbox: string, rows: [DeadEvent, ...DeadEvent[]]): DeadLetterGroup {
  const [{ id, type, error }] = rows;
  const texts = new Set(rows.map((row) => row.error && causeText(row.error)));
  const seen = rows.some(({ diedAt = null }) => diedAt !== null) ? 'died' : 'created';
  const times = rows.flatMap((row) => row[`${seen}At`] ?? []).sort();
  const amounts = rows.map(({ amount = null, currency = null }) => ({ amount, currency }));
  return {
    outbox,
    type,
    error: error && (texts.size === 1 ? causeText(error) : errorTemplate(error)),
    count: rows.length,
    firstSeenAt: times[0] ?? null,
    lastSeenAt: times.at(-1) ?? null,
    seen,
    sampleEventId: id,
    sums: sumAmounts(amounts),
    summed: amounts.filter((amount) => sumAmounts([amount]).length > 0).length,
  };
}

/** A filter for the rows of a group; rows without an error are found by type only. */
export function groupFilter({ type, error }: Pick<DeadLetterGroup, 'type' | 'error'>): EventFilter {
  const cause = error === null ? '' : errorTemplate(error);
  return { type: type === null ? undefined : [type], cause: cause.trim() === '' ? undefined : cause };
}
