import type { Capabilities } from '@/lib/shared/model';

/** The columns to choose from, in order. `width`: useful width in pixels; `holds`: the field it shows, null if every table has it. */
const TABLE = {
  aggregate: { width: 140, holds: 'aggregate' },
  id: { width: 200, holds: null },
  age: { width: 128, holds: 'createdAt' },
  diedAt: { width: 128, holds: 'diedAt' },
  attempts: { width: 84, holds: 'attempts' },
  amount: { width: 144, holds: 'amount' },
  createdAt: { width: 224, holds: 'createdAt' },
  attemptedAt: { width: 128, holds: 'lastAttemptAt' },
  publishedAt: { width: 128, holds: 'publishedAt' },
  dedupKey: { width: 180, holds: 'dedupKey' },
  traceId: { width: 180, holds: 'traceId' },
  error: { width: 200, holds: 'error' },
} as const satisfies Record<string, { width: number; holds: keyof Capabilities['fields'] | null }>;
export type Column = keyof typeof TABLE;
export const COLUMNS = Object.keys(TABLE) as Column[];

/** Of tick, state and type, which are always shown. */
const FIXED_WIDTH = 300;

/** In pixels; below this the table scrolls inside its frame. */
export const tableWidth = (columns: readonly Column[]): number => columns.reduce((sum, column) => sum + TABLE[column].width, FIXED_WIDTH);

const USUAL: readonly Column[] = ['aggregate', 'age', 'attempts', 'error'];

/** The cookie with the chosen columns: the server renders the first paint with them. */
export const COLUMNS_COOKIE = 'outbox-console.event-columns';

export function columnAvailable(column: Column, { fields }: Capabilities): boolean {
  const { holds } = TABLE[column];
  return holds === null || fields[holds];
}

/** The columns of the URL, else of the cookie, else the usual ones; without those this table does not have. */
export function chosenColumns(fromUrl: string | null, fromCookie: string | null, capabilities: Capabilities): Column[] {
  // A table without aggregates shows ids, to tell the rows apart.
  const usual: readonly Column[] = capabilities.fields.aggregate ? USUAL : ['id', ...USUAL];
  const chosen = parseColumns(fromUrl) ?? parseColumns(fromCookie) ?? usual;
  return COLUMNS.filter((column) => chosen.includes(column) && columnAvailable(column, capabilities));
}

function parseColumns(text: string | null): Column[] | null {
  const known = COLUMNS.filter((column) => text?.split(',').includes(column));
  return known.length > 0 ? known : null;
}
