/** Turns state rules round: which values put a row into a state. Plain arithmetic; the database has the last word. */
import type { ColumnDescription } from '@/lib/database/engine';
import { isTime } from '@/lib/outbox/outbox';
import type { Condition, Shape } from '@/lib/outbox/shape';
import type { LiveState } from '@/lib/shared/states';

/** A value to try: a literal, NULL, a time so many seconds ago by the database's clock, or anything that fits the column. */
export type Cell = { value: string | number | boolean } | { null: true } | { secondsAgo: number } | { anything: true };

/** Cells by column. */
export type Cells = Map<string, Cell>;

/** What a rule may refer to beside the row. */
export interface Known {
  columns: Map<string, ColumnDescription>;
  /** Numbers by parameter name. */
  parameters: Map<string, number>;
}

/** A row's values decide this condition only together with other tables. */
export class BeyondTheRow extends Error {}

const COMBINATIONS_MAX = 60_000;
const SOLUTIONS_MAX = 12;
const MARGIN_SECONDS = 3_600;
/** Far enough from a number that rules name to be nobody's; it fits the smallest columns. */
const ELSEWHERE = 30_011;

/**
 * Values for the columns the rules speak of that put a row into `state` and pass every further condition, the plainest first; []
 * when none were found. Throws BeyondTheRow where other tables have a say.
 */
export function solve(shape: Pick<Shape, 'states' | 'rows'>, state: LiveState, further: Condition[], known: Known): Cells[] {
  const conditions = [...shape.states.map(({ when }) => when), ...(shape.rows === undefined ? [] : [shape.rows]), ...further];
  const guesses = [...new Set(conditions.flatMap(guessesOf))];
  const columns = [...new Set(conditions.flatMap(columnsOf))].filter((name) => known.columns.has(name));
  const names = [...guesses, ...columns];
  const choices = [
    ...guesses.map((): Cell[] => [{ value: false }, { value: true }]),
    ...columns.map((name) => candidates(name, conditions, known)),
  ];
  const solutions: Cells[] = [];
  let tried = 0;
  const walk = (index: number, cells: Cells): void => {
    if (solutions.length >= SOLUTIONS_MAX || tried >= COMBINATIONS_MAX) return;
    if (index === names.length) {
      tried += 1;
      const fits =
        stateOf(shape, cells, known) === state &&
        (shape.rows === undefined || holds(shape.rows, cells, known)) &&
        further.every((condition) => holds(condition, cells, known));
      if (fits) solutions.push(new Map([...cells].filter(([name]) => !guesses.includes(name))));
      return;
    }
    for (const cell of choices[index] ?? []) walk(index + 1, cells.set(names[index] ?? '', cell));
  };
  walk(0, new Map());
  return solutions;
}

/** A name for what other tables would say, which no column has. */
const guessName = (condition: Condition): string => `\u0000${JSON.stringify(condition)}`;

function guessesOf(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(guessesOf);
  if ('any' in condition) return condition.any.flatMap(guessesOf);
  if ('not' in condition) return guessesOf(condition.not);
  return 'exists' in condition ? [guessName(condition)] : [];
}

function guessed(condition: Condition, cells: Cells): boolean {
  const cell = cells.get(guessName(condition));
  return cell !== undefined && 'value' in cell && cell.value === true;
}

function stateOf(shape: Pick<Shape, 'states'>, cells: Cells, known: Known): LiveState | null {
  return shape.states.find(({ when }) => holds(when, cells, known))?.state ?? null;
}

function columnsOf(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(columnsOf);
  if ('any' in condition) return condition.any.flatMap(columnsOf);
  if ('not' in condition) return columnsOf(condition.not);
  if (!('column' in condition)) return [];
  const other = otherColumn(condition);
  return other === null ? [condition.column] : [condition.column, other];
}

type Leaf = Extract<Condition, { column: string }>;

function leavesOf(condition: Condition): Leaf[] {
  if ('all' in condition) return condition.all.flatMap(leavesOf);
  if ('any' in condition) return condition.any.flatMap(leavesOf);
  if ('not' in condition) return leavesOf(condition.not);
  return 'column' in condition ? [condition] : [];
}

function operandOf(leaf: Leaf): number | { column: string } | { parameter: string } | null {
  if ('above' in leaf) return leaf.above;
  if ('below' in leaf) return leaf.below;
  if ('atLeast' in leaf) return leaf.atLeast;
  return 'atMost' in leaf ? leaf.atMost : null;
}

/** The column that this one is compared with by size; null where it is none. */
function otherColumn(leaf: Leaf): string | null {
  const operand = operandOf(leaf);
  return typeof operand === 'object' && operand !== null && 'column' in operand ? operand.column : null;
}

