import { causeText, errorTemplate } from './cause';
import type { DeadLetterGroup, EventFilter, OutboxEvent } from '../model';

/** Most groups shown; the rows of all the others are in the list below them. */
const GROUPS = 50;

/** A dead event as it is counted: its error is what the asker sees of it. */
export type DeadEvent = Pick<OutboxEvent, 'id' | 'type' | 'error' | 'createdAt'>;

/** Dead events, newest first, counted by cause: texts that differ in ids and numbers only under their template. Most frequent first, then newest. */
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

/** ISO times of one zone order as text; none is older than any. */
function compare(a: string | null, b: string | null): number {
  const [x, y] = [a ?? '', b ?? ''];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The filter that finds the rows of a group; the rows without an error are found by their type alone. */
export function groupFilter({ type, error }: Pick<DeadLetterGroup, 'type' | 'error'>): EventFilter {
  const cause = error === null ? '' : errorTemplate(error);
  return { type: type === null ? undefined : [type], cause: cause.trim() === '' ? undefined : cause };
}
