import { notNull } from '@/lib/shape/reason';
import { sql, type RawBuilder } from 'kysely';
import { idSpellings } from '@/lib/shared/lists/event-filter';
import type { EventFilter } from '@/lib/shared/model';
import { holds, leadsWith } from '../indexes/index-fit';
import { livePlaces, type Outbox } from '../outbox';
import { plainColumn, type Place } from '@/lib/shape/bound';
import type { PlaceSql } from '../rows/row';
import { idFits } from '../rows/row-id';

type Test = RawBuilder<boolean>;

/** The tables the wanted states live in. Archived events are listed only when asked for. */
export function placesFor(outbox: Outbox, filter: EventFilter): Place[] {
  const wanted = filter.state;
  if (wanted === undefined || wanted.length === 0) return livePlaces(outbox);
  const places: Place[] = wanted.some((state) => state !== 'archived') ? livePlaces(outbox) : [];
  if (places.length > 0 && !wanted.includes('dead')) places.splice(1);
  if (wanted.includes('archived') && outbox.archive !== null) places.push(outbox.archive);
  return places;
}

/** The range of creation times; nothing matches one in a table without a creation time. */
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

/** Filters that are tried on each row, because no index serves them. */
export function rowTests(outbox: Outbox, at: PlaceSql, filter: EventFilter): Test[] {
  const { fragments } = outbox.database.engine;
  const tests: Test[] = [];
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

export interface Equalities {
  /** Tests that an index serves, no row passing two of them: each finds a few rows by itself. */
  indexed: Test[];
  unindexed: Test[];
  /** Every row that matches passes one of `indexed`. */
  enough: boolean;
  impossible: boolean;
}

export function equalities(outbox: Outbox, at: PlaceSql, filter: EventFilter): Equalities {
  const none: Equalities = { indexed: [], unindexed: [], enough: false, impossible: false };
  const impossible: Equalities = { ...none, impossible: true };
  const ofAggregate = idSpellings(filter.aggregate ?? '')
    .map((value) => equality(outbox, at, 'aggregateId', value))
    .filter((one) => one !== null);
  const aggregate =
    filter.aggregate === undefined || ofAggregate[0] === undefined
      ? null
      : { test: either(ofAggregate.map(({ test }) => test)), indexed: ofAggregate[0].indexed };
  if (filter.aggregate !== undefined && aggregate === null) return impossible;
  const { q } = filter;
  const found =
    q === undefined
      ? null
      : (['id', 'dedupKey', 'aggregateId'] as const)
          .flatMap((role) => idSpellings(q).map((value) => equality(outbox, at, role, value)))
          .filter((one) => one !== null);
  if (found?.length === 0) return impossible;

  if (aggregate !== null && (aggregate.indexed || found === null)) {
    const test = found === null ? aggregate.test : sql<boolean>`${aggregate.test} and ${either(found.map((one) => one.test))}`;
    return aggregate.indexed ? { ...none, indexed: [test], enough: true } : { ...none, unindexed: [test] };
  }
  if (found === null) return none;
  const and = aggregate === null ? sql`` : sql` and ${aggregate.test}`;
  const { notTrue } = outbox.database.engine.fragments;
  const served = found.filter((one) => one.indexed).map((one) => one.test);
  const tried = found.filter((one) => !one.indexed).map((one) => one.test);
  const indexed = served.map((test, index) => sql<boolean>`${sql.join([test, ...served.slice(0, index).map(notTrue)], sql` and `)}${and}`);
  const unindexed = tried.length === 0 ? [] : [sql<boolean>`${sql.join([either(tried), ...served.map(notTrue)], sql` and `)}${and}`];
  return { ...none, indexed, unindexed, enough: tried.length === 0 };
}

const either = (tests: Test[]): Test => (tests[0] !== undefined && tests.length === 1 ? tests[0] : sql`(${sql.join(tests, sql` or `)})`);

function equality(
  outbox: Outbox,
  at: PlaceSql,
  role: 'aggregateId' | 'dedupKey' | 'id',
  value: string,
): { test: Test; indexed: boolean } | null {
  const { engine } = outbox.database;
  if (role === 'id') return idFits(engine, at.place, value) ? { test: at.id.is(value), indexed: isIndexed(at.place, 'id') } : null;
  const bound = at.role(role);
  if (bound === null || !engine.idFits(value, bound.description)) return null;
  // Exactly this one, whatever the column's collation takes for the same.
  return { test: engine.fragments.isOneOf(bound.sql, [value], bound.description), indexed: isIndexed(at.place, role) };
}

/** Whether one value of the role is found by an index: one that leads with it, or that has it behind the aggregate's type. */
export function isIndexed(place: Place, role: 'aggregateId' | 'dedupKey' | 'id', withType = true): boolean {
  if (role === 'id')
    return (
      place.id.length > 0 &&
      place.description.indexes.some((index) =>
        leadsWith(
          index,
          place.id.map((column) => column.name),
        ),
      )
    );
  const name = plainColumn(place, role)?.name;
  if (name === undefined) return false;
  const type = plainColumn(place, 'aggregateType')?.name;
  return place.description.indexes.some(({ columns, sorted, predicate }) => {
    const leads = columns[0] === name || (withType && role === 'aggregateId' && columns[1] === name && columns[0] === type);
    return leads && sorted.length > 0 && holds(predicate, [notNull(name)]);
  });
}
