import { causeText, errorTemplate } from './lists/cause';
import type { DeadLetterGroup, EventFilter, OutboxEvent } from './model';
import { sumAmounts } from './text/money';

/** A dead event for counting, as the viewer may see it. */
export type DeadEvent = Pick<OutboxEvent, 'id' | 'type' | 'error' | 'createdAt'> &
  Partial<Pick<OutboxEvent, 'diedAt' | 'amount' | 'currency'>>;

/** Groups dead events (newest first) by cause; texts that differ get their template. Largest group first. */
export function groupByCause(outbox: string, events: readonly DeadEvent[]): DeadLetterGroup[] {
  const groups = new Map<string, DeadLetterGroup>();
  for (const { id, type, error: whole, createdAt, diedAt, amount = null, currency = null } of events) {
    const [error, template] = whole === null ? [null, null] : [causeText(whole), errorTemplate(whole)];
    const key = JSON.stringify([type, template]);
    const group = groups.get(key);
    const at = diedAt ?? createdAt;
    const sums = sumAmounts([{ amount, currency }]);
    const one = { outbox, type, error, count: 1, firstSeenAt: at, lastSeenAt: at, sampleEventId: id, sums, summed: sums.length };
    groups.set(key, group === undefined ? one : joined(group, one, group.error === error ? error : template));
  }
  return [...groups.values()].sort(byCount);
}

export const byCount = (a: DeadLetterGroup, b: DeadLetterGroup): number => b.count - a.count || compare(b.lastSeenAt, a.lastSeenAt);

function joined(group: DeadLetterGroup, one: DeadLetterGroup, error: string | null): DeadLetterGroup {
  const times = [group.lastSeenAt, one.lastSeenAt, group.firstSeenAt].filter((at) => at !== null).sort(compare);
  const seen = { firstSeenAt: times[0] ?? null, lastSeenAt: times.at(-1) ?? null };
  return {
    ...group,
    ...seen,
    error,
    count: group.count + 1,
    sums: sumAmounts([...group.sums, ...one.sums]),
    summed: group.summed + one.summed,
  };
}

/** ISO times of one zone sort as text; null sorts first. */
function compare(a: string | null, b: string | null): number {
  const [x, y] = [a ?? '', b ?? ''];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** A filter for the rows of a group; rows without an error are found by type only. */
export function groupFilter({ type, error }: Pick<DeadLetterGroup, 'type' | 'error'>): EventFilter {
  const cause = error === null ? '' : errorTemplate(error);
  return { type: type === null ? undefined : [type], cause: cause.trim() === '' ? undefined : cause };
}
