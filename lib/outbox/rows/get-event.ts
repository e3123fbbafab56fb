import { type RawBuilder, sql } from 'kysely';
import type { Place } from '@/lib/shape/bound';
import type { Claim, EventDetail, VersionedEvent } from '@/lib/shared/model';
import { isState } from '@/lib/shared/states';
import { ARCHIVE_COLUMNS } from '../companions';
import { allPlaces, type Outbox } from '../outbox';
import { eventColumns, type EventRow, NO_TEXT, placeSql, type PlaceSql, toEvent } from './row';
import { idFits } from './row-id';

export interface StoredEvent {
  asOf: string;
  place: Place['key'];
  /** Its error is cut as in lists: the whole text is part of the content. */
  event: VersionedEvent;
  claim: Claim;
  archived: EventDetail['archived'];
  /** The result of `beside`. */
  beside: string;
}

/** How a row came into the archive, except when. */
const ARCHIVED = ['by', 'reason', 'intervention', 'fromState'] as const;

type DetailText = `archived_${(typeof ARCHIVED)[number] | 'at'}` | 'available_at' | 'locked_until' | 'locked_by';
type DetailRow = EventRow & Pick<StoredEvent, 'place' | 'beside'> & Record<DetailText, string | null> & { now: string };

/** A text computed for the row, in the statement that reads it. */
export type ExtraText = (at: PlaceSql) => RawBuilder<string>;

/** One event by id, without its content: one statement by the primary keys of its tables, the first table that has it. null: not found. */
export async function getEvent(outbox: Outbox, id: string, beside: ExtraText = () => sql`''`): Promise<StoredEvent | null> {
  const { engine } = outbox.database;
  const places = allPlaces(outbox).filter((place) => idFits(engine, place, id));
  if (places.length === 0) return null;
  const arms = places.map((place) => oneRow(outbox, place, id, beside));
  // Read in this order, only up to the first table that has it.
  const { rows } = await outbox.database.read((db) =>
    sql<DetailRow>`select * from (${sql.join(arms, sql` union all `)}) as found limit 1`.execute(db),
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    asOf: row.now,
    place: row.place,
    event: toEvent(outbox, row.place, row),
    claim: { availableAt: row.available_at, lockedUntil: row.locked_until, lockedBy: row.locked_by || null },
    archived: archivedFacts(row),
    beside: row.beside,
  };
}

function oneRow(outbox: Outbox, place: Place, id: string, beside: ExtraText): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, place);
  return sql`(select ${sql.lit(place.key)} as place, ${fragments.nowIso()} as now, ${eventColumns(outbox, at)},
      ${at.roleIso('availableAt')} as available_at, ${at.roleIso('lockedUntil')} as locked_until, ${at.roleText('lockedBy')} as locked_by,
      ${beside(at)} as beside, ${archiveColumns(outbox, at)}
    from ${at.from} where ${at.id.is(id)}${at.rows === null ? sql`` : sql` and ${at.rows}`} limit 1)`;
}

/** NULLs for rows of other tables. */
function archiveColumns(outbox: Outbox, { place, column }: PlaceSql): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const time = place.key === 'archive' ? place.description.columns.get(ARCHIVE_COLUMNS.at) : undefined;
  const at = time === undefined ? NO_TEXT : fragments.isoTime(column(time.name), time, 'UTC');
  const told = (name: string) => (place.key === 'archive' ? fragments.asText(column(name)) : NO_TEXT);
  const texts = ARCHIVED.map((key) => sql`${told(ARCHIVE_COLUMNS[key])} as ${sql.id(`archived_${key}`)}`);
  return sql`${at} as archived_at, ${sql.join(texts)}`;
}

function archivedFacts(row: DetailRow): StoredEvent['archived'] {
  const { archived_at: at, archived_by: by, archived_reason: reason, archived_fromState: from, archived_intervention: intervention } = row;
  if (at === null) return null;
  return { at, by: by ?? '', reason: reason ?? '', fromState: isState(from) ? from : 'pending', interventionId: intervention ?? '' };
}