/** Everything worth trying in a column: what its tests name, the values around their edges, NULL, and something plain. */
function candidates(name: string, conditions: Condition[], known: Known): Cell[] {
  const description = known.columns.get(name);
  const leaves = conditions.flatMap(leavesOf);
  // A limit of nothing is reached by every row, also by one that an operation has just brought back.
  const isLimit = description !== undefined && !isTime(description) && leaves.some((leaf) => otherColumn(leaf) === name);
  const found: Cell[] = description === undefined || isLimit ? [] : [plain(description)];
  if (description?.nullable === true) found.unshift({ null: true });
  for (const leaf of leaves) {
    const operand = operandOf(leaf);
    // The other side of a comparison needs room on both sides too.
    const other = otherColumn(leaf);
    if (other !== null && (other === name || leaf.column === name))
      found.push(...(isLimit ? [] : [{ value: 0 }]), { value: 1 }, { value: 2 }, { value: 3 });
    if (leaf.column !== name) continue;
    if ('equals' in leaf || 'in' in leaf) {
      const values = 'in' in leaf ? leaf.in : [leaf.equals];
      found.push(
        ...values.map((value) => ({ value })),
        ...values.flatMap((value) => (typeof value === 'number' ? [{ value: value + ELSEWHERE }] : [])),
      );
    } else if ('isTrue' in leaf) found.push(...truths(description));
    else if ('isEmpty' in leaf) found.push({ value: description?.kind === 'json' ? '[]' : '' });
    else if ('past' in leaf || 'future' in leaf) found.push({ secondsAgo: MARGIN_SECONDS }, { secondsAgo: -MARGIN_SECONDS });
    else if ('olderThan' in leaf) {
      const seconds = amountOf(leaf.olderThan, known);
      found.push({ secondsAgo: seconds + MARGIN_SECONDS }, { secondsAgo: Math.min(1, seconds / 2) });
    } else if (operand !== null && !(typeof operand === 'object' && 'column' in operand)) {
      const edge = amountOf(operand, known);
      found.push({ value: 0 }, { value: edge }, { value: edge + 1 }, { value: edge - 1 });
    }
  }
  const seen = new Set<string>();
  return found.filter((cell) => !seen.has(JSON.stringify(cell)) && seen.add(JSON.stringify(cell)));
}

/** The first thing to write into a column of which nothing is asked. */
export function plain(column: ColumnDescription): Cell {
  const { kind } = column;
  if (isTime(column)) return { secondsAgo: 60 };
  if (kind === 'integer' || kind === 'decimal') return { value: 0 };
  return kind === 'boolean' ? { value: false } : { anything: true };
}

function truths(description: ColumnDescription | undefined): Cell[] {
  if (description?.kind === 'boolean') return [{ value: true }, { value: false }];
  return description?.kind === 'text' ? [{ value: 't' }, { value: 'f' }] : [{ value: 1 }, { value: 0 }];
}

function amountOf(amount: number | { parameter: string }, known: Known): number {
  if (typeof amount === 'number') return amount;
  const value = known.parameters.get(amount.parameter);
  if (value === undefined) throw new BeyondTheRow(`parameter ${amount.parameter} has no number`);
  return value;
}

/** Whether a row of these cells passes; comparisons with NULL are false, as the shape language says. */
export function holds(condition: Condition, cells: Cells, known: Known): boolean {
  if ('all' in condition) return condition.all.every((part) => holds(part, cells, known));
  if ('any' in condition) return condition.any.some((part) => holds(part, cells, known));
  if ('not' in condition) return !holds(condition.not, cells, known);
  if ('always' in condition) return true;
  // Whether other tables agree is guessed, both ways: the database will say.
  if ('exists' in condition) return guessed(condition, cells);
  if (!('column' in condition)) throw new BeyondTheRow(Object.keys(condition).join(', '));
  const cell = cells.get(condition.column) ?? { null: true };
  if ('isNull' in condition) return condition.isNull === 'null' in cell;
  if ('null' in cell) return false;
  if ('past' in condition) return 'secondsAgo' in cell && cell.secondsAgo > 0;
  if ('future' in condition) return 'secondsAgo' in cell && cell.secondsAgo < 0;
  if ('olderThan' in condition) return 'secondsAgo' in cell && cell.secondsAgo > amountOf(condition.olderThan, known);
  const value = 'value' in cell ? cell.value : null;
  if ('isTrue' in condition) return value !== null && isTrue(value) === condition.isTrue;
  if ('isEmpty' in condition) return (value !== null && ['', '[]', '{}'].includes(String(value))) === condition.isEmpty;
  if ('equals' in condition) return value !== null && same(value, condition.equals, condition.ignoreCase);
  if ('in' in condition) return value !== null && condition.in.some((wanted) => same(value, wanted, condition.ignoreCase));
  return compare(condition, value, cells, known);
}

function compare(leaf: Leaf, value: string | number | boolean | null, cells: Cells, known: Known): boolean {
  const operand = operandOf(leaf);
  if (operand === null || value === null) return false;
  let right: number;
  if (typeof operand === 'object' && 'column' in operand) {
    const other = cells.get(operand.column);
    if (other === undefined || !('value' in other)) return false;
    right = Number(other.value);
  } else right = amountOf(operand, known);
  const left = Number(value);
  if ('above' in leaf) return left > right;
  if ('below' in leaf) return left < right;
  return 'atLeast' in leaf ? left >= right : left <= right;
}

const isTrue = (value: string | number | boolean): boolean => ['true', 't', '1', 'y', 'yes'].includes(String(value).toLowerCase());

function same(left: string | number | boolean, right: string | number | boolean, ignoreCase: boolean | undefined): boolean {
  if (typeof right === 'boolean' || typeof left === 'boolean') return isTrue(left) === isTrue(right);
  return ignoreCase === true ? String(left).toLowerCase() === String(right).toLowerCase() : String(left) === String(right);
}
