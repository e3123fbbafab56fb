import { sql } from 'kysely';
import { printsAsDigits } from '@/lib/database/column-text';
import type { Db } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';
import { or } from '@/lib/shape/compile';
import { perObject } from '@/lib/shared/kept';
import { MASK } from '@/lib/shared/lists/shown';
import { allPlaces, type Outbox } from '../outbox';
import { decodeContent, type StoredContent, READ_BYTES } from '../rows/content';
import { isCutError, NO_TEXT, placeSql } from '../rows/row';
import { decodeVersion } from '../rows/version';
import { hiddenValues } from './mask';
import { maskText } from './mask-text';

/** An error this long may have been cut in the middle of a value it quotes. */
const MAY_BE_CUT_CHARACTERS = 300;
/** Code points, as databases cut by them. Shorter values are part of too many words, and are matched as whole words only. */
const SHORTEST_WITHIN = 3;
/** Shorter numbers are part of too many others, and are matched as whole numbers only. */
const SHORT_NUMBER = /^\d{1,5}$/;
const WORD = /[\p{L}\p{N}]/u;
const DIGIT = /\d/;

type Stretch = [from: number, to: number];

/** A spelling of a hidden value. `short` is about the value itself: escaped quotes would make its text longer. */
type Spelling = { text: string; short: boolean };

/** The error with hidden values masked, also as JSON and URLs escape them. All positions are found first, then replaced together. */
export function presentError(error: string | null, hidden: string[], isCut = false): string | null {
  if (error === null) return null;
  const values = [...new Set(hidden)].filter((value) => value !== '').flatMap(spellings);
  const stretches = [...values.flatMap((value) => quotes(error, value)), ...cutEnd(error, values, isCut)];
  let shown = '';
  let at = 0;
  for (const [from, to] of joined(stretches)) {
    shown += error.slice(at, from) + MASK;
    at = to;
  }
  return shown + error.slice(at);
}

function spellings(value: string): Spelling[] {
  const short = [...value].length < SHORTEST_WITHIN;
  const texts = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]);
  return [...texts].map((text) => ({ text, short }));
}

function quotes(error: string, value: Spelling): Stretch[] {
  const found: Stretch[] = [];
  for (let from = error.indexOf(value.text); from >= 0; from = error.indexOf(value.text, from + 1)) {
    const to = from + value.text.length;
    const beside = [[...error.slice(Math.max(0, from - 2), from)].at(-1), [...error.slice(to, to + 2)][0]];
    if (!beside.some((character) => character !== undefined && isPartOf(value, character))) found.push([from, to]);
  }
  return found;
}

const isPartOf = ({ text, short }: Spelling, beside: string): boolean =>
  short ? WORD.test(beside) : SHORT_NUMBER.test(text) && DIGIT.test(beside);

/** The end of a cut text may be the beginning of a value. With `isCut`, the last two characters, too few to compare, are masked too. */
function cutEnd(error: string, values: Spelling[], isCut: boolean): Stretch[] {
  const characters = [...error];
  if (characters.length < MAY_BE_CUT_CHARACTERS || values.length === 0) return [];
  const untold = isCut ? characters.slice(1 - SHORTEST_WITHIN).join('').length : 0;
  const begun = Math.max(untold, ...values.map(({ text }) => beginningAtTheEnd(error, text)));
  return begun === 0 ? [] : [[error.length - begun, error.length]];
}

/** Length of the end of `error` that is a proper beginning of `value`: three characters at least, otherwise 0. */
function beginningAtTheEnd(error: string, value: string): number {
  const start = [...value].slice(0, SHORTEST_WITHIN).join('');
  let at = error.indexOf(start, Math.max(0, error.length - value.length + 1));
  while (at >= 0 && !value.startsWith(error.slice(at))) at = error.indexOf(start, at + 1);
  return at < 0 ? 0 : error.length - at;
}

/** Sorted, with touching stretches merged: two adjacent values cannot be told apart. */
function joined(stretches: Stretch[]): Stretch[] {
  const sorted = stretches.toSorted((a, b) => a[0] - b[0]);
  const found: Stretch[] = [];
  for (const [from, to] of sorted) {
    const last = found.at(-1);
    if (last === undefined || from > last[1]) found.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }
  return found;
}

/** Payloads up to this size are searched for quoted values, a whole page at once; larger ones, up to READ_BYTES, a few at a time. */
const SEARCHED_BYTES = 65_536;
/** Rows of a page whose long payloads are read per call: parsing each blocks the process. */
const LONG_ROWS = 4;
const ROWS_AT_ONCE = 200;
/** Masked errors cached per outbox, and the longest key (id, version, error) that is cached, in characters. */
const REMEMBERED_ERRORS = 2_500;
const REMEMBERED_CHARACTERS = 2_000;

/** Masked errors by row version, so that polling a list does not read the same payloads again. Dropped with the outbox's binding. */
const rememberedOf = perObject<Outbox, Map<string, string>>(() => new Map());

/** An event's error, and the event's version if known. */
interface Quoting {
  id: string;
  error: string | null;
  version?: string | null;
  /** The row's own version, if that is all that is known of it. */
  exact?: string;
}

/**
 * Masks hidden values that errors quote. Reads the payloads of events with an error, once per row version: those up to 64 kB together, and
 * up to 256 kB only a few per call. An error whose payload cannot be searched is withheld whole.
 */
