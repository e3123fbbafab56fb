import { sql } from 'kysely';
import { isSameCause } from '@/lib/shared/lists/cause';
import type { EventFilter } from '@/lib/shared/model';
import { DEAD_LOOKED_AT, deadRows, type DeadRow } from './dead-letters';
import { opposite, stretches, type ListStart, type Page } from './page';
import type { Look, ListRow } from './sql';
import { livePlaces, type Outbox } from '../outbox';
import { eventColumns, placeSql, type EventRow } from '../rows/row';

/** Dead events with their errors as somebody sees them, in the same order. */
export type Seeing = (rows: DeadRow[]) => Promise<DeadRow[]>;

/**
 * A page of the dead events that died of one cause: their types and their errors, as the asker sees them, are held
 * against it. DEAD_LOOKED_AT rows are looked at for a page; the next one goes on behind them.
 */
export async function causePage(
  outbox: Outbox,
  filter: EventFilter & { cause: string },
  { walks, order, cursor }: ListStart,
  limit: number,
  see: Seeing | null,
): Promise<Page> {
  const backwards = cursor?.direction === 'previous';
  const direction = backwards ? opposite(order) : order;
  const { database } = outbox;
  const rows = await database.read(async (db) => {
    await database.engine.byIndex(db);
    return deadRows(outbox, db, { walks, direction, stretches: stretches(walks, direction, cursor), versions: see !== null });
  });
  // With the connection given back: seeing may need one of its own.
  const seen = see === null ? rows : await see(rows);
  const wanted = (row: DeadRow): boolean => (filter.type ?? [row.type]).some((type) => isSameCause({ type, error: filter.cause }, row));
  const found = seen.filter(wanted);
  const last = rows.at(-1);
  const more = found.length > limit;
  // Of a page that is full none may be left to show, and the next one begins behind it all the same.
  const end = more ? found[limit - 1] : rows.length < DEAD_LOOKED_AT ? undefined : last;
  const looked: Look = {
    rows: rows.length,
    end: end === undefined ? null : { key: end.position, id: end.id, at: end.position_at },
    backTo: last?.position_at ?? null,
  };
  const shown = await wholeRows(outbox, found.slice(0, limit));
  if (backwards) shown.reverse();
  return { shown, more, looked };
}

/** Everything of these rows that a list shows, in their order; those that are no longer dead are left out. */
async function wholeRows(outbox: Outbox, rows: DeadRow[]): Promise<ListRow[]> {
  if (rows.length === 0) return [];
  return outbox.database.read(async (db) => {
    // The same id may be dead in both tables.
    const found = new Map<string, EventRow>();
    const keyOf = (place: string, id: string): string => `${place} ${id}`;
    for (const place of livePlaces(outbox)) {
      const ids = rows.filter((row) => row.place === place.key).map(({ id }) => id);
      if (ids.length === 0) continue;
      const at = placeSql(outbox, place);
      const read = await sql<EventRow>`select ${eventColumns(outbox, at)} from ${at.from} where ${at.id.among(ids)}`.execute(db);
      for (const row of read.rows) if (/^dead(:|$)/.test(row.state)) found.set(keyOf(place.key, row.id), row);
    }
    return rows.flatMap(({ id, place, position, position_at }) => {
      const row = found.get(keyOf(place, id));
      return row === undefined ? [] : [{ ...row, place, position, position_at }];
    });
  });
}
