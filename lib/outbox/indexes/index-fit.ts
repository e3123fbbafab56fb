import { sql, type RawBuilder } from 'kysely';
import type { Direction, IndexDescription } from '@/lib/database/description';
import type { Leaf } from '@/lib/shape/schema/condition';
import { valuesOf } from '@/lib/shape/reason';
import type { Place } from '@/lib/shape/bound';

/** An index that finds exactly the wanted rows, and the ORDER BY it serves; `order` is null if it gives none. */
export type Fit = { order: RawBuilder<unknown> | null; index: string };

/** An index that leads with `column` and contains every row that satisfies `tests`. */
export function fitRange(place: Place, alias: string, column: string, tests: Leaf[]): Fit | null {
  const index = place.description.indexes.find((one) => one.columns[0] === column && one.sorted.length > 0 && holds(one.predicate, tests));
  if (index === undefined) return null;
  return { order: orderOf(index, 0, alias, column, 'desc'), index: index.name };
}

/** An index over all rows that leads with the columns of a position, for tables read by a cursor. */
export function fitPosition(place: Place, alias: string, position: readonly string[], direction: Direction): Fit | null {
  const index = place.description.indexes.find((one) => leadsWith(one, position));
  if (index === undefined) return null;
  return { order: sql.join(position.map((name) => sql`${sql.id(alias, name)} ${sql.raw(direction)}`)), index: index.name };
}

/** Whether a BRIN index narrows a range of `column` to blocks, for rows that satisfy `tests`. BRIN gives no order. */
export const fitBlocks = (place: Place, column: string, tests: Leaf[]): boolean =>
  place.description.indexes.some((index) => index.method === 'brin' && index.columns.includes(column) && holds(index.predicate, tests));

/** An index that finds the rows of `tests` by its predicate or its first column; ordered by `created` if that column follows. */
export function fitTests(place: Place, alias: string, created: string | null, tests: Leaf[], direction: Direction = 'asc'): Fit | null {
  const btrees = place.description.indexes.filter((index) => index.sorted.length > 0);
  const partial = btrees.filter((index) => index.predicate !== null && holds(index.predicate, tests));
  const byCreated = partial.find((index) => created !== null && index.columns[0] === created);
  if (byCreated !== undefined && created !== null)
    return { order: orderOf(byCreated, 0, alias, created, direction), index: byCreated.name };
  if (partial[0] !== undefined) return { order: null, index: partial[0].name };

  for (const test of tests) {
    const single = fixes(test);
    if (!single && valuesOf(test) === null) continue;
    const leading = btrees.filter((one) => one.columns[0] === test.column && one.predicate === null);
    const index = leading.find((one) => one.columns[1] === created) ?? leading[0];
    if (index === undefined) continue;
    if (!single || created === null || index.columns[1] !== created) return { order: null, index: index.name };
    const byTime = orderOf(index, 1, alias, created, direction);
    const order =
      test.kind === 'isNull' && saysNulls(index)
        ? sql`${orderOf(index, 0, alias, test.column, (index.sorted[1]?.descending ?? false) === (direction === 'asc') ? opposite(index) : same(index))}, ${byTime}`
        : byTime;
    return { order, index: index.name };
  }
  return null;
}

/** An index to walk along: its ORDER BY, and where it sorts NULLs of the wanted column. */
export type Walk = NonNullable<ReturnType<typeof fitWalk>>;

/** An index that gives the rows of `tests` in the order of `column`; with `narrow`, only one that holds few other rows. */
export function fitWalk(place: Place, column: string, tests: Leaf[], narrow: boolean) {
  const fits = place.description.indexes.flatMap((index): { index: IndexDescription; fixed: Leaf | null }[] => {
    if (index.sorted.length === 0 || !holds(index.predicate, tests)) return [];
    if (index.columns[0] === column) return narrow && index.predicate === null ? [] : [{ index, fixed: null }];
    const fixed = tests.find((test) => test.column === index.columns[0] && fixes(test));
    return fixed !== undefined && index.columns[1] === column ? [{ index, fixed }] : [];
  });
  const found = fits.find(({ index }) => index.predicate !== null) ?? fits[0];
  if (found === undefined) return null;
  const { index, fixed } = found;
  const position = fixed === null ? 0 : 1;
  const forwards = (direction: Direction): boolean => (index.sorted[position]?.descending ?? false) === (direction === 'desc');
  const saysFixed = fixed?.kind === 'isNull' && saysNulls(index);
  return {
    name: index.name,
    columns: fixed === null ? [column] : [fixed.column, column],
    /** The leading column with a single value, where `order` leaves it out: a DELETE of MySQL has to name it. */
    leftOut: saysFixed ? null : (fixed?.column ?? null),
    order(alias: string, direction: Direction): RawBuilder<unknown> {
      const own = orderOf(index, position, alias, column, direction);
      if (fixed === null || !saysFixed) return own;
      return sql`${orderOf(index, 0, alias, fixed.column, forwards(direction) ? same(index) : opposite(index))}, ${own}`;
    },
    nulls: (direction: Direction): 'first' | 'last' =>
      forwards(direction) === (index.sorted[position]?.nullsFirst ?? false) ? 'first' : 'last',
  };
}

