import { bytesOf, integerRange } from '@/lib/database/column-text';
import type { ColumnDescription } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import { type BoundCompanion, type Parameters, isTime } from '../bound';
import { type Comparison, type Condition, type Leaf, type Operand, visit, visitLeaf } from '../schema/condition';
import type { Shape } from '../shape';
import { amountIn } from './parameters';
import { type Problems, BoundTable } from './table';

export interface Binding {
  shape: Shape;
  parameters: Parameters;
  problems: Problems;
  /** null for an optional one that does not exist. */
  companions: ReadonlyMap<string, BoundCompanion | null>;
  /** For a mapping written for this table: every value it names must be one the column can hold. */
  strict: boolean;
  captured: Captured;
}

/** The named groups of the shape's pattern in the table's name. */
export type Captured = Readonly<Record<string, string>>;

const EVERY: Condition = { kind: 'always', always: true };
/** Matches no row, as a comparison with a missing column (NULL) does. */
const NONE: Condition = { kind: 'not', not: EVERY };

/** The condition with the catalogue's names and the parameters' values; reports what cannot work. */
export function bindCondition(condition: Condition, table: BoundTable, path: Path, binding: Binding): Condition {
  const bind = (inner: Condition, ...rest: PropertyKey[]): Condition => bindCondition(inner, table, [...path, ...rest], binding);
  return visit<Condition>(condition, {
    leaf: (test) => bindLeaf(test, table, path, binding),
    all: ({ all }) => ({ kind: 'all', all: all.map((part, index) => bind(part, 'all', index)) }),
    any: ({ any }) => ({ kind: 'any', any: any.map((part, index) => bind(part, 'any', index)) }),
    not: ({ not }) => ({ kind: 'not', not: bind(not, 'not') }),
    always: (test) => test,
    cursor: (test) => (isToldByCursor(test.cursor, path, binding) ? test : NONE),
    exists: ({ exists }) => bindExists(exists, [...path, 'exists'], binding),
  });
}

function isToldByCursor(which: 'passed' | 'taken', path: Path, { shape, problems }: Binding): boolean {
  if (shape.cursor?.[which] !== undefined) return true;
  problems.add([...path, 'cursor'], `the mapping says nothing of a cursor that is ${which}: write it under cursor`);
  return false;
}

function bindExists({ companion: name, when }: { companion: string; when?: Condition }, path: Path, binding: Binding): Condition {
  const companion = binding.companions.get(name) ?? null;
  if (companion === null) return NONE;
  if (when === undefined) return { kind: 'exists', exists: { companion: name } };
  const table = new BoundTable(companion.description, new Set(), binding.problems);
  return { kind: 'exists', exists: { companion: name, when: bindCondition(when, table, [...path, 'when'], binding) } };
}

function bindLeaf(test: Leaf, table: BoundTable, path: Path, binding: Binding): Condition {
  const column = table.resolve(test.column, [...path, 'column']);
  if (column === null) return table.lacks(test.column) && test.kind === 'isNull' && test.isNull ? EVERY : NONE;
  const { problems, strict } = binding;
  const compared = (word: Comparison, operand: Operand, put: (bound: Operand) => Condition): Condition => {
    const bound = bindOperand(operand, column, table, [...path, word], binding);
    return bound === null ? NONE : put(bound);
  };
  const checked = <T>(found: T, isWrong: boolean, key: string, problem: string): T => {
    if (isWrong) problems.add([...path, key], problem);
    return found;
  };
  const timed = <T>(found: T): T => checked(found, !isTime(column), 'column', notATime(column));
  const is = `"${column.name}" is ${column.type}`;
  return visitLeaf<Condition, Leaf['kind']>(
    { ...test, column: column.name },
    {
      equals: (found) => {
        checkValue(found.equals, column, [...path, 'equals'], binding);
        return found;
      },
      in: (found) => {
        found.in.forEach((value, index) => checkValue(value, column, [...path, 'in', index], binding));
        return found;
      },
      isNull: (found) => {
        const never = `"${column.name}" is never NULL, and no row passes: name another column${orZero(column)}`;
        return checked(found, strict && found.isNull && !column.nullable, 'isNull', never);
      },
      isEmpty: (found) => {
        const holdsSome = strict && !['text', 'json', 'binary', 'other'].includes(column.kind);
        return checked(found, holdsSome, 'isEmpty', `${is}, which is never empty: use isNull or equals`);
      },
      isTrue: (found) => {
        const isNone = !['boolean', 'integer', 'decimal', 'text'].includes(column.kind) && !/^bit\b/.test(column.type);
        return checked(found, isNone, 'isTrue', `${is}, which is neither true nor false: use equals or isNull`);
      },
      above: (found) => compared('above', found.above, (above) => ({ ...found, above })),
      below: (found) => compared('below', found.below, (below) => ({ ...found, below })),
      atLeast: (found) => compared('atLeast', found.atLeast, (atLeast) => ({ ...found, atLeast })),
      atMost: (found) => compared('atMost', found.atMost, (atMost) => ({ ...found, atMost })),
      past: timed,
      future: timed,
      olderThan: (found) => ({ ...timed(found), olderThan: amountIn(found.olderThan, binding, [...path, 'olderThan']) ?? 0 }),
    },
  );
}

