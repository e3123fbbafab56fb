import type { Capabilities } from '@/lib/shared/model';

/** The columns somebody may choose, in the order they are shown; tick, state and type are always there. */
export const COLUMNS = [
  'aggregate',
  'id',
  'age',
  'attempts',
  'amount',
  'createdAt',
  'attemptedAt',
  'publishedAt',
  'dedupKey',
  'traceId',
  'error',
] as const;
export type Column = (typeof COLUMNS)[number];

/** Pixels a column needs to be worth showing; below their sum the table scrolls inside its frame. */
const COLUMN_WIDTHS: Record<Column, number> = {
  aggregate: 140,
  id: 200,
  age: 128,
  attempts: 84,
  amount: 144,
  createdAt: 224,
  attemptedAt: 128,
  publishedAt: 128,
  dedupKey: 180,
  traceId: 180,
  error: 200,
};
const FIXED_WIDTH = 300;

export function tableWidth(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + COLUMN_WIDTHS[column], FIXED_WIDTH);
}

const USUAL: readonly Column[] = ['aggregate', 'age', 'attempts', 'error'];

/** The cookie that keeps a chosen set: the server renders the table with it at first paint. */
export const COLUMNS_COOKIE = 'outbox-console.event-columns';

export function columnAvailable(column: Column, { fields }: Capabilities): boolean {
  switch (column) {
    case 'aggregate':
      return fields.aggregate;
    case 'age':
    case 'createdAt':
      return fields.createdAt;
    case 'attemptedAt':
      return fields.lastAttemptAt;
    case 'id':
      return true;
    default:
      return fields[column];
  }
}

/** The columns of the URL, else those of the cookie, else the usual ones; without what this table does not hold. */
export function chosenColumns(fromUrl: string | null, fromCookie: string | null, capabilities: Capabilities): Column[] {
  const chosen = parseColumns(fromUrl) ?? parseColumns(fromCookie) ?? usualColumns(capabilities);
  return COLUMNS.filter((column) => chosen.includes(column) && columnAvailable(column, capabilities));
}

/** A table without aggregates shows ids instead: something has to tell the rows apart. */
function usualColumns(capabilities: Capabilities): Column[] {
  return capabilities.fields.aggregate ? [...USUAL] : ['id', ...USUAL];
}

function parseColumns(text: string | null): Column[] | null {
  if (text === null) return null;
  const names = text.split(',');
  const known = COLUMNS.filter((column) => names.includes(column));
  return known.length > 0 ? known : null;
}

export function serialiseColumns(columns: readonly Column[]): string {
  return columns.join(',');
}