/** After IS NULL, PostgreSQL uses the index's order only if ORDER BY names that column too; MariaDB would then sort all rows. */
const saysNulls = (index: IndexDescription): boolean => index.nullsUnsaid !== true;

/** Whether a test leaves a single value of its column to enter an index by; a case-insensitive test leaves several. */
export const fixes = (test: Leaf): boolean => (test.kind === 'isNull' && test.isNull) || valuesOf(test)?.length === 1;

/** Whether a sorted index over all rows leads with these columns, in this order. */
export const leadsWith = (index: IndexDescription, names: readonly string[]): boolean =>
  index.predicate === null && index.sorted.length >= names.length && names.every((name, at) => index.columns[at] === name);

/** The column of a unique integer key, which grows with time; null if the place has none. */
export const numberedKey = (place: Place): string | null =>
  place.id.length === 1 && place.id[0]?.kind === 'integer' ? uniqueKey(place) : null;

/** The column of a one-column unique key whose index can be walked in order; null if the place has none. */
export function uniqueKey(place: Place): string | null {
  const [id, ...others] = place.id;
  if (id === undefined || others.length > 0) return null;
  return uniqueIndexes(place).some(({ sorted, columns }) => sorted.length === 1 && columns[0] === id.name) ? id.name : null;
}

/** Unique indexes over all rows; a partial one allows duplicates outside its predicate. */
export const uniqueIndexes = ({ description }: Pick<Place, 'description'>): IndexDescription[] =>
  description.indexes.filter(({ unique, predicate }) => unique && predicate === null);

const same = (index: IndexDescription): Direction => (index.sorted[0]?.descending ? 'desc' : 'asc');
const opposite = (index: IndexDescription): Direction => (same(index) === 'asc' ? 'desc' : 'asc');

/** ORDER BY `column` in this direction, with NULLs where the index has them, read forwards or backwards. */
function orderOf(index: IndexDescription, position: number, alias: string, column: string, direction: Direction): RawBuilder<unknown> {
  const { descending, nullsFirst } = index.sorted[position] ?? { descending: false, nullsFirst: false };
  const key = sql`${sql.id(alias, column)} ${sql.raw(direction)}`;
  if (index.nullsUnsaid === true) return key;
  const forwards = descending === (direction === 'desc');
  return sql`${key} nulls ${sql.raw(forwards === nullsFirst ? 'first' : 'last')}`;
}

/** Whether the tests imply a partial index's predicate, as the server prints it: each conjunct must follow from a test. */
export function holds(predicate: string | null, tests: Leaf[]): boolean {
  if (predicate === null) return true;
  return plain(predicate)
    .split(' AND ')
    .every((conjunct) => tests.some((test) => implies(test, conjunct)));
}

function implies(test: Leaf, conjunct: string): boolean {
  if (test.kind === 'above') return conjunct === `${test.column} > ${String(test.above)}`;
  if (test.kind === 'isNull') return conjunct === `${test.column} IS ${test.isNull ? '' : 'NOT '}NULL`;
  const wanted = valuesOf(test)?.map(literal);
  if (wanted === undefined || conjunct === `${test.column} IS NOT NULL`) return conjunct === `${test.column} IS NOT NULL`;
  if (wanted.length === 1 && conjunct === `${test.column} = ${wanted[0] ?? ''}`) return true;
  const start = `${test.column} = ANY ARRAY[`;
  if (!conjunct.startsWith(start) || !conjunct.endsWith(']')) return false;
  const list = conjunct.slice(start.length, -1).split(', ');
  return wanted.every((value) => list.includes(value));
}

const literal = (value: string | number | boolean): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

/** A predicate without the parentheses, quotes and casts the server adds. One with OR never equals a conjunct of ours. */
function plain(predicate: string): string {
  return predicate
    .replace(/::(?:(?:"[^"]+"|[a-z_]\w*)\.)?(?:"[^"]+"|[a-z_]\w*)(?: varying| precision)?(?:\(\d+\))?(?:\[\])?/gi, '')
    .replace(/[()]/g, '')
    .replace(/"([^"]+)"/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
