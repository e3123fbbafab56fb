import { constantPart, errorTemplate } from './error-template';
import type { DeadLetterGroup, EventFilter } from './model';

/** Most groups shown; the rows of all the others are in the list below them. */
const GROUPS = 50;

/**
 * Counts of exact error texts as counts of causes: texts that differ in ids and numbers only are counted together,
 * under their template. Most frequent first, then newest.
 */
export function mergeByTemplate(groups: readonly DeadLetterGroup[]): DeadLetterGroup[] {
  const merged = new Map<string, DeadLetterGroup>();
  for (const group of groups) {
    const template = group.error === null ? null : errorTemplate(group.error);
    const key = JSON.stringify([group.type, template]);
    const other = merged.get(key);
    merged.set(key, other === undefined ? group : join(other, group, template));
  }
  return [...merged.values()].sort((a, b) => b.count - a.count || compare(b.newestAt, a.newestAt)).slice(0, GROUPS);
}

function join(a: DeadLetterGroup, b: DeadLetterGroup, error: string | null): DeadLetterGroup {
  const [newer, older] = compare(a.newestAt, b.newestAt) >= 0 ? [a, b] : [b, a];
  const oldest = compare(a.oldestAt ?? a.newestAt, b.oldestAt ?? b.newestAt) <= 0 ? a : b;
  return { ...newer, error, count: a.count + b.count, newestAt: newer.newestAt ?? older.newestAt, oldestAt: oldest.oldestAt };
}

/** ISO times of one zone order as text; none is older than any. */
function compare(a: string | null, b: string | null): number {
  const [x, y] = [a ?? '', b ?? ''];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** A long text would not fit a URL; its beginning finds the same rows. */
const ERROR_IN_URL = 200;

/** The filter that finds the rows of a group; a text that is part of other errors finds those too. */
export function groupFilter({ type, error }: Pick<DeadLetterGroup, 'type' | 'error'>): EventFilter {
  const part = error === null ? '' : constantPart(error).slice(0, ERROR_IN_URL);
  return { type: type === null ? undefined : [type], error: part === '' ? undefined : part };
}