export async function maskErrors<T extends Quoting>(outbox: Outbox, events: T[]): Promise<T[]> {
  const places = allPlaces(outbox).filter(({ roles }) => roles.payload !== undefined || roles.headers !== undefined);
  if (places.length === 0) return events.map((event) => ({ ...event, error: event.error && shown(event.error, []) }));
  const known = rememberedOf(outbox);
  const fresh = events.filter((event) => event.error !== null && !known.has(keyOf(event)));
  const hidden = fresh.length === 0 ? new Map<string, Searched>() : await hiddenById(outbox, places, fresh, known);
  return events.map((event) => {
    if (event.error === null) return event;
    const found = hidden.get(event.id);
    const key = keyOf(event, found?.exact);
    const error = known.get(keyOf(event)) ?? known.get(key) ?? (found?.whole === true ? shown(event.error, found.values) : MASK);
    if (found !== undefined && (found.whole || found.long)) remember(known, key, error);
    return { ...event, error };
  });
}

/** By the row's current version if known, otherwise by the version it was read with. */
const keyOf = ({ id, error, version, exact: own }: Quoting, exact = own ?? decodeVersion(version ?? '')?.exact): string =>
  JSON.stringify([id, exact, error]);

/** An error shown beside its event's content, which is searched for hidden values; withheld if the content cannot be searched. */
export function maskErrorBeside(
  outbox: Outbox,
  error: string | null,
  content: Record<Searchable, StoredContent | null> | null,
): string | null {
  if (error === null) return null;
  if (content === null) return MASK;
  const values = SEARCHABLE.flatMap((role) => hiddenValues(outbox, role, content[role]) ?? [null]);
  return values.every((value) => value !== null) ? shown(error, values) : MASK;
}

const shown = (error: string, values: string[]): string => maskText(presentError(error, values, isCutError(error)) ?? '');

function remember(known: Map<string, string>, key: string, error: string): void {
  if (key.length > REMEMBERED_CHARACTERS) return;
  known.set(key, error);
  const [oldest] = known.keys();
  if (known.size > REMEMBERED_ERRORS && oldest !== undefined) known.delete(oldest);
}

const SEARCHABLE = ['payload', 'headers'] as const;
type Searchable = (typeof SEARCHABLE)[number];

interface Searched {
  values: string[];
  exact: string;
  /** Payload and headers were searched completely. */
  whole: boolean;
  /** Not searched any further: too large, without paths, or long and already read alone. */
  long: boolean;
}

async function hiddenById(outbox: Outbox, places: Place[], fresh: Quoting[], known: Map<string, string>): Promise<Map<string, Searched>> {
  return outbox.database.read(async (db) => {
    const ids = [...new Set(fresh.map(({ id }) => id))];
    const found = new Map<string, Searched>();
    for (let from = 0; from < ids.length; from += ROWS_AT_ONCE)
      for (const [id, row] of await searched(outbox, db, places, ids.slice(from, from + ROWS_AT_ONCE), SEARCHED_BYTES)) found.set(id, row);
    const long = fresh.filter((event) => {
      const row = found.get(event.id);
      return row?.whole === false && !row.long && !known.has(keyOf(event, row.exact));
    });
    for (const id of [...new Set(long.map((event) => event.id))].slice(0, LONG_ROWS)) {
      for (const [own, all] of await searched(outbox, db, places, [id], READ_BYTES)) found.set(own, { ...all, long: true });
    }
    return found;
  });
}

/** If an id is in several places, the last place counts. */
async function searched(outbox: Outbox, db: Db, places: Place[], ids: string[], bytes: number): Promise<Map<string, Searched>> {
  const sights = places.map((place) => placeSql(outbox, place));
  const arms = sights.map((at, index) => {
    const head = (role: Searchable) => {
      const size = at.roleSize(role);
      return size === null ? NO_TEXT : sql`case when ${size} <= ${sql.lit(bytes)} then ${at.roleHead(role, 2 * bytes)} end`;
    };
    const larger = (than: number) => {
      const sizes = SEARCHABLE.flatMap((role) => at.roleSize(role) ?? []).map((size) => sql<boolean>`${size} > ${sql.lit(than)}`);
      return sql`case when ${or(sizes)} then 'y' end`;
    };
    return sql`select ${sql.lit(index)} as place, ${at.id.text} as id, ${at.exact} as exact, ${head('payload')} as payload, ${head('headers')} as headers,
      ${larger(bytes)} as cut, ${larger(READ_BYTES)} as endless from ${at.from} where ${at.id.among(ids)}`;
  });
  const { rows } = await sql<FoundRow>`${sql.join(arms, sql` union all `)}`.execute(db);
  rows.sort((a, b) => Number(a.place) - Number(b.place));
  return new Map(
    rows.map((row) => {
      const at = sights[Number(row.place)];
      const values = SEARCHABLE.map((role) => {
        const stored = { head: row[role], bytes: 0, binary: printsAsDigits(at?.role(role)?.description) };
        return hiddenValues(outbox, role, decodeContent(stored, outbox.shape[role]?.encoding));
      });
      const searchable = !values.includes(null);
      const whole = searchable && row.cut === null && SEARCHABLE.every((role) => (row[role]?.length ?? 0) < 2 * bytes);
      return [row.id, { values: values.flatMap((each) => each ?? []), exact: row.exact, whole, long: row.endless !== null || !searchable }];
    }),
  );
}

/** `cut`: something is larger than this read's limit; `endless`: larger than READ_BYTES. */
type FoundRow = Record<'id' | 'exact', string> & Record<Searchable | 'cut' | 'endless', string | null> & { place: number | string };
