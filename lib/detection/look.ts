/** A bounded look into a candidate's rows: the words of its status column, and how its times are written. */
import type { CatalogueColumn, CatalogueReader } from '@/lib/database/catalogue';
import { catalogueOf } from '@/lib/database/catalogues';
import type { Database } from '@/lib/database/database';
import type { Db, TableDescription } from '@/lib/database/engine';
import type { DictionaryRole } from './dictionary';
import type { RoleColumns } from './roles';
import type { WordEvidence } from './status-words';

/** More words than this are no status. */
export const MOST_WORDS = 40;
/** Rows looked at where no index lists the words. */
const SAMPLE_ROWS = 2_000;

const TIME_ROLES = ['createdAt', 'publishedAt', 'attemptedAt', 'lockedUntil', 'availableAt', 'diedAt'] as const satisfies DictionaryRole[];
export type TimeRole = (typeof TIME_ROLES)[number];
export type TimeSpelling = 'epoch_ms' | 'epoch_s' | 'iso';

export interface Look {
  description: TableDescription;
  /** Words of the status column; empty where there is none, or no row. */
  words: WordEvidence[];
  /** True when every word there is was seen. */
  complete: boolean;
  /** How times are written in columns whose type does not say; null for one that holds no time at all. */
  times: Partial<Record<TimeRole, TimeSpelling | null>>;
}

type Sample = Record<string, string | null>[];

/** Looks at a table in one transaction; null when the role sees no such table. Throws DatabaseFailure. */
export function lookAt(database: Database, name: { schema: string; table: string }, roles: RoleColumns): Promise<Look | null> {
  return database.read(async (db) => {
    const description = await database.engine.describe(db, name);
    if (description === null) return null;
    const reader = catalogueOf(database.engine);
    const odd = TIME_ROLES.filter((role) => !isTime(roles[role]) && roles[role] !== undefined);
    const wanted = [roles.status, roles.publishedAt, ...odd.map((role) => roles[role])].flatMap((column) => column?.name ?? []);
    const sample = wanted.length === 0 ? [] : await reader.sampleRows(db, description, [...new Set(wanted)], SAMPLE_ROWS);
    return {
      description,
      times: Object.fromEntries(odd.map((role) => [role, spellingOf(sample, roles[role])])),
      ...(await wordsIn(db, reader, description, sample, roles)),
    };
  });
}

const isTime = (column: CatalogueColumn | undefined): boolean => column?.kind === 'instant' || column?.kind === 'wall_clock';

async function wordsIn(
  db: Db,
  reader: CatalogueReader,
  description: TableDescription,
  sample: Sample,
  { status, publishedAt }: RoleColumns,
): Promise<Pick<Look, 'words' | 'complete'>> {
  if (status === undefined) return { words: [], complete: true };
  const indexed = await reader.indexedValues(db, description, status.name, MOST_WORDS + 1);
  const common = indexed === null ? await reader.commonValues(db, description, status.name) : [];
  const sampled = sample.flatMap((row) => row[status.name] ?? []);
  const words = [...new Set([...(status.labels ?? []), ...(indexed ?? []), ...common, ...sampled])].slice(0, MOST_WORDS);
  const rowsOf = (word: string): Sample => sample.filter((row) => row[status.name] === word);
  return {
    words: words.map((word) => ({
      word,
      rows: rowsOf(word).length,
      published: publishedAt === undefined ? null : rowsOf(word).filter((row) => row[publishedAt.name] !== null).length,
    })),
    complete: status.labels !== null || (indexed !== null && indexed.length <= MOST_WORDS) || sample.length < SAMPLE_ROWS / 2,
  };
}

const MS = { from: 1e12, to: 1e13 };
const SECONDS = { from: 1e9, to: 1e10 };
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;

/** By what the values can be: 1e12 milliseconds are 2001, 1e9 seconds too. An empty table is read as its type suggests. */
function spellingOf(sample: Sample, column: CatalogueColumn | undefined): TimeSpelling | null {
  if (column === undefined) return null;
  const values = sample.flatMap((row) => row[column.name] ?? []).filter((value) => value !== '0');
  if (column.kind === 'text') return values.every((value) => ISO.test(value)) ? 'iso' : null;
  const numbers = values.map(Number);
  const within = ({ from, to }: { from: number; to: number }): boolean => numbers.every((number) => number >= from && number < to);
  if (numbers.length === 0 || within(MS)) return 'epoch_ms';
  return within(SECONDS) ? 'epoch_s' : null;
}