/** Hint for MySQL's times, which may be zero dates: a test for NULL on such a column may mean those. */
export const orZero = ({ type }: ColumnDescription): string =>
  /^(datetime|timestamp(\(\d\))?$)/i.test(type) ? '; where a zero date stands for none, ask a generated column' : '';

function bindOperand(operand: Operand, column: ColumnDescription, table: BoundTable, path: Path, binding: Binding): Operand | null {
  const say = (what: string): void => binding.problems.add(path, `"${column.name}" ${what}`);
  if (typeof operand === 'object' && 'column' in operand) {
    const other = table.resolve(operand.column, [...path, 'column']);
    if (other === null) return null;
    if (classOf(other) !== classOf(column) || classOf(column) === null)
      say(`(${column.type}) and "${other.name}" (${other.type}) cannot be compared by size: compare numbers, or times of one spelling`);
    return { column: other.name };
  }
  const instead = isTime(column) ? 'past, future or olderThan' : 'equals, in or isNull';
  if (!['integer', 'decimal'].includes(column.kind) && !isCode(column))
    say(`is ${column.type} and cannot be compared with a number: use ${instead}`);
  return amountIn(operand, binding, path);
}

/** MySQL's `tinyint(1)` is a truth value by its name alone: many keep a status of several numbers in it. */
const isCode = ({ type }: ColumnDescription): boolean => /^tinyint\b/i.test(type);

/** Values of one class can be compared by size; null if the column has no meaningful order. */
function classOf(column: ColumnDescription): string | null {
  if (isTime(column)) return `time ${column.time ?? column.kind}`;
  return column.kind === 'integer' || column.kind === 'decimal' || isCode(column) ? 'number' : null;
}

/** Reports a value the column cannot have, or that an engine compares in another type: MySQL matches a number with any text. */
export function checkValue(value: string | number | boolean, column: ColumnDescription, path: Path, { problems, strict }: Binding): void {
  const { name, type, kind, labels } = column;
  const written = typeof value;
  const say = (what: string): void => problems.add(path, `"${name}" is ${type}: ${what}`);
  if (isTime(column)) say('compare times with past, future or olderThan');
  else if (written === 'boolean' && kind !== 'boolean') say('write isTrue instead');
  else if (written !== 'boolean' && kind === 'boolean' && !(written === 'number' && isCode(column)))
    say('write isTrue: true or isTrue: false instead');
  else if (written === 'number' && kind === 'text') say(`write the value as text, '${String(value)}' in quotes`);
  else if (written === 'string' && (kind === 'integer' || kind === 'decimal')) say('write a number, without quotes');
  else if (column.holds !== undefined) {
    if (written === 'number') say(`write the value as text, '${String(value)}' in quotes`);
    else if (bytesOf(String(value), column) === null) say(`it holds values of ${column.holds}, and never ${String(value)}; write another`);
  } else if (kind === 'json' || kind === 'binary')
    say(`its values are not compared whole; use isNull or isEmpty${kind === 'json' ? '' : ', or say under bytes what they hold'}`);
  else if (strict && labels !== undefined && !labels.includes(String(value)))
    say(`it has no value "${String(value)}"${suggestion(String(value), labels)}`);
  else if (strict) {
    const bounds = outOfBounds(value, column);
    if (bounds !== null) say(`${bounds}, and never ${String(value)}; write another`);
  }
}

/** Why a column is not a time, and how to declare that it is one. */
export function notATime({ name, type, kind }: ColumnDescription): string {
  const spelt = kind === 'text' ? 'iso' : kind === 'integer' || kind === 'decimal' ? 'epoch_ms or epoch_s' : null;
  const cure = spelt === null ? 'name a column that holds times' : `say how it spells one: time: ${spelt} with its role, or under times`;
  return `"${name}" is ${type}, which is no time by itself; ${cure}`;
}

/** Why the column's type cannot hold the value; null if it can, or the type has no known bounds. */
export function outOfBounds(value: string | number | boolean, column: ColumnDescription): string | null {
  const { type, kind } = column;
  if (typeof value === 'string') {
    const [, most] = /^(?:character varying|character|varchar|char)\((\d+)\)/i.exec(type) ?? [];
    return most !== undefined && [...value].length > Number(most) ? `it holds at most ${most} characters` : null;
  }
  if (typeof value === 'boolean' || (kind !== 'integer' && !isCode(column))) return null;
  if (!Number.isInteger(value)) return 'it holds whole numbers';
  // Values beyond what a JavaScript number holds exactly are left to the database.
  const range = /^bigint/i.test(type) ? null : integerRange(type);
  return range !== null && (value < range[0] || value > range[1]) ? `it holds numbers from ${range[0]} to ${range[1]}` : null;
}
