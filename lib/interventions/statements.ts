/** The statements of an intervention. The confirm dialog shows exactly these, and exactly these run. */
import { sql, type RawBuilder } from 'kysely';
import { tableRef } from '@/lib/database/description';
import { ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import { tableLabel, type Outbox } from '@/lib/outbox/outbox';
import { parameterNamed, placeColumns, type Place } from '@/lib/shape/bound';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import { rowId } from '@/lib/outbox/rows/row-id';
import { and, or } from '@/lib/shape/compile';
import type { Call, PlainValue } from '@/lib/shape/schema/operation';
import type { Value } from '@/lib/shape/shape';
import { touchedCount } from '@/lib/outbox/rows/touched';
import type { Version } from '@/lib/outbox/rows/version';
import type { Author, Seen, Step } from './operation';

/** A step with the SQL for the rows it takes; `target`: where they are afterwards. */
export type PreparedStep = ReturnType<typeof prepareStep>;

export const prepareStep = (outbox: Outbox, step: Step) => ({
  ...{ outbox, step, at: placeSql(outbox, step.source) },
  target: step.target ?? step.source,
});

export interface LockedRow extends Record<'id' | 'state' | 'exact', string>, Record<'type' | 'aggregate_id', string | null> {
  /** Columns as JSON of texts, without payload and headers. */
  image: string;
}

/** Locks the rows that are exactly what the operator saw, in key order; rows locked by a relay are skipped, or waited for. */
export function lockStatement(prepared: PreparedStep, seen: readonly Seen[], wait: 'skip locked' | 'wait'): RawBuilder<LockedRow> {
  const { outbox, at } = prepared;
  return sql`select ${at.id.text} as id, ${at.state} as state, ${at.roleText('type')} as type,
      ${at.roleText('aggregateId')} as aggregate_id, ${rowImage(outbox, at)} as image, ${at.exact} as exact
    from ${at.from} where ${guard(prepared, seen)} order by ${at.id.order('asc')} ${outbox.database.engine.fragments.forUpdate(at.alias, wait)}`;
}

/** Changes rows in place; the statement repeats the guard. */
export function updateStatement(prepared: PreparedStep, seen: readonly Seen[]): RawBuilder<unknown> {
  const { outbox, step, at } = prepared;
  const assignments = readersFirst(step.set).map(
    ([name, value]) => sql`${sql.id(name)} = ${valueOf(outbox, step.source, at, name, value)}`,
  );
  return sql`update ${at.from} set ${sql.join(assignments)} where ${guard(prepared, seen)}`;
}

/** MySQL assigns from left to right and reads new values, so whatever reads a column comes before what writes it. */
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

/** Copies rows to their target; a row whose key is taken there is not returned and stays in place, or makes the statement fail. */
export function insertStatement(prepared: PreparedStep, seen: readonly Seen[], author: Author): RawBuilder<{ id: string }> {
  const { outbox, step, at, target } = prepared;
  const { features, fragments } = outbox.database.engine;
  const facts = archiveValues(prepared, author);
  const shared = placeColumns(target).filter(
    (name) => name in step.set || name in facts || step.source.description.columns.has(sourceName(outbox, step, name)),
  );
  const values = shared.map((name) => {
    const set = step.set[name];
    return facts[name] ?? (set === undefined ? at.column(sourceName(outbox, step, name)) : valueOf(outbox, target, at, name, set));
  });
  const changed = rowId(outbox.database.engine, target, target.table.table).text;
  return sql`insert into ${tableRef(target.table)} (${sql.join(shared.map((name) => sql.id(name)))})${sql.raw(features.overridingSystemValue ? ' overriding system value' : '')}
    select ${sql.join(values)} from ${at.from} where ${guard(prepared, seen)} order by ${at.id.order('asc')}
    ${fragments.unlessTaken()}${features.returning ? sql` returning ${changed} as id` : sql``}`;
}

export function sourceName({ shape, main, dead }: Outbox, { source, target }: Step, name: string): string {
  const map = shape.dead?.map ?? {};
  if (source === main && target === dead) return map[name] ?? name;
  // The archive has the column names of the outbox table.
  const nth = source === dead && target !== main ? main.id.findIndex((column) => column.name === name) : -1;
  if (nth !== -1) return source.id[nth]?.name ?? name;
  if (source !== dead || target !== main) return name;
  return Object.keys(map).find((theirs) => map[theirs] === name) ?? name;
}

/** Calls the library's function for the ids of the locked rows only. */
export function callStatement({ outbox, step }: PreparedStep, call: Call, rows: readonly { id: string }[]): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const [id] = step.source.id;
  const ids = rows.map((row) => row.id);
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

/** The locked rows that are no longer as they were when locked. */
export function changedStatement({ outbox, at }: PreparedStep, locked: readonly LockedRow[]): RawBuilder<{ id: string }> {
  const pairs = locked.map(({ id, exact }): Pair => [id, exact]);
  const same = oneOfPairs(outbox, at, at.exact, pairs);
  return sql`select ${at.id.text} as id from ${at.from} where ${at.id.among(locked.map(({ id }) => id))} and not ${same}`;
}

export function deleteStatement(prepared: PreparedStep, seen: readonly Seen[]): RawBuilder<unknown> {
  const { outbox, step, at } = prepared;
  return sql`${outbox.database.engine.fragments.deleteFrom(step.source.table, at.alias)} where ${guard(prepared, seen)}`;
}

/** Notifies the relay at the commit, with each id, as the table's own trigger does. */
export const relayStatement = (channel: string, ids: readonly string[]): RawBuilder<unknown> =>
  sql`select pg_notify(${channel}, id) from unnest(${ids}::text[]) as id`;

type RowNow = { state: string; touched: string | null };

/** The locked rows as they are now. A statement of its own: one that waits for a lock sees everything else as it was when it began. */
export const heldStatement = ({ outbox, at }: PreparedStep, ids: readonly string[], expected: RawBuilder<string>) =>
  sql<Record<'id' | 'expected', string> & RowNow>`select ${at.id.text} as id, ${at.state} as state, ${touchedCount(outbox, at)} as touched,
      ${expected} as expected
    from ${at.from} where ${at.id.among(ids)}`;

/** Whether a row is in the state it was seen in, and has not been operated on since. */
export function isAsSeen({ state, touched }: Version, now: RowNow): boolean {
  return state === now.state && touched === (now.touched === null ? null : Number(now.touched));
}

/** Key, state, version and age: every condition that the row itself can show. */
function guard({ outbox, step, at }: PreparedStep, seen: readonly Seen[]): RawBuilder<boolean> {
  const [version, column] = step.version === 'exact' ? (['exact', at.exact] as const) : (['stable', at.stable] as const);
  const byState = [...new Set(seen.map((row) => row.version.state))].map((state) => {
    const rows = seen.filter((row) => row.version.state === state);
    const pairs = rows.map((row): Pair => [row.id, row.version[version]]);
    return sql<boolean>`${at.state} = ${sql.lit(state)} and ${oneOfPairs(outbox, at, column, pairs)}`;
  });
  const parts = [at.id.among(seen.map(({ id }) => id)), step.match(at), sql<boolean>`(${or(byState)})`];
  if (step.olderThanStuckAfter !== null) parts.push(olderThanStuckAfter(outbox, step, at));
  return and(parts);
}

type Pair = [id: string, version: string];

/** Whether id and version of a row are a pair of these: as one array where the engine has them, as a server looks through hundreds of ORs row by row. */
function oneOfPairs({ database }: Outbox, at: PlaceSql, version: RawBuilder<string>, pairs: readonly Pair[]): RawBuilder<boolean> {
  const { fragments, companions } = database.engine;
  // No version has a space in it.
  const both = fragments.bytewise(sql`${at.id.text} || ' ' || ${version}`);
  const texts = pairs.map((pair) => pair.join(' '));
  const array = pairs.length > 1 ? fragments.isAnyOf(both, texts, companions.columns.text) : null;
  return array ?? sql<boolean>`(${or(pairs.map(([id, seen]) => sql<boolean>`(${at.id.is(id)} and ${version} = ${seen})`))})`;
}

/** True for rows old enough for the step; an unknown time is not old enough. */
export function olderThanStuckAfter({ database, parameters }: Outbox, step: Step, at: PlaceSql): RawBuilder<boolean> {
  if (step.olderThanStuckAfter === null) return sql`true`;
  const { fragments } = database.engine;
  const description = step.source.description.columns.get(step.olderThanStuckAfter);
  if (description === undefined) return sql`false`;
  const time = fragments.instant(at.column(step.olderThanStuckAfter), description, parameters.timeZone);
  return sql`${time} < ${fragments.secondsBefore(fragments.now(), parameters.stuckAfterSeconds)}`;
}

export function rowImage(outbox: Outbox, at: PlaceSql): RawBuilder<string> {
  // Payload and headers never change here, and the record must not hold a second copy of them.
  const content = new Set([at.place.roles.payload?.column.name, at.place.roles.headers?.column.name]);
  const columns = [...at.place.description.columns.values()].filter(({ name }) => !content.has(name));
  return outbox.database.engine.fragments.rowAsJson(
    columns.map((description) => ({ name: description.name, column: at.column(description.name), description })),
  );
}

/** The value of an assignment to a column of `place`, read from the row `at`. */
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
  const value = parameterNamed(parameters, parameter) ?? (parameter === 'maxAttempts' ? 1 : null);
  return typeof value === 'number' ? Math.max(0, value - minus) : (value ?? '');
}

function archiveValues({ outbox, step, at, target }: PreparedStep, author: Author): Record<string, RawBuilder<unknown>> {
  if (target.key !== 'archive') return {};
  const { fragments, companions } = outbox.database.engine;
  const { id, text, time } = companions.columns;
  return {
    [ARCHIVE_COLUMNS.at]: fragments.nowFor(time, 'UTC'),
    [ARCHIVE_COLUMNS.by]: fragments.typed(author.actorName, text),
    [ARCHIVE_COLUMNS.intervention]: fragments.typed(author.interventionId, id),
    [ARCHIVE_COLUMNS.reason]: fragments.typed(author.reason, text),
    [ARCHIVE_COLUMNS.fromState]: at.state,
    [ARCHIVE_COLUMNS.fromTable]: fragments.typed(tableLabel(step.source.table), text),
  };
}
