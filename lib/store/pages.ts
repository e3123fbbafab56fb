/** Pages of what is listed newest first, by time and id. */
import { UUID } from '@/lib/database/column-text';
import { parseInstant } from '@/lib/shared/lists/event-filter';
import { Problem } from '@/lib/shared/problems';

export type Position = Record<'at' | 'id', string>;

/** Where the page of a cursor begins; null without one. Throws Problem `invalid` for one that is not of `what`, such as `plans`. */
export function positionOf(cursor: string | undefined, what: string): Position | null {
  if (cursor === undefined) return null;
  const [written = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const at = parseInstant(written);
  if (typeof at === 'string' && UUID.test(id)) return { at, id };
  const fields = { cursor: `not a cursor of ${what}` };
  throw new Problem('invalid', `This cursor does not belong to ${what}: start again without it`, { fields });
}

/** The first `limit` of rows that were read with one more, and the cursor of the next page; null on the last. */
export function pageOf<R>(rows: readonly R[], limit: number, position: (row: R) => Position): { shown: R[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  if (last === undefined) return { shown, nextCursor: null };
  const { at, id } = position(last);
  return { shown, nextCursor: Buffer.from(`${at} ${id}`).toString('base64url') };
}
