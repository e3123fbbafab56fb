/**
 * The statements of an intervention. The confirm dialog shows exactly these, and exactly these run.
 */
import { sql, type RawBuilder } from 'kysely';
import { tableRef } from '@/lib/database/table-ref';
import { ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeColumns, type Place } from '@/lib/shape/bound';
import { placeSql, type PlaceSql } from '@/lib/outbox/row';
import { rowId } from '@/lib/outbox/row-id';
import type { Call, PlainValue } from '@/lib/shape/schema/operation';
import type { Value } from '@/lib/shape/shape';
import { touchedCount } from '@/lib/outbox/touched';
import type { Version } from '@/lib/outbox/version';
import { placeName } from './operations/restore';
import type { Step } from './operation';
import { fitsPublished } from './published';

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
  /** The row's physical version while it is held. */
  exact: string;
}

const ALIAS = 'o';

/**
 * Locks the rows that are exactly what the operator saw, in key order. Served by the primary key, bounded by the
 * number of ids; `skip locked` passes over rows a relay holds, so that one of them never holds up the others.
 */
export function lockStatement(outbox: Outbox, step: Step, seen: Seen[], wait: 'skip locked' | 'wait'): RawBuilder<LockedRow> {
  const at = placeSql(outbox, step.source, ALIAS);
  return sql`select ${at.id.text} as id, ${at.state} as state, ${at.roleText('type')} as type,
      ${at.roleText('aggregateId')} as aggregate_id, ${rowImage(outbox, at)} as image, ${at.exact} as exact
    from ${at.from} where ${guard(outbox, step, at, seen)} order by ${at.id.order('asc')} ${outbox.database.engine.fragments.forUpdate(ALIAS, wait)}`;
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
  const shared = placeColumns(target).filter(
    (name) => name in step.set || name in facts || step.source.description.columns.has(sourceName(outbox, step, name)),
  );
  const values = shared.map((name) => {
    const set = step.set[name];
    return facts[name] ?? (set === undefined ? at.column(sourceName(outbox, step, name)) : valueOf(outbox, target, at, name, set));
  });
  const changed = rowId(outbox.database.engine, target, target.table.table).text;
  return sql`insert into ${tableRef(target.table)} (${sql.join(shared.map((name) => sql.id(name)))})${sql.raw(features.overridingSystemValue ? ' overriding system value' : '')}
    select ${sql.join(values)} from ${at.from} where ${guard(outbox, step, at, seen)} order by ${at.id.order('asc')}
    ${fragments.unlessTaken()}${features.returning ? sql` returning ${changed} as id` : sql``}`;
}

/** The column of the source that a column of the target takes its value from. */
export function sourceName({ shape, main, dead }: Outbox, { source, target }: Step, name: string): string {
  const map = shape.dead?.map ?? {};
  if (source === main && target === dead) return map[name] ?? name;
  // The archive names every row as the outbox does.
  const nth = source === dead && target !== main ? main.id.findIndex((column) => column.name === name) : -1;
  if (nth !== -1) return source.id[nth]?.name ?? name;
  if (source !== dead || target !== main) return name;
  return Object.keys(map).find((theirs) => map[theirs] === name) ?? name;
}

/** Calls the library's function with the ids of the rows that are held, and nothing else. */
export function callStatement(outbox: Outbox, call: Call, source: Place, ids: readonly string[]): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const [id] = source.id;
  const values = call.arguments.map((argument) => {
    const value =
      'ids' in argument
        ? fragments.list(ids, id ?? { name: '', type: 'text', kind: 'text', nullable: false, generated: false })
        : 'now' in argument
          ? fragments.now()
          : argument.value === null
            ? sql`null`
            : sql.lit(argument.value);
    return argument.name === undefined ? value : sql`${sql.id(argument.name)} => ${value}`;
  });
  return sql`select count(*) from ${sql.id(...call.function.split('.'))}(${sql.join(values)})`;
}

/** Of the rows that are held, those that are no longer what they were when they were locked. */
export function changedStatement(outbox: Outbox, place: Place, locked: readonly LockedRow[]): RawBuilder<{ id: string }> {
  const at = placeSql(outbox, place, ALIAS);
  const same = locked.map(({ id, exact }) => sql<boolean>`(${at.id.is(id)} and ${at.exact} = ${exact})`);
  return sql`select ${at.id.text} as id from ${at.from} where ${at.id.among(locked.map(({ id }) => id))} and not (${sql.join(same, sql` or `)})`;
}

export function deleteStatement(outbox: Outbox, step: Step, seen: Seen[]): RawBuilder<unknown> {
  const at = placeSql(outbox, step.source, ALIAS);
  return sql`${outbox.database.engine.fragments.deleteFrom(step.source.table, ALIAS)} where ${guard(outbox, step, at, seen)}`;
}

/**
 * What rows that are held are by now, and how often they have been operated on: never asked in the statement that locks them. One
 * that waited for its lock looks at the row anew and at everything else as it was when it began. Served by the primary key.
 */
