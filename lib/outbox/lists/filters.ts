import { notNull } from '@/lib/shape/reason';
import { sql, type RawBuilder } from 'kysely';
import { contentPath } from '@/lib/shared/lists/document-path';
import { idSpellings } from '@/lib/shared/lists/event-filter';
import type { EventFilter } from '@/lib/shared/model';
import { holds, leadsWith } from '../indexes/index-fit';
import { livePlaces, type Outbox } from '../outbox';
import type { ColumnDescription } from '@/lib/database/description';
import type { Engine } from '@/lib/database/engine';
import { plainColumn, type Place } from '@/lib/shape/bound';
import { and, or, type Test } from '@/lib/shape/compile';
import { mayHoldJson, valueSql, type RoleSql } from '../rows/role-sql';
import type { PlaceSql } from '../rows/row';
import { idFits } from '../rows/row-id';

/** The tables that hold the wanted states. The archive is included only if asked for. */
export function placesFor(outbox: Outbox, filter: EventFilter): Place[] {
  const wanted = filter.state;
  if (wanted === undefined || wanted.length === 0) return livePlaces(outbox);
  const places: Place[] = wanted.some((state) => state !== 'archived') ? livePlaces(outbox) : [];
  if (places.length > 0 && !wanted.includes('dead')) places.splice(1);
  if (wanted.includes('archived') && outbox.archive !== null) places.push(outbox.archive);
  return places;
}

/** Tests for a range of creation times; without creation times no row matches a range. */
export function timeScope(outbox: Outbox, at: PlaceSql, filter: EventFilter): Test[] {
  if (filter.from === undefined && filter.to === undefined) return [];
  const created = at.role('createdAt');
  if (created === null) return [sql`false`];
  const bound = (iso: string): RawBuilder<unknown> =>
    outbox.database.engine.fragments.instantValue(iso, created.description, outbox.parameters.timeZone);
  return [
    ...(filter.from === undefined ? [] : [sql<boolean>`${created.sql} >= ${bound(filter.from)}`]),
    ...(filter.to === undefined ? [] : [sql<boolean>`${created.sql} < ${bound(filter.to)}`]),
  ];
}

/** Filters tried on each row, as no index serves them. */
export function rowTests(outbox: Outbox, at: PlaceSql, filter: EventFilter): Test[] {
  const { fragments } = outbox.database.engine;
  const tests: Test[] = [];
  if (filter.type !== undefined && filter.type.length > 0) {
    const type = at.role('type');
    tests.push(type === null ? sql`false` : sql`${fragments.asText(type.sql, type.description)} in (${sql.join(filter.type)})`);
  }
  if (filter.error !== undefined) {
    const error = at.role('error');
    tests.push(error === null ? sql`false` : fragments.contains(fragments.asText(error.sql, error.description), filter.error));
  }
  return tests;
}

export interface Equalities {
  /** Tests served by an index, each finding a few rows; no row passes two of them. */
  indexed: Test[];
  unindexed: Test[];
  /** Whether every matching row passes one of `indexed`. */
  enough: boolean;
}

/** Tests for the aggregate and the searched id; null if no row can match. */
export function equalities(outbox: Outbox, at: PlaceSql, filter: EventFilter): Equalities | null {
  const find = (value: string | undefined, roles: readonly IndexedRole[]): Equality[] | null =>
    value === undefined ? null : roles.flatMap((role) => idSpellings(value).flatMap((one) => equality(outbox, at, role, one) ?? []));
  const [ofAggregate, found] = [find(filter.aggregate, ['aggregateId']), find(filter.q, KEY_ROLES)];
  if (ofAggregate?.length === 0 || found?.length === 0) return null;
  const aggregate = ofAggregate === null ? [] : [anyEquality(ofAggregate)];
  if (ofAggregate?.[0]?.indexed === true)
    return { indexed: [and([...aggregate, ...(found === null ? [] : [anyEquality(found)])])], unindexed: [], enough: true };
  if (found === null) return { indexed: [], unindexed: aggregate, enough: false };
  const { notTrue } = outbox.database.engine.fragments;
  const [served, tried] = [found.filter((one) => one.indexed), found.filter((one) => !one.indexed)];
  const nots = served.map(({ test }) => notTrue(test));
  return {
    indexed: served.map(({ test }, index) => and([test, ...nots.slice(0, index), ...aggregate])),
    unindexed: tried.length === 0 ? [] : [and([anyEquality(tried), ...nots, ...aggregate])],
    enough: tried.length === 0,
  };
}

