import { sql, type RawBuilder } from 'kysely';
import type { EventFilter } from '@/lib/shared/model';
import { LIVE_STATES, type LiveState } from '@/lib/shared/states';
import { statePredicate } from './conditions';
import type { Cursor } from './cursor';
import { livePlaces, type Outbox, type Place } from './outbox';
import type { PlaceSql } from './row';

/** The tables the wanted states live in. Archived events are listed only when asked for. */
export function placesFor(outbox: Outbox, filter: EventFilter): Place[] {
  const wanted = filter.state;
  if (wanted === undefined || wanted.length === 0) return livePlaces(outbox);
  const places: Place[] = wanted.some((state) => state !== 'archived') ? livePlaces(outbox) : [];
  if (places.length > 0 && !wanted.includes('dead')) places.splice(1);
  if (wanted.includes('archived') && outbox.archive !== null) places.push(outbox.archive);
  return places;
}

/**
 * What bounds the rows that are looked at, all of it index-shaped: state, time range, position. null when no row of
 * this table can match.
 */
export function scopeOf(
  outbox: Outbox,
  at: PlaceSql,
  filter: EventFilter,
  cursor: Cursor | null,
  walk: Cursor['order'],
): RawBuilder<boolean>[] | null {
  const { engine } = outbox.database;
  const { fragments } = engine;
  const scope: RawBuilder<boolean>[] = [];
  const wanted = (filter.state ?? []).filter((state): state is LiveState => (LIVE_STATES as readonly string[]).includes(state));
  if (at.place.key === 'main' && wanted.length > 0) {
    const predicate = statePredicate(outbox.shape, wanted, at.alias, fragments);
    if (predicate === null) return null;
    scope.push(predicate);
  }
  const created = at.role('createdAt');
  if (created !== null) {
    const bound = (iso: string): RawBuilder<unknown> => fragments.instantValue(iso, created.description, outbox.parameters.timeZone);
    if (filter.from !== undefined) scope.push(sql`${created.sql} >= ${bound(filter.from)}`);
    if (filter.to !== undefined) scope.push(sql`${created.sql} < ${bound(filter.to)}`);
  } else if (filter.from !== undefined || filter.to !== undefined) {
    return null;
  }
  const exactly = equalities(outbox, at, filter);
  if (exactly === null) return null;
  scope.push(...exactly);
  if (cursor !== null) scope.push(beyond(at, cursor, walk));
  return scope;
}

/** Filters that an index can serve by equality. null when one of them cannot match any row. */
function equalities(outbox: Outbox, at: PlaceSql, filter: EventFilter): RawBuilder<boolean>[] | null {
  const { engine } = outbox.database;
  const tests: RawBuilder<boolean>[] = [];
  const equal = (role: 'aggregateId' | 'dedupKey' | 'id', value: string): RawBuilder<boolean> | null => {
    const bound = at.role(role);
    return bound === null || !engine.idFits(value, bound.description)
      ? null
      : sql`${bound.sql} = ${engine.fragments.typed(value, bound.description)}`;
  };
  if (filter.aggregate !== undefined) {
    const test = equal('aggregateId', filter.aggregate);
    if (test === null) return null;
    tests.push(test);
  }
  if (filter.q !== undefined) {
    const { q } = filter;
    const found = (['id', 'dedupKey', 'aggregateId'] as const).map((role) => equal(role, q)).filter((test) => test !== null);
    if (found.length === 0) return null;
    tests.push(sql`(${sql.join(found, sql` or `)})`);
  }
  return tests;
}

/** Filters checked row by row over what the scope lets through. */
export function matchesOf(outbox: Outbox, at: PlaceSql, filter: EventFilter): RawBuilder<boolean>[] {
  const { fragments } = outbox.database.engine;
  const tests: RawBuilder<boolean>[] = [];
  if (filter.type !== undefined && filter.type.length > 0) {
    const type = at.role('type');
    tests.push(type === null ? sql`false` : sql`${fragments.asText(type.sql)} in (${sql.join(filter.type)})`);
  }
  if (filter.error !== undefined) {
    const error = at.role('error');
    tests.push(error === null ? sql`false` : fragments.contains(error.sql, filter.error));
  }
  return tests;
}

function beyond(at: PlaceSql, cursor: Cursor, walk: Cursor['order']): RawBuilder<boolean> {
  const sign = sql.raw(walk === 'newest' ? '<' : '>');
  const id = at.role('id');
  const created = at.role('createdAt');
  const castTo = (value: string, type: string): RawBuilder<unknown> =>
    sql`cast(${value} as ${sql.raw(type.replace(/\(\d+(,\d+)?\)/, ''))})`;
  if (id === null) return sql`false`;
  const idValue = castTo(cursor.id, id.description.type);
  if (created === null) return sql`${id.sql} ${sign} ${idValue}`;
  // Rows without a creation time come last when walking to the oldest and first when walking to the newest.
  if (cursor.createdKey === null) {
    const sameNull = sql<boolean>`(${created.sql} is null and ${id.sql} ${sign} ${idValue})`;
    return walk === 'newest' ? sameNull : sql`(${sameNull} or ${created.sql} is not null)`;
  }
  const createdValue = castTo(cursor.createdKey, created.description.type);
  const after = sql<boolean>`(${created.sql}, ${id.sql}) ${sign} (${createdValue}, ${idValue})`;
  return walk === 'newest' && created.description.nullable ? sql`(${after} or ${created.sql} is null)` : after;
}
