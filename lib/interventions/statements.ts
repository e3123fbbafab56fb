/**
 * The statements of an intervention. The confirm dialog shows exactly these, and exactly these run.
 */
import { sql, type RawBuilder } from 'kysely';
import { tableRef } from '@/lib/database/table-ref';
import { ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import { placeColumns, type Outbox, type Place } from '@/lib/outbox/outbox';
import { placeSql, type PlaceSql } from '@/lib/outbox/row';
import type { Value } from '@/lib/outbox/shape';
import type { Version } from '@/lib/outbox/version';
import { placeName } from './operations/restore';
import type { Step } from './operation';

export interface Seen {
  id: string;
  version: Version;
}

/** Who archives and why, for the columns an archived row carries. */
export interface Author {
  interventionId: string;
  actorName: string;
  reason: string;
}

export interface LockedRow {
  id: string;
  state: string;
  type: string | null;
  aggregate_id: string | null;
  /** Columns as JSON of texts, payload and headers left out. */
  image: string;
}

const ALIAS = 'o';

/**
 * Locks the rows that are exactly what the operator saw, in key order. Served by the primary key, bounded by the
 * number of ids; `skip locked` passes over rows a relay holds, so that one of them never holds up the others.
 */
export function lockStatement(outbox: Outbox, step: Step, seen: Seen[], wait: 'skip locked' | 'wait'): RawBuilder<LockedRow> {
  const at = placeSql(outbox, step.source, ALIAS);
  return sql`select ${at.roleText('id')} as id, ${at.state} as state, ${at.roleText('type')} as type,
      ${at.roleText('aggregateId')} as aggregate_id, ${rowImage(outbox, at)} as image
    from ${at.from} where ${guard(outbox, step, at, seen)} order by ${keyOf(at)} ${outbox.database.engine.fragments.forUpdate(ALIAS, wait)}`;
}

/** Changes rows where they are; the guard stands in the statement again. */
export function updateStatement(outbox: Outbox, step: Step, seen: Seen[]): RawBuilder<unknown> {
  const at = placeSql(outbox, step.source, ALIAS);
  const assignments = readersFirst(step.set).map(
    ([name, value]) => sql`${sql.id(name)} = ${valueOf(outbox, step.source, at, name, value)}`,
  );
  return sql`update ${at.from} set ${sql.join(assignments)} where ${guard(outbox, step, at, seen)}`;
}

/** One engine assigns from left to right and reads what it has just written: what reads a column comes before what writes it. */
function readersFirst(set: Step['set']): [string, Value][] {
  const open = new Map(Object.entries(set));
  const ordered: [string, Value][] = [];
  while (open.size > 0) {
    const entries = [...open];
    const readLater = (name: string): boolean => entries.some(([other, value]) => other !== name && columnsRead(value).includes(name));
    const next = entries.find(([name]) => !readLater(name)) ?? entries[0];
    if (next === undefined) break;
    ordered.push(next);
    open.delete(next[0]);
  }
  return ordered;
}

function columnsRead(value: Value): string[] {
  if ('least' in value) return value.least.flatMap(columnsRead);
  if ('greatest' in value) return value.greatest.flatMap(columnsRead);
  return 'column' in value ? [value.column] : [];
}

/** Copies rows to where they go; one whose key is taken there is left out of the answer and stays where it is, or fails them all. */
export function insertStatement(outbox: Outbox, step: Step & { target: Place }, seen: Seen[], author: Author): RawBuilder<{ id: string }> {
  const at = placeSql(outbox, step.source, ALIAS);
  const { features, fragments } = outbox.database.engine;
  const { target } = step;
  const facts = archiveValues(outbox, step, at, author);
  const shared = placeColumns(target).filter((name) => name in step.set || name in facts || step.source.description.columns.has(name));
  const values = shared.map((name) => {
    const set = step.set[name];
    return facts[name] ?? (set === undefined ? at.column(name) : valueOf(outbox, target, at, name, set));
  });
  const id = target.roles.id;
  const changed = id === undefined ? sql`''` : fragments.asText(sql.id(id.column.name));
  return sql`insert into ${tableRef(target.table)} (${sql.join(shared.map((name) => sql.id(name)))})${sql.raw(features.overridingSystemValue ? ' overriding system value' : '')}
    select ${sql.join(values)} from ${at.from} where ${guard(outbox, step, at, seen)} order by ${keyOf(at)}
    ${fragments.unlessTaken()}${features.returning ? sql` returning ${changed} as id` : sql``}`;
}

export function deleteStatement(outbox: Outbox, step: Step, seen: Seen[]): RawBuilder<unknown> {
  const at = placeSql(outbox, step.source, ALIAS);
  return sql`${outbox.database.engine.fragments.deleteFrom(step.source.table, ALIAS)} where ${guard(outbox, step, at, seen)}`;
}

/** Rows as they are after the change, for the record. */
export function imageStatement(outbox: Outbox, place: Place, ids: string[]): RawBuilder<{ id: string; image: string }> {
  const at = placeSql(outbox, place, ALIAS);
  return sql`select ${at.roleText('id')} as id, ${rowImage(outbox, at)} as image from ${at.from} where ${idsIn(outbox, at, ids)}`;
}

/** Where each of these ids is now and what it looks like, whatever its state: the second look that names the reason. */
export function whereaboutsStatement(outbox: Outbox, place: Place, ids: string[]): RawBuilder<Whereabouts> {
  const at = placeSql(outbox, place, ALIAS);
  return sql`select ${sql.lit(place.key)} as place, ${at.roleText('id')} as id, ${at.state} as state, ${at.exact} as exact, ${at.stable} as stable,
      ${at.roleIso('publishedAt')} as published_at, ${at.roleText('type')} as type, ${at.roleText('aggregateId')} as aggregate_id
    from ${at.from} where ${idsIn(outbox, at, ids)}`;
}

export interface Whereabouts {
  place: Place['key'];
  id: string;
  state: string;
  exact: string;
  stable: string;
  published_at: string | null;
  type: string | null;
  aggregate_id: string | null;
}

/** Key, state, version and age: everything that must still hold. */
function guard(outbox: Outbox, step: Step, at: PlaceSql, seen: Seen[]): RawBuilder<boolean> {
  const ids = seen.map(({ id }) => id);
  const pairs = seen.map(({ id, version }) =>
    step.version === 'exact'
      ? sql`(${idEquals(outbox, at, id)} and ${at.exact} = ${version.exact})`
      : sql`(${idEquals(outbox, at, id)} and ${at.stable} = ${version.stable})`,
  );
  const parts = [idsIn(outbox, at, ids), step.match(at), sql<boolean>`(${sql.join(pairs, sql` or `)})`];
  if (step.olderThanStuckAfter !== null) parts.push(olderThanStuckAfter(outbox, step.source, at, step.olderThanStuckAfter));
  return sql`${sql.join(parts, sql` and `)}`;
}

/** True for rows whose time is older than `stuckAfter`; an unknown time is not old. */
export function olderThanStuckAfter(outbox: Outbox, place: Place, at: PlaceSql, column: string): RawBuilder<boolean> {
  const { fragments } = outbox.database.engine;
  const description = place.description.columns.get(column);
  if (description === undefined) return sql`false`;
  return sql`${fragments.instant(at.column(column), description, outbox.parameters.timeZone)} < ${fragments.secondsAgo(outbox.parameters.stuckAfterSeconds)}`;
}

function idEquals(outbox: Outbox, at: PlaceSql, id: string): RawBuilder<boolean> {
  const key = at.role('id');
  return key === null ? sql`false` : sql`${key.sql} = ${outbox.database.engine.fragments.typed(id, key.description)}`;
}

function idsIn(outbox: Outbox, at: PlaceSql, ids: string[]): RawBuilder<boolean> {
  const key = at.role('id');
  if (key === null || ids.length === 0) return sql`false`;
  return sql`${key.sql} in (${sql.join(ids.map((id) => outbox.database.engine.fragments.typed(id, key.description)))})`;
}

const keyOf = (at: PlaceSql): RawBuilder<unknown> => at.role('id')?.sql ?? sql`null`;

function rowImage(outbox: Outbox, at: PlaceSql): RawBuilder<string> {
  // Payload and headers never change here, and the record must not become a second place that holds them.
  const content = new Set([at.place.roles.payload?.column.name, at.place.roles.headers?.column.name]);
  const columns = [...at.place.description.columns.values()].filter(({ name }) => !content.has(name));
  return outbox.database.engine.fragments.rowAsJson(
    columns.map((description) => ({ name: description.name, column: at.column(description.name), description })),
  );
}

/** What an assignment puts into a column of `place`, read from the row `at`. */
export function valueOf(outbox: Outbox, place: Place, at: PlaceSql, name: string, value: Value): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const description = place.description.columns.get(name);
  if ('column' in value) return at.column(value.column);
  if ('now' in value) return description === undefined ? fragments.now() : fragments.nowFor(description, outbox.parameters.timeZone);
  if ('least' in value || 'greatest' in value) throw new Error('operations cannot say least or greatest yet');
  const literal = 'parameter' in value ? Math.max(0, (outbox.parameters.maxAttempts ?? 1) - value.minus) : value.value;
  if (literal === null) return sql`null`;
  return description === undefined ? sql`${String(literal)}` : fragments.typed(String(literal), description);
}

/** What the archive adds to a row: when, by whom, why, and where it was. */
function archiveValues(outbox: Outbox, step: Step, at: PlaceSql, author: Author): Record<string, RawBuilder<unknown>> {
  if (step.target?.key !== 'archive') return {};
  const { fragments, companions } = outbox.database.engine;
  return {
    [ARCHIVE_COLUMNS.at]: fragments.nowFor(companions.columns.time, 'UTC'),
    [ARCHIVE_COLUMNS.by]: fragments.textValue(author.actorName),
    [ARCHIVE_COLUMNS.intervention]: fragments.typed(author.interventionId, companions.columns.id),
    [ARCHIVE_COLUMNS.reason]: fragments.textValue(author.reason),
    [ARCHIVE_COLUMNS.fromState]: at.state,
    [ARCHIVE_COLUMNS.fromTable]: fragments.textValue(placeName(step.source)),
  };
}
