import { Problem } from '@/lib/shared/problems';

/** Where a page begins: just beyond this row, in this order and direction. */
export interface Cursor {
  order: 'newest' | 'oldest';
  /** `next` walks with the order, `previous` against it. */
  direction: 'next' | 'previous';
  /** The creation time as the column prints it; null where the row has none. */
  createdKey: string | null;
  id: string;
}

export function encodeCursor(cursor: Cursor): string {
  const compact = [cursor.order === 'newest' ? 'n' : 'o', cursor.direction === 'next' ? 'n' : 'p', cursor.createdKey, cursor.id];
  return Buffer.from(JSON.stringify(compact)).toString('base64url');
}

/** Throws Problem `invalid` for a cursor this console did not make, or one made for another order. */
export function decodeCursor(text: string, order: Cursor['order']): Cursor {
  const refuse = (): never => {
    throw new Problem('invalid', 'This cursor does not belong to this list: start again without it', {
      fields: { cursor: 'not a cursor of this list' },
    });
  };
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return refuse();
  }
  if (!Array.isArray(parts) || parts.length !== 4) return refuse();
  const [orderLetter, directionLetter, createdKey, id] = parts as unknown[];
  if ((orderLetter !== 'n' && orderLetter !== 'o') || (directionLetter !== 'n' && directionLetter !== 'p')) return refuse();
  if ((createdKey !== null && (typeof createdKey !== 'string' || !TIME.test(createdKey))) || typeof id !== 'string') return refuse();
  const found = orderLetter === 'n' ? 'newest' : 'oldest';
  if (found !== order) return refuse();
  return { order, direction: directionLetter === 'n' ? 'next' : 'previous', createdKey, id };
}

/** What a time column prints; checked so that a made-up cursor is refused here and not by the database. */
const TIME = /^(-?infinity|\d{4,6}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2}(\.\d{1,6})?([+-]\d{2}(:\d{2}){0,2})?)?( BC)?)$/;
