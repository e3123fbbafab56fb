import { sql, type RawBuilder } from 'kysely';
import { type ColumnDescription, tableRef } from '@/lib/database/description';
import { and, belongs, compileCondition, type Scope } from '@/lib/shape/compile';
import { isTimeRole, type ValueRole } from '@/lib/shape/schema/source';
import type { Shape } from '@/lib/shape/shape';
import type { Outbox } from '../outbox';
import { ownColumn, type BoundRole, type Place } from '@/lib/shape/bound';
import { READ_BYTES } from './content';

export type RoleSql = { sql: RawBuilder<unknown>; description: ColumnDescription };

const INSTANT: Pick<ColumnDescription, 'kind' | 'type'> = { kind: 'instant', type: 'timestamp with time zone' };

/** The scope for compiling conditions on rows of this place. */
export const scopeOf = (outbox: Outbox, place: Place): Scope =>
  place === outbox.main ? outbox.scope : { ...outbox.scope, columns: place.description.columns };

/** The value of a role; null if the place lacks it. A value inside a document of more than `largest` bytes is NULL, and not read. */
export function roleSql(outbox: Outbox, place: Place, role: ValueRole, alias: string, largest = READ_BYTES): RoleSql | null {
  const bound = place.roles[role];
  return bound === undefined ? null : valueSql(outbox, place, bound, isTimeRole(role), alias, largest);
}

/** The value that a role, or a path below it, is bound to. */
export function valueSql(outbox: Outbox, place: Place, bound: BoundRole, timed: boolean, alias: string, largest = READ_BYTES): RoleSql {
  const plain = ownColumn(bound);
  if (plain !== null) return { sql: sql.id(alias, plain.name), description: plain };
  const { fragments, timeZone } = outbox.scope;
  if (bound.constant !== null)
    return { sql: fragments.asText(sql.lit(bound.constant)), description: { ...bound.column, kind: 'text', type: 'text' } };
  const value = innerValue(bound, timed, alias, outbox.scope, largest);
  let found = timed ? { sql: fragments.instant(value.sql, value.description, timeZone), description: instantOf(value.description) } : value;
  if (bound.minusSeconds !== 0) found = { ...found, sql: fragments.secondsBefore(found.sql, bound.minusSeconds) };
  if (bound.join !== null) found = { ...found, sql: joined(bound, found.sql, alias) };
  if (bound.when === null) return found;
  return { ...found, sql: sql`(case when ${compileCondition(bound.when, alias, scopeOf(outbox, place))} then ${found.sql} end)` };
}

const instantOf = ({ time: _, ...description }: ColumnDescription): ColumnDescription => ({ ...description, ...INSTANT, nullable: true });

/** The column's value, its last element or a path into it; from the companion's row if the role is joined. */
function innerValue(bound: BoundRole, timed: boolean, alias: string, { fragments }: Scope, largest: number): RoleSql {
  const column = columnOf(bound, alias);
  const within = (found: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`(case when ${fragments.sizeBytes(column, bound.column)} <= ${sql.lit(largest)} then ${found} end)`;
  let value: RoleSql = { sql: column, description: bound.column };
  if (bound.last) {
    const last = fragments.lastElement(value.sql, value.description);
    value = { ...last, sql: within(last.sql) };
  }
  // The last element of JSON is JSON: a text has to lose its quotes.
  if (bound.path.length === 0 && !(bound.last && value.description.kind === 'json')) return value;
  const text: ColumnDescription = { ...bound.column, kind: 'text', type: 'text', nullable: true, time: bound.column.time ?? 'iso' };
  return {
    sql: within(fragments.jsonText(value.sql, bound.path, value.description)),
    description: timed ? text : { ...text, time: undefined },
  };
}

/** Size in bytes of the column that holds a role's value; null if no column does. */
export function roleSize(outbox: Outbox, place: Place, role: ValueRole, alias: string): RawBuilder<unknown> | null {
  const bound = place.roles[role];
  if (bound === undefined || bound.constant !== null) return null;
  const size = outbox.scope.fragments.sizeBytes(columnOf(bound, alias), bound.column);
  return bound.join === null ? size : joined(bound, size, alias);
}

/** MariaDB's JSON is a text, and a role that may only read the table cannot see that it is more; of bytes the shape says it. */
export const mayHoldJson = ({ kind, holds }: ColumnDescription, { payload }: Shape): boolean =>
  kind === 'json' || kind === 'text' || (kind === 'binary' && ['json', 'text'].includes(holds ?? payload?.encoding ?? ''));

const columnOf = ({ join, column }: BoundRole, alias: string): RawBuilder<unknown> =>
  sql.id(join === null ? alias : joinAlias(join.name, alias), column.name);

const joinAlias = (companion: string, alias: string): string => `${alias}_${companion}`;

/** One value of the companion's row, the newest of several; found by the companion's index on the join columns. */
function joined({ join, latest }: BoundRole, value: RawBuilder<unknown>, alias: string): RawBuilder<unknown> {
  if (join === null) return value;
  const inner = joinAlias(join.name, alias);
  const newest = latest === null ? sql`` : sql` order by ${sql.id(inner, latest)} desc`;
  return sql`(select ${value} from ${tableRef(join.description.name)} as ${sql.id(inner)} where ${and(belongs(join, inner, alias))}${newest} limit 1)`;
}
