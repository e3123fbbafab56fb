import { causeText, errorTemplate } from './cause';
import type { DeadLetterGroup, EventFilter, OutboxEvent } from '../model';

/** Most groups shown; rows of other groups are in the list below. */
const GROUPS = 50;

/** A dead event for counting; its error is what the viewer may see of it. */
export type DeadEvent = Pick<OutboxEvent, 'id' | 'type' | 'error' | 'createdAt'>;

/** Groups dead events (newest first) by cause; texts that differ get their template. Most frequent group first, then newest. */
export function groupByCause(outbox: string, events: readonly DeadEvent[]): DeadLetterGroup[] {
  const groups = new Map<string, DeadLetterGroup>();
  for (const { id, type, error: whole, createdAt } of events) {
    const [error, template] = whole === null ? [null, null] : [causeText(whole), errorTemplate(whole)];
    const key = JSON.stringify([type, template]);
    const group = groups.get(key);
    const one = { outbox, type, error, count: 1, newestAt: createdAt, oldestAt: createdAt, sampleEventId: id };
    groups.set(key, group === undefined ? one : joined(group, one, group.error === error ? error : template));
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || compare(b.newestAt, a.newestAt)).slice(0, GROUPS);
}

function joined(group: DeadLetterGroup, one: DeadLetterGroup, error: string | null): DeadLetterGroup {
  const times = [group.newestAt, one.newestAt, group.oldestAt].filter((at) => at !== null).sort(compare);
  return { ...group, error, count: group.count + 1, newestAt: times.at(-1) ?? null, oldestAt: times[0] ?? null };
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
