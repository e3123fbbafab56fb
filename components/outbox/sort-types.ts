import type { TypeFigures } from '@/lib/shared/model';

export type TypeColumn = keyof TypeFigures;

export interface TypeSort {
  column: TypeColumn;
  descending: boolean;
}

/** Rows in the order asked for; what is not known comes last either way, and equals are in the order of their names. */
export function sortTypes(rows: TypeFigures[], { column, descending }: TypeSort): TypeFigures[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[column], b[column]];
    if (x === y) return compareNames(a.type, b.type);
    if (x === null) return 1;
    if (y === null) return -1;
    return sign * (typeof x === 'string' || typeof y === 'string' ? compareNames(String(x), String(y)) : x - y);
  });
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
