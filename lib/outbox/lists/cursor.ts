import type { Engine } from '@/lib/database/engine';
import type { ColumnDescription } from '@/lib/database/description';
import type { OrderedBy } from '@/lib/shared/lists/shown';
import { Problem } from '@/lib/shared/problems';
import { tried } from '@/lib/shared/tried';

/** Where a page begins: just beyond this row, in this order and direction. */
export interface Cursor {
  order: 'newest' | 'oldest';
  by: OrderedBy;
  /** `next` follows the order, `previous` goes against it. */
  direction: 'next' | 'previous';
  /** The time the list is ordered by, as the column prints it; null if the row has none or the list is ordered by key alone. */
  key: string | null;
  id: string;
}

const LETTERS: Record<OrderedBy, string> = { created: 'c', happened: 'h', key: 'k' };

export function encodeCursor({ order, by, direction, key, id }: Cursor): string {
  const compact = [order === 'newest' ? 'n' : 'o', LETTERS[by], direction === 'next' ? 'n' : 'p', key, id];
  return Buffer.from(JSON.stringify(compact)).toString('base64url');
}

/** Throws Problem `invalid` for a cursor this console did not make, or one made for another order. */
export function decodeCursor(text: string, order: Cursor['order'], by: OrderedBy): Cursor {
  const parts = tried(() => JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown);
  if (!Array.isArray(parts) || parts.length !== 5) throw foreignCursor();
  const [orderLetter, byLetter, directionLetter, key, id] = parts as unknown[];
  if (orderLetter !== (order === 'newest' ? 'n' : 'o') || byLetter !== LETTERS[by]) throw foreignCursor();
  if (directionLetter !== 'n' && directionLetter !== 'p') throw foreignCursor();
  if ((key !== null && typeof key !== 'string') || typeof id !== 'string') throw foreignCursor();
  return { order, by, direction: directionLetter === 'n' ? 'next' : 'previous', key, id };
}

export function foreignCursor(): Problem {
  const fields = { cursor: 'not a cursor of this list' };
  return new Problem('invalid', 'This cursor does not belong to this list: start again without it', { fields });
}

/** Whether the column could have printed this key: a forged cursor is refused here, not by the database. */
export function keyFits(key: string, column: ColumnDescription, engine: Pick<Engine, 'idFits' | 'timeFits'>): boolean {
  if (column.kind === 'instant' || column.kind === 'wall_clock') return engine.timeFits(key);
  return engine.idFits(key, column) || (column.kind === 'decimal' && DECIMAL.test(key));
}

/** Printed floats and numbers without a declared length, limited to what all of these types can hold. */
const DECIMAL = /^-?\d{1,35}(\.\d{1,20})?$/;
