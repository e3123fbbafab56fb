import type { ColumnDescription } from '@/lib/database/engine';

/** By the type's name on either engine; what has more bits than a number here keeps exactly is left to the database. */
const BITS: Record<string, number> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, integer: 32 };

/** Why no row of this column can have the value, by the bounds of its type; null where one can, or where the type says nothing of it. */
export function outOfBounds(value: string | number | boolean, { type, kind }: ColumnDescription): string | null {
  if (typeof value === 'string') {
    const [, most] = /^(?:character varying|character|varchar|char)\((\d+)\)/i.exec(type) ?? [];
    return most !== undefined && [...value].length > Number(most) ? `it holds at most ${most} characters` : null;
  }
  if (typeof value === 'boolean' || kind !== 'integer') return null;
  if (!Number.isInteger(value)) return 'it holds whole numbers';
  const bits = BITS[/^[a-z]+/i.exec(type)?.[0].toLowerCase() ?? ''];
  if (bits === undefined) return null;
  const [least, greatest] = /\bunsigned\b/i.test(type) ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
  return value < least || value > greatest ? `it holds numbers from ${least} to ${greatest}` : null;
}
