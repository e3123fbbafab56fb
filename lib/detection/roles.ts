import type { CatalogueColumn, CatalogueTable } from '@/lib/database/catalogue';
import type { StatusWord } from '@/lib/shared/detection';
import type { LiveState } from '@/lib/shared/states';
import { bare, folded } from './names';
import { DICTIONARY, FILLERS, DONE_WORDS, STATUS_WORDS, VETO_NAMES, WEAK_VETO_NAMES, type DictionaryRole } from './words';

export type RoleColumns = Partial<Record<DictionaryRole, CatalogueColumn>>;

const ORDER = Object.keys(DICTIONARY) as DictionaryRole[];

/** The prefix of 70% of the names or more (`ob_` of `ob_id`, `ob_type`), which is ignored; '' if there is none. */
function commonPrefix(names: readonly string[]): string {
  const counted = new Map<string, number>();
  for (const name of names) {
    const prefix = /^[\p{L}\p{N}]+_(?=.)/u.exec(folded(name))?.[0];
    if (prefix !== undefined) counted.set(prefix, (counted.get(prefix) ?? 0) + 1);
  }
  const [most] = [...counted].sort((a, b) => b[1] - a[1]);
  return most !== undefined && names.length >= 4 && most[1] >= names.length * 0.7 ? most[0] : '';
}

/** Names to look a column up by: its own without a zone, and without filler words such as `event`. */
function namesOf(name: string, prefix: string): string[] {
  const own = bare(folded(name).startsWith(prefix) ? folded(name).slice(prefix.length) : name).replace(/(?<=.)utc$/, '');
  const shorter = FILLERS.filter((filler) => own.startsWith(filler) && own.length > filler.length + 1).map((filler) =>
    own.slice(filler.length),
  );
  return [own, ...shorter];
}

/** The column of each role, judged by names and types; a column gets one role at most. */
export function rolesOf(table: CatalogueTable): RoleColumns {
  const prefix = commonPrefix(table.columns.map(({ name }) => name));
  const named = table.columns.map((column) => ({ column, names: namesOf(column.name, prefix) }));
  const roles: RoleColumns = {};
  const taken = new Set<string>();
  // First by whole names, then without filler words.
  for (const pass of [0, 1]) {
    for (const role of ORDER) {
      if (roles[role] !== undefined) continue;
      const ranked = named
        .filter(({ column }) => !taken.has(column.name) && !column.generated && DICTIONARY[role].fits(column))
        .map(({ column, names }) => ({ column, rank: rankOf(role, pass === 0 ? names.slice(0, 1) : names.slice(1)) }))
        .filter(({ rank }) => rank >= 0)
        .sort((a, b) => a.rank - b.rank);
      const best = ranked[0]?.column;
      if (best === undefined) continue;
      roles[role] = best;
      taken.add(best.name);
    }
  }
  // The only key there is may be what the events of a row are ordered by.
  if (roles.aggregateId !== undefined && rankOf('orderingKey', namesOf(roles.aggregateId.name, prefix)) >= 0)
    roles.orderingKey ??= roles.aggregateId;
  return roles;
}

/** The column that says an event is being worked on: by whom, or since when where no status tells. When it was last tried is no claim. */
export const claimOf = ({ lockedBy, attemptedAt, status }: RoleColumns): CatalogueColumn | undefined =>
  lockedBy ??
  (status === undefined && /claim|lock|pick|process|reserv|start/.test(attemptedAt?.name.toLowerCase() ?? '') ? attemptedAt : undefined);

function rankOf(role: DictionaryRole, names: readonly string[]): number {
  const ranks = names.map((name) => DICTIONARY[role].names.indexOf(name)).filter((rank) => rank >= 0);
  return ranks.length === 0 ? -1 : Math.min(...ranks);
}

/** Columns named as in mails, chats and pages: `strong` ones rule an outbox out, `weak` ones are evidence against it. */
export function vetoes(table: CatalogueTable): { strong: string[]; weak: string[] } {
  const prefix = commonPrefix(table.columns.map(({ name }) => name));
  const has = (words: ReadonlySet<string>) =>
    table.columns.filter(({ name }) => namesOf(name, prefix).some((one) => words.has(one))).map(({ name }) => name);
  return { strong: has(VETO_NAMES), weak: has(WEAK_VETO_NAMES) };
}

/** True for a name in the dictionary: such a column is not specific to a library. */
export function isCommonName(name: string): boolean {
  const own = bare(name);
  return own === 'id' || own === 'updatedat' || ORDER.some((role) => DICTIONARY[role].names.includes(own));
}

export interface WordEvidence {
  word: string;
  rows: number;
  /** How many of these rows have a publishing time; null if the table has none. */
  published: number | null;
}

/** The proposed state of each status word. Numbers are never sure; `failed` gets none, as libraries disagree on it. */
export function proposeWords(seen: readonly WordEvidence[]): StatusWord[] {
  const further = seen.some(({ word }) => DONE_WORDS.has(bare(word)));
  const split = seen.some(({ published, rows }) => published !== null && published < rows);
  return seen.map(({ word, rows, published }) => {
    const own = bare(word);
    if (own === 'published' && further) return { word, rows, state: null, sure: false };
    const state = (Object.keys(STATUS_WORDS) as LiveState[]).find((one) => STATUS_WORDS[one].has(own)) ?? null;
    if (state !== null) return { word, rows, state, sure: true };
    // All rows with this word have a publishing time, and some rows with other words do not.
    const shown = split && published !== null && rows > 0 && published === rows;
    return { word, rows, state: shown ? 'published' : null, sure: false };
  });
}
