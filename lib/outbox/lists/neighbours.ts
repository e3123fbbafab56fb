import { sql, type RawBuilder } from 'kysely';
import { failureAs } from '@/lib/database/failure';
import type { Neighbour, OutboxEvent } from '@/lib/shared/model';
import { isIndexed } from './filters';
import { fromOf, keyOrder, readByIndex } from './sql';
import { listOf, type Walk } from './walks';
import { numberedKey } from '../indexes/index-fit';
import { groupBy } from '@/lib/shared/group-by';
import { isSmall, livePlaces, type Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { eventColumns, placeSql, toEvent, type EventRow, type PlaceSql } from '../rows/row';
import { and, statePredicate } from '@/lib/shape/compile';

const SIDE = 25;
const NEIGHBOURS_MS = 2_000;
/** Without an index on the aggregate: rows read on each side of the event, per index of the list. */
const AROUND_ROWS = 2_000;

const SIDES = ['before', 'after'] as const;

export interface Around {
  neighbours: Neighbour[];
  /** False if only rows around the event were read. */
  complete: boolean;
}

/** Up to 25 of the aggregate's events on each side; without an index, a large table is read only near the event. Within two seconds. */
export async function neighboursOf(outbox: Outbox, event: OutboxEvent): Promise<Around> {
  const { aggregateId, createdAt } = event;
  if (aggregateId === null || createdAt === null) return { neighbours: [], complete: true };
  // An index on the aggregate's type and id cannot find rows by id alone.
  const whole = livePlaces(outbox).filter((place) => isSmall(place) || isIndexed(place, 'aggregateId', event.aggregateType !== null));
  const sides = [
    ...whole.flatMap((place) => SIDES.map((which) => near(outbox, placeSql(outbox, place), event, which, null))),
    ...(whole.includes(outbox.main) ? [] : around(outbox, event)),
  ].filter((select) => select !== null);
  const rows = await readByIndex<EventRow & { place: Place['key'] }>(outbox, sides, NEIGHBOURS_MS);
  const events = rows.map((row) => toEvent(outbox, row.place, row));
  // An archived event is not in the live tables, but is shown among its neighbours.
  const all = events.some((other) => other.id === event.id) ? events : [...events, event];
  const byId = (a: OutboxEvent, b: OutboxEvent): number => a.id.localeCompare(b.id, 'en', { numeric: true });
  const numbered = new Set(rows.flatMap(({ place, id }) => (place === 'main' && isNumbered(outbox.main) ? id : [])));
  const order = (a: OutboxEvent, b: OutboxEvent): number =>
    inOrder(a.createdAt ?? '', b.createdAt ?? '') || (numbered.has(a.id) && numbered.has(b.id) ? byId(a, b) : 0);
  all.sort((a, b) => order(a, b) || byId(a, b));
  const here = all.findIndex((other) => other.id === event.id);
  const shown = all.slice(Math.max(0, here - SIDE), here + SIDE + 1);
  const blockedBy: readonly string[] = outbox.shape.ordering?.blockedBy ?? [];
  // Blocked: waits behind an earlier event in one of these states, if the relay keeps order. Overtaken: a later one is published, where it does not wait.
  const neighbours = shown.map((one) => ({
    event: one,
    current: one.id === event.id,
    blocked: isWaiting(one) && all.some((other) => order(other, one) < 0 && blockedBy.includes(other.state)),
    overtaken:
      !blockedBy.includes(one.state) && isWaiting(one) && all.some((other) => order(other, one) > 0 && other.state === 'published'),
  }));
  return { neighbours, complete: whole.length === livePlaces(outbox).length };
}

/** Events of one time follow each other by number; which of two tables, or of ids that are no numbers, came first, nobody knows. */
const isNumbered = (place: Place): boolean => place.key === 'main' && numberedKey(place) !== null;
export const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function sameAggregate(outbox: Outbox, at: PlaceSql, event: OutboxEvent): RawBuilder<boolean> | null {
  const { engine } = outbox.database;
  const aggregate = at.role('aggregateId');
  if (aggregate === null || event.aggregateId === null || !engine.idFits(event.aggregateId, aggregate.description)) return null;
  const type = at.role('aggregateType');
  const sameType =
    type === null || event.aggregateType === null
      ? sql``
      : sql` and ${engine.fragments.asText(type.sql, type.description)} = ${event.aggregateType}`;
  return sql`${engine.fragments.isOneOf(aggregate.sql, [event.aggregateId], aggregate.description)}${sameType}`;
}

/** The aggregate's events among the rows that each walk of the list has before and after the event; a bounded number. */
function around(outbox: Outbox, event: OutboxEvent): (RawBuilder<unknown> | null)[] {
  const { order, walks: all } = listOf(outbox, {});
  if (order.scattered && order.whole !== null) return [];
  const walks = all.filter(({ at, tried }) => at.place.key === 'main' && tried.on !== 'sample');
  return walks.flatMap((walk) => (walk.index === null ? [null] : SIDES).map((which) => near(outbox, walk.at, event, which, walk)));
}

/**
 * The aggregate's events on one side of the event: by the place's own index, or among the next rows of a walk. If `which` is null, among
 * the first rows of a walk without an order.
 */
function near(
  outbox: Outbox,
  at: PlaceSql,
  event: OutboxEvent,
  which: (typeof SIDES)[number] | null,
  walk: Walk | null,
): RawBuilder<unknown> | null {
  const { fragments } = outbox.database.engine;
  const same = sameAggregate(outbox, at, event);
  const created = at.role('createdAt');
  const key = walk === null ? created : walk.key;
  const time = walk?.key?.role === 'publishedAt' ? (event.publishedAt ?? event.createdAt) : event.createdAt;
  const ids = at.id.values(event.id);
  if (same === null || time === null || (key === null && (walk === null || ids === null))) return null;
  const [column, here] =
    key === null
      ? [sql`(${sql.join(at.id.columns.map((one) => one.sql))})`, sql`(${sql.join(ids ?? [])})`]
      : [key.sql, fragments.instantValue(time, key.description, outbox.parameters.timeZone)];
  const beyond = which === null ? [] : [sql<boolean>`${column} ${sql.raw(which === 'before' ? '<=' : '>')} ${here}`];
  const by = { at, index: walk?.index ?? null };
  const order = which === null ? sql`` : sql` order by ${keyOrder(by, { sql: column }, which === 'before' ? 'desc' : 'asc')}`;
  const selected = sql`select ${sql.lit(at.place.key)} as place, ${eventColumns(outbox, at)} from`;
  if (walk === null) return sql`(${selected} ${at.from} where ${and([same, ...beyond])}${order} limit ${sql.lit(SIDE)})`;
  const rows = sql`select ${fragments.wholeRow(at.alias, at.place.description)} from ${fromOf(outbox, by)}
    where ${and([...walk.where, ...beyond])}${order} limit ${sql.lit(AROUND_ROWS)}`;
  return sql`(${selected} (${rows}) as ${sql.ref(at.alias)} where ${same} limit ${sql.lit(SIDE)})`;
}

const isWaiting = (event: OutboxEvent): boolean => event.state !== 'published' && event.state !== 'archived';

/** Looking for what order would be broken is a service, not worth a wait. */
const ORDER_MS = 1_000;

/**
 * Of these events, how many a later one of their aggregate has overtaken, and, where the relay keeps order, how many an earlier one holds up; null
 * without aggregates. Served by the index on the aggregate, a probe or two per event; without it, or in more than a second, `not_looked`.
 */
export async function orderWithin(
  outbox: Outbox,
  ids: readonly string[],
): Promise<{ code: string; count: number }[] | 'not_looked' | null> {
  const { shape, scope, main } = outbox;
  const other = placeSql(outbox, main, 'other');
  const { blockedBy = [] } = shape.ordering ?? {};
  if (other.role('aggregateId') === null) return null;
  if (!(isSmall(main) || isIndexed(main, 'aggregateId'))) return 'not_looked';
  const probes = (
    [
      ['blocked_by_order', blockedBy, '<'],
      ['later_event_is_out', ['published'], '>'],
    ] as const
  ).flatMap(([code, states, side]) => {
    const standing = states.length === 0 ? null : statePredicate(shape, states, 'other', scope);
    return standing === null
      ? []
      : livePlaces(outbox).flatMap((place) => {
          const at = placeSql(outbox, place);
          const same = (['aggregateId', 'aggregateType'] as const).flatMap((key) => {
            const [own, its] = [at.role(key), other.role(key)];
            return own === null || its === null ? [] : [sql<boolean>`${its.sql} = ${own.sql}`];
          });
          const [own, its] = [at.roleInstant('createdAt'), other.roleInstant('createdAt')];
          if (at.role('aggregateId') === null || own === null || its === null) return [];
          // What the relay waits for, nothing overtakes.
          const waitedFor =
            side === '<' || blockedBy.length === 0 ? null : place === main ? statePredicate(shape, blockedBy, at.alias, scope) : null;
          if (side === '>' && place !== main && blockedBy.includes('dead')) return [];
          const free = waitedFor === null ? [] : [sql<boolean>`(${waitedFor}) is not true`];
          const number = ({ id }: PlaceSql) => (isNumbered(place) ? id.columns.map((column) => column.sql) : []);
          const apart = outbox.database.engine.fragments.beyond([its, ...number(other)], side, [own, ...number(at)]);
          return [
            sql`select ${sql.lit(code)} as code, ${at.id.text} as id from ${at.from} where ${and([at.id.among(ids), ...free])} and exists
        (select 1 from ${other.from} where ${and([...same, apart, standing])})`,
          ];
        });
  });
  if (probes.length === 0) return 'not_looked';
  const rows = await readByIndex<{ code: string; id: string }>(outbox, probes, ORDER_MS).catch(failureAs(null));
  if (rows === null) return 'not_looked';
  const found = groupBy(rows, ({ code }) => code);
  return [...found].map(([code, some]) => ({ code, count: new Set(some.map(({ id }) => id)).size }));
}
