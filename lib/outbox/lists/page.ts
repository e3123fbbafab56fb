import type { Cursor } from './cursor';
import type { ListRow, Look, Stretch } from './sql';
import type { Position, Walk } from './walks';

/** Where a page begins, and what it is made of. */
export interface ListStart {
  order: Cursor['order'];
  cursor: Cursor | null;
  walks: readonly Walk[];
}

/** The rows of a page, and how far a bounded search for them came. */
export interface Page {
  /** In the order of the list. */
  shown: ListRow[];
  /** There are rows beyond those shown. */
  more: boolean;
  looked: Look;
}

export const opposite = (order: Cursor['order']): Cursor['order'] => (order === 'newest' ? 'oldest' : 'newest');

/** The stretches of a walk from the cursor on: rows without a sort key come last of the newest, first of the oldest. */
export function stretches(
  walks: readonly Walk[],
  direction: Cursor['order'],
  cursor: Cursor | null,
): { stretch: Stretch; after: Position | null }[] {
  const byKeyAlone = walks.every(({ key }) => key === null);
  const both: Stretch[] = walks.some(({ key }) => key?.nullable === true) ? ['keyed', 'unkeyed'] : ['keyed'];
  const ways = direction === 'newest' ? both : both.toReversed();
  if (cursor === null) return ways.map((stretch) => ({ stretch, after: null }));
  const begun: Stretch = cursor.key === null && !byKeyAlone ? 'unkeyed' : 'keyed';
  return ways.slice(Math.max(0, ways.indexOf(begun))).map((stretch) => ({ stretch, after: stretch === begun ? cursor : null }));
}