export type Equality = { test: Test; indexed: boolean };

export const anyEquality = (found: Equality[]): Test =>
  found[0] !== undefined && found.length === 1 ? found[0].test : sql`(${or(found.map(({ test }) => test))})`;

/** Roles that a searched text may be the value of. */
export const KEY_ROLES = ['id', 'dedupKey', 'aggregateId'] as const;
type IndexedRole = (typeof KEY_ROLES)[number];

/** null if no row can have this value, or the place lacks the role. */
function equality(outbox: Outbox, at: PlaceSql, role: IndexedRole, value: string): Equality | null {
  const { engine } = outbox.database;
  if (role === 'id') return idFits(engine, at.place, value) ? { test: at.id.is(value), indexed: isIndexed(at.place, 'id') } : null;
  const bound = at.role(role);
  if (bound === null || !engine.idFits(value, bound.description)) return null;
  // An exact match, even if the column's collation treats other texts as equal.
  return { test: engine.fragments.isOneOf(bound.sql, [value], bound.description), indexed: isIndexed(at.place, role, false) };
}

/** Equality with a configured key, a path into the payload or headers; null if the place has no such document. */
function keyEquality(outbox: Outbox, at: PlaceSql, key: string, value: string): Equality | null {
  const { engine } = outbox.database;
  const { content, steps } = contentPath(key);
  const whole = at.place.roles[content];
  if (whole === undefined || !mayHoldJson(whole.column, outbox.shape)) return null;
  const bound = { ...whole, path: [...whole.path, ...steps] };
  const index = whole.join === null && !whole.last && whole.when === null ? indexedText(engine, at, bound.column, bound.path) : null;
  const text = index ?? valueSql(outbox, at.place, bound, false, at.alias);
  if (!engine.idFits(value, text.description)) return null;
  return { test: engine.fragments.isOneOf(text.sql, [value], text.description), indexed: index !== null };
}

/** A text inside a JSON column as an index over all rows has it, by an expression or a generated column; null if none has. */
function indexedText({ fragments }: Engine, { place, alias }: PlaceSql, column: ColumnDescription, path: string[]): RoleSql | null {
  if (column.kind !== 'json' || !path.every((step) => /^[A-Za-z_]\w*$/.test(step))) return null;
  const forms = fragments.indexedTexts(sql.id(alias, column.name), column.name, path);
  const index = place.description.indexes.find(
    ({ expression, predicate }) => predicate === null && expression !== undefined && expression in forms,
  );
  if (index?.expression === undefined) return null;
  const generated = place.description.columns.get(index.columns[0] ?? '');
  if (generated !== undefined) return { sql: sql.id(alias, generated.name), description: generated };
  return { sql: sql`${forms[index.expression]}`, description: { ...column, kind: 'text', type: 'text', nullable: true } };
}

/** Tests for a business key: by the roles it may be, but those in `hidden`, and the configured paths; each finds other rows, or the same. */
export function keyEqualities(outbox: Outbox, at: PlaceSql, key: string, hidden: ReadonlySet<string>): Equality[] {
  const roles = KEY_ROLES.filter((role) => !hidden.has(role));
  return idSpellings(key).flatMap((value) => [
    ...roles.flatMap((role) => equality(outbox, at, role, value) ?? []),
    ...(outbox.settings.keys ?? []).flatMap((path) => keyEquality(outbox, at, path, value) ?? []),
  ]);
}

/** Whether an index finds one value of the role: it leads with the role, or (`withType`) with the aggregate's type before its id. */
export function isIndexed(place: Place, role: IndexedRole, withType = true): boolean {
  const key = place.id.map(({ name }) => name);
  if (role === 'id') return key.length > 0 && place.description.indexes.some((index) => leadsWith(index, key));
  const name = plainColumn(place, role)?.name;
  if (name === undefined) return false;
  const type = plainColumn(place, 'aggregateType')?.name;
  return place.description.indexes.some(({ columns, sorted, predicate }) => {
    const leads = columns[0] === name || (withType && role === 'aggregateId' && columns[1] === name && columns[0] === type);
    return leads && sorted.length > 0 && holds(predicate, [notNull(name)]);
  });
}
