import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { MASK } from '@/lib/shared/masked';
import { decodeContent } from './content';
import { hiddenValues, presentError } from './mask';
import { maskText } from './mask-text';
import { livePlaces, type Outbox, type Place } from './outbox';
import { placeSql } from './row';
import { decodeVersion } from './version';

/** Characters of a payload that are searched for values an error may quote: of every row first, then of the few that are longer. */
const SEARCHED_CHARACTERS = [65_536, 4_194_304];
/** Rows of a page whose long payloads are read at once: each costs megabytes, parsed while everybody else waits. */
const LONG_ROWS = 4;
/** Masked errors that are remembered of an outbox, and the longest of them in characters. */
const REMEMBERED_ERRORS = 500;
const REMEMBERED_CHARACTERS = 2_000;

/** By the row's version: who polls a list does not have the same payloads read again. Goes with the binding of the outbox. */
const remembered = new WeakMap<Outbox, Map<string, string>>();

/** A text that speaks of an event, and the version of the event where it is known. */
interface Quoting {
  id: string;
  error: string | null;
  version?: string;
}

/**
 * Events, or whatever else quotes one, with what their errors quote of hidden payload values hidden: those that `mask`
 * names and those of well-known keys. Reads the payloads of the events that have an error, by primary key, each cut at
 * 64 kB: one statement per table for a page of a list, and one for each of the few that are longer, once per version of
 * their row; the next reading has the next few. What was not searched to its end, or is no longer there to be searched,
 * may be quoted anywhere: such an error is withheld whole.
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
const keyOf = ({ id, error, version = '' }: Quoting, exact = decodeVersion(version)?.exact): string => JSON.stringify([id, exact, error]);

const shown = (error: string, values: string[]): string => maskText(presentError(error, values) ?? '');

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

interface Searched {
  /** What an error must not quote. */
  values: string[];
  /** The row's version as it was searched. */
  exact: string;
  /** Payload and headers were searched to their ends. */
  whole: boolean;
  /** They were searched as far as any are. */
  long: boolean;
}

async function hiddenById(outbox: Outbox, places: Place[], fresh: Quoting[], known: Map<string, string>): Promise<Map<string, Searched>> {
  const [first = 0, most = 0] = SEARCHED_CHARACTERS;
  return outbox.database.read(async (db) => {
    const found = await searched(outbox, db, places, [...new Set(fresh.map(({ id }) => id))], first);
    const long = fresh.filter((event) => {
      const row = found.get(event.id);
      return row?.whole === false && !known.has(keyOf(event, row.exact));
    });
    for (const id of [...new Set(long.map((event) => event.id))].slice(0, LONG_ROWS)) {
      for (const [own, all] of await searched(outbox, db, places, [id], most)) found.set(own, { ...all, long: true });
    }
    return found;
  });
}

async function searched(outbox: Outbox, db: Db, places: Place[], ids: string[], characters: number): Promise<Map<string, Searched>> {
  const { fragments } = outbox.database.engine;
  const found = new Map<string, Searched>();
  for (const place of places) {
    const at = placeSql(outbox, place);
    const head = (role: 'payload' | 'headers') => {
      const column = at.role(role);
      return column === null ? sql`cast(null as char(1))` : fragments.head(column.sql, column.description, characters);
    };
    const { rows } = await sql<{ id: string; exact: string; payload: string | null; headers: string | null }>`
      select ${at.id.text} as id, ${at.exact} as exact, ${head('payload')} as payload, ${head('headers')} as headers from ${at.from}
      where ${at.id.among(ids)}`.execute(db);
    for (const row of rows) {
      const values = (['payload', 'headers'] as const).flatMap((role) => {
        const stored = { head: row[role], bytes: 0, binary: at.role(role)?.description.kind === 'binary' };
        return hiddenValues(outbox, role, role === 'payload' ? decodeContent(stored, outbox.shape.payload?.encoding) : stored);
      });
      const whole = [row.payload, row.headers].every((text) => (text?.length ?? 0) < characters);
      found.set(row.id, { values, exact: row.exact, whole, long: false });
    }
  }
  return found;
}
