import { sql, type RawBuilder } from 'kysely';
import type { Neighbour, OutboxEvent } from '@/lib/shared/model';
import { livePlaces, type Outbox, type Place } from './outbox';
import { eventColumns, placeSql, toEvent, type EventRow, type PlaceSql } from './row';

/** Events of the same aggregate read on each side of the one shown. */
const SIDE = 25;

/**
 * The other events of an aggregate in their order, this one among them, with what waits behind what. Served by an
 * index on the aggregate where there is one, otherwise bounded by its own two-second timeout.
 */
export async function neighboursOf(outbox: Outbox, event: OutboxEvent): Promise<Neighbour[]> {
  const { aggregateId, createdAt } = event;
  if (aggregateId === null || createdAt === null) return [];
  const events = await outbox.database.read(
    async (db) => {
      const sides = livePlaces(outbox).flatMap((place) => {
        const at = placeSql(outbox, place);
        return [side(outbox, at, event, 'before'), side(outbox, at, event, 'after')].filter((select) => select !== null);
      });
      if (sides.length === 0) return [];
      const { rows } = await sql<
        EventRow & { place: Place['key'] }
      >`select * from (${sql.join(sides, sql` union all `)}) as around`.execute(db);
      return rows.map((row) => toEvent(outbox, row.place, row));
    },
    { statementMs: 2_000 },
  );
  // An archived event is no longer among the live ones, but its place in the story is still here.
  const all = events.some((other) => other.id === event.id) ? events : [...events, event];
  all.sort((a, b) => compare(a.createdAt ?? '', b.createdAt ?? '') || compare(a.id, b.id));
  return mark(all, event.id, outbox.shape.keepsOrder);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function side(outbox: Outbox, at: PlaceSql, event: OutboxEvent, which: 'before' | 'after'): RawBuilder<unknown> | null {
  const { engine } = outbox.database;
  const aggregate = at.role('aggregateId');
  const created = at.role('createdAt');
  if (
    aggregate === null ||
    created === null ||
    event.aggregateId === null ||
    event.createdAt === null ||
    !engine.idFits(event.aggregateId, aggregate.description)
  )
    return null;
  const type = at.role('aggregateType');
  const sameType =
    type === null || event.aggregateType === null ? sql`` : sql` and ${engine.fragments.asText(type.sql)} = ${event.aggregateType}`;
  const here = engine.fragments.instantValue(event.createdAt, created.description, outbox.parameters.timeZone);
  const [sign, direction] = which === 'before' ? [sql.raw('<='), sql.raw('desc')] : [sql.raw('>'), sql.raw('asc')];
  return sql`(select ${sql.lit(at.place.key)} as place, ${eventColumns(outbox, at)} from ${at.from}
    where ${aggregate.sql} = ${engine.fragments.typed(event.aggregateId, aggregate.description)}${sameType} and ${created.sql} ${sign} ${here}
    order by ${created.sql} ${direction} limit ${sql.lit(SIDE)})`;
}

const isWaiting = (event: OutboxEvent): boolean => event.state !== 'published' && event.state !== 'archived';

/** Blocked: waits behind an earlier unpublished event, where the relay keeps order. Overtaken: a later one is out, where it does not. */
export function mark(events: OutboxEvent[], currentId: string, keepsOrder: boolean): Neighbour[] {
  return events.map((event, index) => ({
    event,
    current: event.id === currentId,
    blocked: keepsOrder && isWaiting(event) && events.slice(0, index).some(isWaiting),
    overtaken: !keepsOrder && isWaiting(event) && events.slice(index + 1).some((later) => later.state === 'published'),
  }));
}
