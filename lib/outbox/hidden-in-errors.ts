import { sql } from 'kysely';
import type { OutboxEvent } from '@/lib/shared/model';
import { decodeContent } from './content';
import { hiddenValues, presentError } from './mask';
import { maskText } from './mask-text';
import { livePlaces, type Outbox } from './outbox';
import { placeSql } from './row';

/** Characters of a payload that are searched for values an error may quote. */
const SEARCHED_CHARACTERS = 65_536;

/**
 * Events with what their errors quote of masked payload values hidden. Reads the payloads of the events that have an
 * error, by primary key, each cut at 64 kB: one statement per table for a page of a list.
 */
export async function maskErrors(outbox: Outbox, events: OutboxEvent[]): Promise<OutboxEvent[]> {
  const ids = events.filter((event) => event.error !== null).map((event) => event.id);
  if (ids.length === 0) return events;
  const hidden = outbox.settings.mask.length === 0 ? new Map<string, string[]>() : await hiddenById(outbox, ids);
  return events.map((event) =>
    event.error === null ? event : { ...event, error: maskText(presentError(event.error, hidden.get(event.id) ?? []) ?? '') },
  );
}

async function hiddenById(outbox: Outbox, ids: string[]): Promise<Map<string, string[]>> {
  const { fragments } = outbox.database.engine;
  const found = new Map<string, string[]>();
  const places = [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])];
  await outbox.database.read(async (db) => {
    for (const place of places) {
      const at = placeSql(outbox, place);
      const head = (role: 'payload' | 'headers') => {
        const column = at.role(role);
        return column === null ? sql`cast(null as char(1))` : fragments.head(column.sql, column.description, SEARCHED_CHARACTERS);
      };
      const { rows } = await sql<{ id: string; payload: string | null; headers: string | null }>`
        select ${at.id.text} as id, ${head('payload')} as payload, ${head('headers')} as headers from ${at.from}
        where ${at.id.among(ids)}`.execute(db);
      for (const row of rows) {
        const values = (['payload', 'headers'] as const).flatMap((role) => {
          const stored = { head: row[role], bytes: 0, binary: at.role(role)?.description.kind === 'binary' };
          return hiddenValues(outbox, role, role === 'payload' ? decodeContent(stored, outbox.shape.payload?.encoding) : stored);
        });
        found.set(row.id, values);
      }
    }
  });
  return found;
}
