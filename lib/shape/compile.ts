import { sql, type RawBuilder } from 'kysely';
import type { Fragments } from '@/lib/database/fragments';
import { type ColumnDescription, tableRef } from '@/lib/database/description';
import type { LiveState } from '@/lib/shared/states';
import { COMPARISONS, visit, visitLeaf, type Comparison, type Condition, type Leaf, type Operand, type Scalar } from './schema/condition';
import { disjoint } from './reason';
import type { Amount } from './schema/parameters';
import type { BoundCompanion, BoundCursor } from './bound';
import type { Shape } from './shape';

export interface Scope {
  fragments: Fragments;
  columns: ReadonlyMap<string, ColumnDescription>;
  timeZone: string;
  companions: ReadonlyMap<string, BoundCompanion>;
  cursor: BoundCursor | null;
}

export type Test = RawBuilder<boolean>;

/** Tests joined, with no parentheses around them. */
export const and = (tests: readonly RawBuilder<unknown>[]): Test => (tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`);
export const or = (tests: readonly RawBuilder<unknown>[]): Test => (tests.length === 0 ? sql`false` : sql`${sql.join(tests, sql` or `)}`);

/** Compiles a bound condition over the columns of `alias`; a comparison with NULL is false or NULL. */
export function compileCondition(condition: Condition, alias: string, scope: Scope): Test {
  const each = (conditions: Condition[]): Test[] => conditions.map((part) => compileCondition(part, alias, scope));
  return visit(condition, {
    leaf: (test) => compileLeaf(test, alias, scope),
    all: ({ all }) => sql`(${and(each(all))})`,
    any: ({ any }) => sql`(${or(each(any))})`,
    not: ({ not }) => negated(not, alias, scope),
    always: () => sql`true`,
    exists: ({ exists }) => existing(exists, alias, scope),
    cursor: ({ cursor }) => cursorTest(cursor, sql`<=`, alias, scope),
  });
}

/** True for every row for which the condition is false or NULL. */
export function negated(condition: Condition, alias: string, scope: Scope): Test {
  // Positions are never NULL, so `>` is the exact negation, and the index on them serves the rows ahead of the cursor.
  if (condition.kind === 'cursor') return cursorTest(condition.cursor, sql`>`, alias, scope);
  return scope.fragments.notTrue(compileCondition(condition, alias, scope));
}

function compileLeaf(test: Leaf, alias: string, { fragments, timeZone, columns }: Scope): Test {
  const column = sql.id(alias, test.column);
  const known = columns.get(test.column);
  const described = (): ColumnDescription => {
    if (known === undefined) throw new Error(`condition names ${test.column}, which was not bound`);
    return known;
  };
  const among = (wanted: Scalar[], ignoreCase: boolean | undefined): Test => {
    if (ignoreCase === true) {
      const folded = wanted.map((value) => sql.lit(String(value).toLowerCase()));
      return sql`lower(${fragments.asText(column, known)}) in (${sql.join(folded)})`;
    }
    const labels = known?.labels;
    // The library's version may lack a value of its enum: no row has it, and comparing with it fails.
    const values = labels === undefined ? wanted : wanted.filter((value) => labels.includes(String(value)));
    if (values.length === 0) return sql`false`;
    // Literals, so that the planner sees that the predicate implies a partial index.
    return fragments.isLiteral(column, values, known ?? null);
  };
  const compared = (word: Comparison, operand: Operand): Test => sql`${column} ${sql.raw(COMPARISONS[word])} ${operandSql(operand, alias)}`;
  const timed = (sign: '<' | '<=' | '>', bound: RawBuilder<unknown>): Test => {
    const description = described();
    // ISO texts do not sort exactly like their times.
    if (description.time === 'iso') return sql`${fragments.instant(column, description, timeZone)} ${sql.raw(sign)} ${bound}`;
    return sql`${column} ${sql.raw(sign)} ${fragments.fromInstant(bound, description, timeZone)}`;
  };
  return visitLeaf(test, {
    equals: ({ equals, ignoreCase }) => among([equals], ignoreCase),
    in: ({ in: values, ignoreCase }) => among(values, ignoreCase),
    isNull: ({ isNull }) => (isNull ? sql`${column} is null` : sql`${column} is not null`),
    isTrue: ({ isTrue }) => fragments.isTrue(column, described(), isTrue),
    isEmpty: ({ isEmpty }) => {
      // Bytes are compared as they are: no text of them is empty on every engine.
      const empty = sql<boolean>`${known?.kind === 'binary' ? column : fragments.asText(column)} in ('', '[]', '{}')`;
      return isEmpty ? empty : sql`not (${empty})`;
    },
    above: ({ above }) => compared('above', above),
    below: ({ below }) => compared('below', below),
    atLeast: ({ atLeast }) => compared('atLeast', atLeast),
    atMost: ({ atMost }) => compared('atMost', atMost),
    past: () => timed('<=', fragments.now()),
    future: () => timed('>', fragments.now()),
    olderThan: ({ olderThan }) => timed('<', fragments.secondsBefore(fragments.now(), secondsOf(olderThan))),
  });
}

/** Binding has replaced parameters by numbers. */
function secondsOf(amount: Amount): number {
  if (typeof amount !== 'number') throw new Error(`parameter ${amount.parameter} was not bound`);
  return amount;
}

function operandSql(operand: Operand, alias: string): RawBuilder<unknown> {
  if (typeof operand === 'number') return sql.lit(operand);
  if ('column' in operand) return sql.id(alias, operand.column);
  throw new Error(`parameter ${operand.parameter} was not bound`);
}

function existing({ companion: name, when }: { companion: string; when?: Condition }, alias: string, scope: Scope): Test {
  const companion = scope.companions.get(name);
  if (companion === undefined) throw new Error(`companion ${name} was not bound`);
  const inner = `${alias}_${name}`;
  const own: Scope = { ...scope, columns: companion.description.columns, cursor: null };
  const tests = [...belongs(companion, inner, alias), ...(when === undefined ? [] : [compileCondition(when, inner, own)])];
  return sql`exists (select 1 from ${tableRef(companion.description.name)} as ${sql.id(inner)} where ${and(tests)})`;
}

export const belongs = (companion: BoundCompanion, inner: string, alias: string): Test[] =>
  Object.entries(companion.on).map(([own, main]) => sql`${sql.id(inner, own)} = ${sql.id(alias, main)}`);

function cursorTest(which: 'passed' | 'taken', sign: RawBuilder<unknown>, alias: string, scope: Scope): Test {
  const { cursor } = scope;
  const columns = which === 'passed' ? cursor?.passed : cursor?.taken;
  if (!cursor || columns === undefined) throw new Error(`cursor ${which} was not bound`);
  const tuple = (parts: RawBuilder<unknown>[]): RawBuilder<unknown> =>
    parts.length === 1 ? sql`${sql.join(parts)}` : sql`(${sql.join(parts)})`;
  const position = tuple(cursor.position.map((name) => sql.id(alias, name)));
  return sql`${position} ${sign} ${leastCursor(cursor, columns, scope)}`;
}

/** Smallest position of all groups, or of the named one; zeros without readers. The companion is read once per statement. */
function leastCursor({ companion, group, only: named }: BoundCursor, columns: string[], scope: Scope): RawBuilder<unknown> {
  const zeros = columns.map((name) => {
    const description = companion.description.columns.get(name);
    return description === undefined ? sql`0` : scope.fragments.typed('0', description);
  });
  const [only, ...others] = columns;
  const ofGroup = named === null ? sql`` : sql` where ${sql.id('g', group)} = ${named}`;
  // Simple enough for MariaDB to evaluate before planning: otherwise it would walk the index on the position from its start.
  if (only !== undefined && others.length === 0)
    return sql`coalesce((select ${sql.id('g', only)} from ${tableRef(companion.description.name)} as g${ofGroup} order by ${sql.id('g', only)} limit 1), ${sql.join(zeros)})`;
  const names = columns.map((_, index) => sql.id(`c${index}`));
  const own = columns.map((name, index) => sql`${sql.id('g', name)} as ${sql.id(`c${index}`)}`);
  return sql`(select ${sql.join(names)} from (select 0 as nobody, ${sql.join(own)} from ${tableRef(companion.description.name)} as g${ofGroup}
    union all select 1, ${sql.join(zeros)}) as cursors order by nobody, ${sql.join(names)} limit 1)`;
}

type Rules = Pick<Shape, 'states' | 'rows'>;
type ValueOf = (state: LiveState, label: string | undefined) => RawBuilder<unknown>;

/** A CASE with one value per rule of the state; `other` if no rule matches or the row is no event. */
export function firstMatch<T>(shape: Rules, alias: string, scope: Scope, valueOf: ValueOf, other: RawBuilder<unknown>): RawBuilder<T> {
  if (shape.states.length === 0) return sql`${other}`;
  const test = (when: Condition): Test => compileCondition(when, alias, scope);
  const cases = shape.states.map(({ state, label, when }) => sql`when ${test(when)} then ${valueOf(state, label)}`);
  const outside = shape.rows === undefined ? [] : [sql`when ${negated(shape.rows, alias, scope)} then ${other}`];
  return sql`case ${sql.join([...outside, ...cases], sql.raw(' '))} else ${other} end`;
}

/** The state of a row of the outbox table: first match wins, otherwise `unmapped`. */
export const stateExpression = (shape: Rules, alias: string, scope: Scope): RawBuilder<string> =>
  firstMatch(shape, alias, scope, (state) => sql.lit(state), sql.lit('unmapped'));

/** The state, with the rule's label if it has one: `dead:cancelled`. */
export function labelledState(shape: Rules, alias: string, scope: Scope): RawBuilder<string> {
  const valueOf: ValueOf = (state, label) => sql.lit(label === undefined ? state : `${state}:${label}`);
  return firstMatch(shape, alias, scope, valueOf, sql.lit('unmapped'));
}

/** Whether a row is an event; null if every row is. */
export const rowFilter = (shape: Rules, alias: string, scope: Scope): Test | null =>
  shape.rows === undefined ? null : compileCondition(shape.rows, alias, scope);

/** True for rows in one of these states; null if no rule gives one. Excludes only earlier rules that could match, so that indexes serve. */
export function statePredicate(shape: Rules, states: readonly LiveState[], alias: string, scope: Scope): Test | null {
  const branches = shape.states.flatMap(({ state, when }, index) => {
    if (!states.includes(state)) return [];
    const earlier = shape.states.slice(0, index).filter((rule) => !states.includes(rule.state) && !disjoint(rule.when, when));
    const own = when.kind === 'always' && earlier.length > 0 ? [] : [compileCondition(when, alias, scope)];
    const parts = [...own, ...earlier.map((rule) => negated(rule.when, alias, scope))];
    return [sql<boolean>`(${and(parts)})`];
  });
  if (branches.length === 0) return null;
  const filter = rowFilter(shape, alias, scope);
  const any = sql<boolean>`(${or(branches)})`;
  return filter === null ? any : sql`(${filter} and ${any})`;
}
