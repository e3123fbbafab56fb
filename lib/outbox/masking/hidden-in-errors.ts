import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { MASK } from '@/lib/shared/lists/masked';
import { decodeContent, type StoredContent } from '../rows/content';
import { hiddenValues } from './mask';
import { presentError } from './mask-quotes';
import { maskText } from './mask-text';
import { livePlaces, type Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { isCutError, placeSql } from '../rows/row';
import { READ_BYTES } from '../rows/size-bounds';
import { decodeVersion } from '../rows/version';

/** Payloads up to this size are searched for values an error may quote, all of a page at once; those up to READ_BYTES a few at a time. In bytes. */
const SEARCHED_BYTES = 65_536;
/** Rows of a page whose long payloads are read at once: each is parsed while everybody else waits. */
const LONG_ROWS = 4;
/** Rows whose payloads are read at once. */
const ROWS_AT_ONCE = 200;
/** Masked errors that are remembered of an outbox, and the longest of them in characters. */
const REMEMBERED_ERRORS = 2_500;
const REMEMBERED_CHARACTERS = 2_000;

/** By the row's version: who polls a list does not have the same payloads read again. Goes with the binding of the outbox. */
const remembered = new WeakMap<Outbox, Map<string, string>>();

/** A text that speaks of an event, and the version of the event where it is known. */
interface Quoting {
  id: string;
  error: string | null;
  version?: string | null;
  /** The row's own version, where nothing else of it is known. */
  exact?: string;
}

/**
 * Events, or whatever else quotes one, with what their errors quote of hidden payload values hidden: those that `mask`
 * names and those of well-known keys. Reads the payloads of the events that have an error, by primary key: one statement
 * for those of a page of up to 64 kB, and one for each of the few of up to 256 kB, once per version of their row; the next
 * reading has the next few. What is larger, has no paths beside a configured `mask`, or is no longer there to be searched, may be
 * quoted anywhere: such an error is withheld whole.
 */
export async function maskErrors<T extends Quoting>(outbox: Outbox, events: T[]): Promise<T[]> {
  const places = placesWithContent(outbox);
  if (places.length === 0) return events.map((event) => ({ ...event, error: event.error && shown(event.error, []) }));
  const known = remembered.get(outbox) ?? new Map<string, string>();
  remembered.set(outbox, known);
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

/** As it is now where that is known, otherwise as it was seen. */
const keyOf = ({ id, error, version, exact: own }: Quoting, exact = own ?? decodeVersion(version ?? '')?.exact): string =>
  JSON.stringify([id, exact, error]);

/** An error as it is shown beside the content it may quote; withheld where that is not all there. */
export function maskErrorBeside(
  outbox: Outbox,
  error: string | null,
  content: Record<Searchable, StoredContent | null> | null,
): string | null {
  if (error === null) return null;
  if (content === null) return MASK;
  const values = SEARCHABLE.map((role) => hiddenValues(outbox, role, content[role]));
  return values.includes(null)
    ? MASK
    : shown(
        error,
        values.flatMap((each) => each ?? []),
      );
}

const shown = (error: string, values: string[]): string => maskText(presentError(error, values, isCutError(error)) ?? '');

function remember(known: Map<string, string>, key: string, error: string): void {
  if (key.length > REMEMBERED_CHARACTERS) return;
  known.set(key, error);
  const [oldest] = known.keys();
  if (known.size > REMEMBERED_ERRORS && oldest !== undefined) known.delete(oldest);
}

const placesWithContent = (outbox: Outbox): Place[] =>
  [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])].filter(
    ({ roles }) => roles.payload !== undefined || roles.headers !== undefined,
  );

const SEARCHABLE = ['payload', 'headers'] as const;
type Searchable = (typeof SEARCHABLE)[number];

interface Searched {
  /** What an error must not quote. */
  values: string[];
  /** The row's version as it was searched. */
  exact: string;
  /** Payload and headers were searched to their ends. */
  whole: boolean;
  /** They are searched no further: too large, without paths, or long and read by themselves. */
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

/** Of an id that is in several places what the last of them says. */
async function searched(outbox: Outbox, db: Db, places: Place[], ids: string[], bytes: number): Promise<Map<string, Searched>> {
  const { fragments } = outbox.database.engine;
  const sights = places.map((place) => placeSql(outbox, place));
  const arms = sights.map((at, index) => {
    const head = (role: Searchable) => {
      const column = at.role(role);
      const size = at.roleSize(role);
      if (column === null || size === null) return sql`cast(null as char(1))`;
      return sql`case when ${size} <= ${sql.lit(bytes)} then ${fragments.head(column.sql, column.description, 2 * bytes)} end`;
    };
    const larger = (than: number) => {
      const sizes = SEARCHABLE.flatMap((role) => at.roleSize(role) ?? []).map((size) => sql`${size} > ${sql.lit(than)}`);
      return sql`case when ${sizes.length === 0 ? sql`false` : sql.join(sizes, sql` or `)} then 'y' end`;
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
        const stored = { head: row[role], bytes: 0, binary: at?.role(role)?.description.kind === 'binary' };
        return hiddenValues(outbox, role, role === 'payload' ? decodeContent(stored, outbox.shape.payload?.encoding) : stored);
      });
      const searchable = !values.includes(null);
      const whole = searchable && row.cut === null && SEARCHABLE.every((role) => (row[role]?.length ?? 0) < 2 * bytes);
      return [row.id, { values: values.flatMap((each) => each ?? []), exact: row.exact, whole, long: row.endless !== null || !searchable }];
    }),
  );
}

interface FoundRow {
  /** Which of the places it was found in. */
  place: number | string;
  id: string;
  exact: string;
  payload: string | null;
  headers: string | null;
  /** Set where something is larger than was asked for, and where it is larger than is ever asked for. */
  cut: string | null;
  endless: string | null;
}
