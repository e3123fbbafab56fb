import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { OutboxEvent } from '@/lib/shared/model';
import { decodeContent } from './content';
import { hiddenValues, MASK, presentError } from './mask';
import { maskText } from './mask-text';
import { livePlaces, type Outbox } from './outbox';
import { placeSql } from './row';

/** Characters of a payload that are searched for values an error may quote: of every row first, then of the few that are longer. */
const SEARCHED_CHARACTERS = [65_536, 4_194_304];
/** Rows of a page whose long payloads are read at once: each costs megabytes, parsed while everybody else waits. */
const LONG_ROWS = 4;
/** Errors over long payloads that are remembered of an outbox, each some hundred characters. */
const REMEMBERED_ERRORS = 500;

/** By the row's version: who polls a list does not have the same megabytes read again. Goes with the binding of the outbox. */
const remembered = new WeakMap<Outbox, Map<string, string>>();

/**
 * Events with what their errors quote of masked payload values hidden. Reads the payloads of the events that have an
 * error, by primary key, each cut at 64 kB: one statement per table for a page of a list, and one for each of the few
 * that are longer, once per version of their row; the next reading has the next few. What was not searched to its end,
 * or is no longer there to be searched, may be quoted anywhere: such an error is withheld whole.
 */
export async function maskErrors(outbox: Outbox, events: OutboxEvent[]): Promise<OutboxEvent[]> {
  if (outbox.settings.mask.length === 0) return events.map((event) => ({ ...event, error: event.error && shown(event.error, []) }));
  const known = remembered.get(outbox) ?? new Map<string, string>();
  remembered.set(outbox, known);
  const ids = events.filter((event) => event.error !== null && !known.has(rowOf(event))).map((event) => event.id);
  const hidden = ids.length === 0 ? new Map<string, Searched>() : await hiddenById(outbox, ids);
  return events.map((event) => {
    if (event.error === null) return event;
    const found = hidden.get(event.id);
    const error = known.get(rowOf(event)) ?? (found?.whole === true ? shown(event.error, found.values) : MASK);
    if (found?.long === true) remember(known, rowOf(event), error);
    return { ...event, error };
  });
}

const rowOf = ({ id, version, error }: OutboxEvent): string => JSON.stringify([id, version, error]);

const shown = (error: string, values: string[]): string => maskText(presentError(error, values) ?? '');

function remember(known: Map<string, string>, row: string, error: string): void {
  known.set(row, error);
  const [oldest] = known.keys();
  if (known.size > REMEMBERED_ERRORS && oldest !== undefined) known.delete(oldest);
}

interface Searched {
  /** What an error must not quote. */
  values: string[];
  /** Payload and headers were searched to their ends. */
  whole: boolean;
  /** They were searched as far as any are. */
  long: boolean;
}

async function hiddenById(outbox: Outbox, ids: string[]): Promise<Map<string, Searched>> {
  const [first = 0, most = 0] = SEARCHED_CHARACTERS;
  return outbox.database.read(async (db) => {
    const found = await searched(outbox, db, ids, first);
    const long = [...found].filter(([, { whole }]) => !whole).map(([id]) => id);
    for (const id of long.slice(0, LONG_ROWS)) {
      for (const [own, all] of await searched(outbox, db, [id], most)) found.set(own, { ...all, long: true });
    }
    return found;
  });
}

async function searched(outbox: Outbox, db: Db, ids: string[], characters: number): Promise<Map<string, Searched>> {
  const { fragments } = outbox.database.engine;
  const found = new Map<string, Searched>();
  for (const place of [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])]) {
    const at = placeSql(outbox, place);
    const head = (role: 'payload' | 'headers') => {
      const column = at.role(role);
      return column === null ? sql`cast(null as char(1))` : fragments.head(column.sql, column.description, characters);
    };
    const { rows } = await sql<{ id: string; payload: string | null; headers: string | null }>`
      select ${at.id.text} as id, ${head('payload')} as payload, ${head('headers')} as headers from ${at.from}
      where ${at.id.among(ids)}`.execute(db);
    for (const row of rows) {
      const values = (['payload', 'headers'] as const).flatMap((role) => {
        const stored = { head: row[role], bytes: 0, binary: at.role(role)?.description.kind === 'binary' };
        return hiddenValues(outbox, role, role === 'payload' ? decodeContent(stored, outbox.shape.payload?.encoding) : stored);
      });
      found.set(row.id, { values, whole: [row.payload, row.headers].every((text) => (text?.length ?? 0) < characters), long: false });
    }
  }
  return found;
}
