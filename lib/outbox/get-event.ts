import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Claim, OutboxEvent } from '@/lib/shared/model';
import { isState, type State } from '@/lib/shared/states';
import { decodeContent, type StoredContent } from './content';
import { livePlaces, type Outbox, type Place } from './outbox';
import { archiveFacts, eventColumns, placeSql, toEvent, type EventRow, type PlaceSql } from './row';
import { idFits } from './row-id';

/** Characters of a payload the event page reads; beyond it the payload is cut and its size said. */
export const CONTENT_CHARACTERS = 262_144;

export interface StoredEvent {
  asOf: string;
  place: Place['key'];
  event: OutboxEvent;
  claim: Claim;
  payload: StoredContent;
  headers: StoredContent | null;
  archived: { at: string; by: string; reason: string; fromState: State; interventionId: string } | null;
}

interface DetailRow extends EventRow {
  now: string;
  available_at: string | null;
  locked_until: string | null;
  locked_by: string | null;
  payload_head: string | null;
  payload_bytes: string | null;
  headers_head: string | null;
  headers_bytes: string | null;
  archived_at?: string | null;
  archived_by?: string | null;
  archived_reason?: string | null;
  archived_by_intervention?: string | null;
  archived_from_state?: string | null;
}

/**
 * One event by its id: looked up by the primary key in the outbox, its dead-letter table and the archive, in this
 * order. null when none holds it, an id that cannot be one of this table's included.
 */
export async function getEvent(outbox: Outbox, id: string): Promise<StoredEvent | null> {
  return outbox.database.read(async (db) => {
    for (const place of [...livePlaces(outbox), ...(outbox.archive === null ? [] : [outbox.archive])]) {
      const found = await readOne(outbox, db, place, id);
      if (found !== null) return found;
    }
    return null;
  });
}

async function readOne(outbox: Outbox, db: Db, place: Place, id: string): Promise<StoredEvent | null> {
  const { engine } = outbox.database;
  const at = placeSql(outbox, place);
  if (!idFits(engine, place, id)) return null;
  const archived = place.key === 'archive' ? sql`, ${archiveFacts(outbox, at.alias)}` : sql``;
  const { rows } = await sql<DetailRow>`select ${engine.fragments.nowIso()} as now, ${eventColumns(outbox, at, 'whole')},
      ${at.roleIso('availableAt')} as available_at, ${at.roleIso('lockedUntil')} as locked_until, ${at.roleText('lockedBy')} as locked_by,
      ${contentColumns(outbox, at, 'payload')}, ${contentColumns(outbox, at, 'headers')}${archived}
    from ${at.from} where ${at.id.is(id)}${at.rows === null ? sql`` : sql` and ${at.rows}`} limit 1`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  return {
    asOf: row.now,
    place: place.key,
    event: toEvent(outbox, place.key, row),
    claim: { availableAt: row.available_at, lockedUntil: row.locked_until, lockedBy: row.locked_by },
    payload: decodeContent(content(at, 'payload', row.payload_head, row.payload_bytes), outbox.shape.payload?.encoding),
    headers: at.role('headers') === null ? null : content(at, 'headers', row.headers_head, row.headers_bytes),
    archived: archivedFacts(row),
  };
}

function contentColumns(outbox: Outbox, at: PlaceSql, role: 'payload' | 'headers'): ReturnType<typeof sql> {
  const { fragments } = outbox.database.engine;
  const column = at.role(role);
  if (column === null) return sql`cast(null as char(1)) as ${sql.id(`${role}_head`)}, cast(null as char(1)) as ${sql.id(`${role}_bytes`)}`;
  const bytes = column.description.kind === 'binary' ? sql`octet_length(${column.sql})` : fragments.textBytes(column.sql);
  return sql`${fragments.head(column.sql, column.description, CONTENT_CHARACTERS)} as ${sql.id(`${role}_head`)}, ${fragments.asText(bytes)} as ${sql.id(`${role}_bytes`)}`;
}

function content(at: PlaceSql, role: 'payload' | 'headers', head: string | null, bytes: string | null): StoredContent {
  return { head, bytes: Number(bytes ?? 0), binary: at.role(role)?.description.kind === 'binary' };
}

function archivedFacts(row: DetailRow): StoredEvent['archived'] {
  if (row.archived_at === undefined || row.archived_at === null) return null;
  const from = row.archived_from_state;
  return {
    at: row.archived_at,
    by: row.archived_by ?? '',
    reason: row.archived_reason ?? '',
    fromState: isState(from) ? from : 'pending',
    interventionId: row.archived_by_intervention ?? '',
  };
}
