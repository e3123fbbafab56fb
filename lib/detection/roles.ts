import type { CatalogueColumn, CatalogueTable } from '@/lib/database/catalogue';
import { DICTIONARY, FILLERS, VETO_NAMES, WEAK_VETO_NAMES, type DictionaryRole } from './dictionary';
import { bare, commonPrefix, folded } from './names';

/** Columns of a table by what their names and types say. */
export type RoleColumns = Partial<Record<DictionaryRole, CatalogueColumn>>;

const isText = ({ kind }: CatalogueColumn): boolean => kind === 'text';
const isTime = ({ kind }: CatalogueColumn): boolean => kind === 'instant' || kind === 'wall_clock';
/** A number or a text can hold a time too: what is in it is looked at later. */
const maybeTime = (column: CatalogueColumn): boolean => isTime(column) || isLong(column) || isPlainText(column);
const isPlainText = (column: CatalogueColumn): boolean => isText(column) && column.labels === null;
const isLong = ({ kind, type }: CatalogueColumn): boolean => kind === 'integer' && /^(bigint|int8)/i.test(type);
const isNumber = ({ kind }: CatalogueColumn): boolean => kind === 'integer' || kind === 'decimal';
const isFlag = ({ kind, type }: CatalogueColumn): boolean => kind === 'boolean' || /^(tinyint|bit)\(1\)/i.test(type);
const isContent = ({ kind, type }: CatalogueColumn): boolean =>
  kind === 'json' || kind === 'binary' || kind === 'text' || /xml|hstore|oid/i.test(type);
const isKey = ({ kind }: CatalogueColumn): boolean => kind === 'text' || kind === 'uuid' || kind === 'integer' || kind === 'binary';
/** Words or small numbers: neither a flag nor a time. */
const isStatus = (column: CatalogueColumn): boolean =>
  (isText(column) || column.kind === 'integer' || column.labels !== null) && !isFlag(column);

const FITS: Record<DictionaryRole, (column: CatalogueColumn) => boolean> = {
  payload: isContent,
  headers: isContent,
  type: (column) => isText(column) || column.kind === 'integer',
  topic: isText,
  aggregateType: (column) => isText(column) || column.kind === 'integer',
  aggregateId: isKey,
  createdAt: maybeTime,
  publishedAt: maybeTime,
  attemptedAt: maybeTime,
  lockedUntil: maybeTime,
  availableAt: maybeTime,
  diedAt: maybeTime,
  lockedBy: isKey,
  attempts: isNumber,
  maxAttempts: isNumber,
  error: (column) => isText(column) || column.kind === 'json',
  dedupKey: isKey,
  traceId: isKey,
  sequence: isNumber,
  version: (column) => isNumber(column) || column.kind === 'binary',
  status: isStatus,
  publishedFlag: isFlag,
  deadFlag: isFlag,
};

/** In this order a column is given away: what a role needs most is not taken by a role that could do without. */
const ORDER = Object.keys(DICTIONARY) as DictionaryRole[];

/** Names under which a column is looked up: its own, and without what only says whose it is. */
function spellings(name: string, prefix: string): string[] {
  const own = bare(folded(name).startsWith(prefix) ? folded(name).slice(prefix.length) : name);
  const shorter = FILLERS.filter((filler) => own.startsWith(filler) && own.length > filler.length + 1).map((filler) =>
    own.slice(filler.length),
  );
  return [own, ...shorter];
}

/** The column of each role as far as names and types tell; a column serves one role. */
export function rolesOf(table: CatalogueTable): RoleColumns {
  const prefix = commonPrefix(table.columns.map(({ name }) => name));
  const named = table.columns.map((column) => ({ column, names: spellings(column.name, prefix) }));
  const roles: RoleColumns = {};
  const taken = new Set<string>();
  // First by the names as they are, then by what is left of them without a filler.
  for (const pass of [0, 1]) {
    for (const role of ORDER) {
      if (roles[role] !== undefined) continue;
      const ranked = named
        .filter(({ column }) => !taken.has(column.name) && !column.generated && FITS[role](column))
        .map(({ column, names }) => ({ column, rank: rankOf(role, pass === 0 ? names.slice(0, 1) : names.slice(1)) }))
        .filter(({ rank }) => rank >= 0)
        .sort((a, b) => a.rank - b.rank);
      const best = ranked[0]?.column;
      if (best === undefined) continue;
      roles[role] = best;
      taken.add(best.name);
    }
  }
  return roles;
}

function rankOf(role: DictionaryRole, names: readonly string[]): number {
  const ranks = names.map((name) => DICTIONARY[role].indexOf(name)).filter((rank) => rank >= 0);
  return ranks.length === 0 ? -1 : Math.min(...ranks);
}

/** The words of letters, chats and pages among the columns: `strong` ones rule an outbox out, `weak` ones weigh against it. */
export function vetoes(table: CatalogueTable): { strong: string[]; weak: string[] } {
  const prefix = commonPrefix(table.columns.map(({ name }) => name));
  const has = (words: ReadonlySet<string>) =>
    table.columns.filter(({ name }) => spellings(name, prefix).some((one) => words.has(one))).map(({ name }) => name);
  return { strong: has(VETO_NAMES), weak: has(WEAK_VETO_NAMES) };
}

/** True for a name the dictionary knows: such a column tells no library from another. */
export function isCommonName(name: string): boolean {
  const own = bare(name);
  return own === 'id' || own === 'updatedat' || ORDER.some((role) => DICTIONARY[role].includes(own));
}