export function heldStatement(
  outbox: Outbox,
  place: Place,
  ids: string[],
): RawBuilder<{ id: string; state: string; touched: string | null }> {
  const at = placeSql(outbox, place, ALIAS);
  return sql`select ${at.id.text} as id, ${at.state} as state, ${touchedCount(outbox, at)} as touched from ${at.from} where ${at.id.among(ids)}`;
}

/** Where each of these ids is now and what it looks like, whatever its state: the second look that names the reason. */
export function whereaboutsStatement(outbox: Outbox, place: Place, ids: string[]): RawBuilder<Whereabouts> {
  const at = placeSql(outbox, place, ALIAS);
  return sql`select ${sql.lit(place.key)} as place, ${at.id.text} as id, ${at.state} as state, ${at.exact} as exact, ${at.stable} as stable, ${touchedCount(outbox, at)} as touched,
      ${at.roleIso('publishedAt')} as published_at, ${at.roleText('type')} as type, ${at.roleText('aggregateId')} as aggregate_id,
      case when ${fitsPublished(outbox, at)} then 'fits' end as published
    from ${at.from} where ${at.id.among(ids)}`;
}

export interface Whereabouts {
  place: Place['key'];
  id: string;
  state: string;
  exact: string;
  stable: string;
  touched: string | null;
  published_at: string | null;
  type: string | null;
  aggregate_id: string | null;
  /** Something where a rule of the shape says that it is out, whatever its state. */
  published: string | null;
}

/** Whether a row is still in the state it was seen in and was operated on no more since. */
export function isAsSeen({ state, touched }: Version, now: { state: string; touched: string | null }): boolean {
  return state === now.state && touched === (now.touched === null ? null : Number(now.touched));
}

/** Key, state, version and age: everything that must still hold and that the row itself can tell. */
function guard(outbox: Outbox, step: Step, at: PlaceSql, seen: Seen[]): RawBuilder<boolean> {
  const ids = seen.map(({ id }) => id);
  const byState = [...new Set(seen.map(({ version }) => version.state))].map((state) => {
    const pairs = seen
      .filter(({ version }) => version.state === state)
      .map(({ id, version }) =>
        step.version === 'exact'
          ? sql`(${at.id.is(id)} and ${at.exact} = ${version.exact})`
          : sql`(${at.id.is(id)} and ${at.stable} = ${version.stable})`,
      );
    return sql`${at.state} = ${sql.lit(state)} and (${sql.join(pairs, sql` or `)})`;
  });
  const parts = [at.id.among(ids), step.match(at), sql<boolean>`(${sql.join(byState, sql` or `)})`];
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

export function rowImage(outbox: Outbox, at: PlaceSql): RawBuilder<string> {
  // Payload and headers never change here, and the record must not become a second place that holds them.
  const content = new Set([at.place.roles.payload?.column.name, at.place.roles.headers?.column.name]);
  const columns = [...at.place.description.columns.values()].filter(({ name }) => !content.has(name));
  return outbox.database.engine.fragments.rowAsJson(
    columns.map((description) => ({ name: description.name, column: at.column(description.name), description })),
  );
}

/** What an assignment puts into a column of `place`, read from the row `at`. */
export function valueOf(outbox: Outbox, place: Place, at: PlaceSql, name: string, value: Value): RawBuilder<unknown> {
  const plain = (one: PlainValue): RawBuilder<unknown> => plainValue(outbox, place, at, name, one);
  if ('least' in value) return sql`least(${sql.join(value.least.map(plain))})`;
  if ('greatest' in value) return sql`greatest(${sql.join(value.greatest.map(plain))})`;
  return plain(value);
}

function plainValue(outbox: Outbox, place: Place, at: PlaceSql, name: string, value: PlainValue): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const description = place.description.columns.get(name);
  if ('column' in value)
    return value.plus === undefined ? at.column(value.column) : sql`${at.column(value.column)} + ${sql.lit(value.plus)}`;
  if ('now' in value) {
    if (description === undefined) return fragments.now();
    if (value.plusSeconds === undefined) return fragments.nowFor(description, outbox.parameters.timeZone);
    return fragments.fromInstant(fragments.secondsBefore(fragments.now(), -value.plusSeconds), description, outbox.parameters.timeZone);
  }
  const literal = 'parameter' in value ? parameterValue(outbox, value) : value.value;
  if (literal === null) return sql`null`;
  return description === undefined ? sql`${String(literal)}` : fragments.typed(String(literal), description);
}

function parameterValue({ parameters }: Outbox, { parameter, minus }: { parameter: string; minus: number }): string | number {
  const value =
    parameter === 'maxAttempts'
      ? (parameters.maxAttempts ?? 1)
      : parameter === 'stuckAfter'
        ? parameters.stuckAfterSeconds
        : parameters.extra[parameter];
  return typeof value === 'number' ? Math.max(0, value - minus) : (value ?? '');
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
