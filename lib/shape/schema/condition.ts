/** Tests on one row. Comparisons with NULL are false, as in SQL, and so is `not` of nothing known: `not` means "is not true". */
import { z } from 'zod';
import { nameSchema } from './names';
import { amountSchema, parameterName, type Amount } from './parameters';

export const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);

/** What a column is compared with: a number, another column of the row, or a parameter. */
export type Operand = number | { column: string } | { parameter: string };
const operandSchema = z.union([z.number(), z.strictObject({ column: nameSchema }), z.strictObject({ parameter: parameterName })]);

/** A comparison by size and the operator it stands for. */
export const COMPARISONS = { above: '>', below: '<', atLeast: '>=', atMost: '<=' } as const;
export type Comparison = keyof typeof COMPARISONS;

/**
 * A test on one row:
 * `{column: status, equals: NEW}`, `{column: status, in: [1, 2]}`, either with `ignoreCase: true`;
 * `{column: sent_at, isNull: true}`; `{column: blocked, isTrue: true}` (a boolean, a bit, 0 and 1, or their texts);
 * `{column: operations, isEmpty: true}` (an empty text, JSON list or JSON map);
 * `{column: attempts, atLeast: {column: max_attempts}}` with `above`, `below`, `atLeast` or `atMost` and a number, a column
 * or a parameter; `{column: locked_until, future: true}` or `past` by the database's clock;
 * `{column: locked_at, olderThan: {parameter: lease}}` in seconds;
 * `{always: true}`; `{exists: {companion: deliveries, when: …}}`; `{cursor: passed}` or `taken`;
 * `{all: […]}`, `{any: […]}`, `{not: …}`.
 */
export type Condition =
  | { column: string; equals: string | number | boolean; ignoreCase?: boolean }
  | { column: string; in: (string | number)[]; ignoreCase?: boolean }
  | { column: string; isNull: boolean }
  | { column: string; isTrue: boolean }
  | { column: string; isEmpty: boolean }
  | { column: string; above: Operand }
  | { column: string; below: Operand }
  | { column: string; atLeast: Operand }
  | { column: string; atMost: Operand }
  | { column: string; past: true }
  | { column: string; future: true }
  | { column: string; olderThan: Amount }
  | { always: true }
  | { exists: { companion: string; when?: Condition } }
  | { cursor: 'passed' | 'taken' }
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition };

/** The comparison by size a test makes; null for any other test. */
export function comparisonOf(test: Condition): { word: Comparison; operand: Operand } | null {
  const word = (Object.keys(COMPARISONS) as Comparison[]).find((key) => key in test);
  const operand = word === undefined ? undefined : (test as Partial<Record<Comparison, Operand>>)[word];
  return word === undefined || operand === undefined ? null : { word, operand };
}

/** Tests that need a column. */
const COLUMN_TESTS = ['equals', 'in', 'isNull', 'isTrue', 'isEmpty', 'above', 'below', 'atLeast', 'atMost', 'past', 'future', 'olderThan'];
const OTHER_TESTS = ['always', 'exists', 'cursor', 'all', 'any', 'not'];

// One object rather than a union of eighteen, so that a wrong key is answered with the key that was meant.
const written = z.lazy(() =>
  z
    .strictObject({
      column: nameSchema.optional(),
      equals: scalarSchema.optional().describe('The value it has'),
      in: z
        .array(z.union([z.string(), z.number()]))
        .min(1)
        .optional()
        .describe('The values it may have'),
      ignoreCase: z.boolean().optional().describe('With equals and in: NEW and new are the same'),
      isNull: z.boolean().optional(),
      isTrue: z.boolean().optional().describe('A boolean, a bit, 0 and 1, or their texts'),
      isEmpty: z.boolean().optional().describe('An empty text, JSON list or JSON map'),
      above: operandSchema.optional(),
      below: operandSchema.optional(),
      atLeast: operandSchema.optional(),
      atMost: operandSchema.optional(),
      past: z.literal(true).optional().describe("By the database's clock"),
      future: z.literal(true).optional().describe("By the database's clock"),
      olderThan: amountSchema.optional().describe('Seconds, or a parameter that holds them'),
      always: z.literal(true).optional().describe('Every row'),
      exists: z
        .strictObject({ companion: z.string().min(1), when: conditionSchema.optional() })
        .optional()
        .describe('A row of the companion that belongs to this one'),
      cursor: z.enum(['passed', 'taken']).optional().describe("Behind every group's cursor"),
      all: z.array(conditionSchema).min(1).optional(),
      any: z.array(conditionSchema).min(1).optional(),
      not: conditionSchema.optional(),
    })
    .superRefine((condition, context) => {
      const problem = misfit(Object.keys(condition).filter((key) => condition[key as keyof typeof condition] !== undefined));
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    }),
);

/** Parses a condition; see `Condition` for what can be written. */
export const conditionSchema: z.ZodType<Condition> = written as unknown as z.ZodType<Condition>;

function misfit(keys: string[]): string | null {
  const ofColumn = keys.filter((key) => COLUMN_TESTS.includes(key));
  const others = keys.filter((key) => OTHER_TESTS.includes(key));
  if (ofColumn.length + others.length !== 1)
    return keys.includes('column')
      ? `write one test of the column: ${COLUMN_TESTS.join(', ')}`
      : `write one test: column with a test of it, or one of ${OTHER_TESTS.join(', ')}`;
  if (ofColumn.length === 1 && !keys.includes('column')) return 'name the column';
  if (others.length === 1 && keys.includes('column')) return `${others[0] ?? ''} names no column: leave it out`;
  if (keys.includes('ignoreCase') && !keys.includes('equals') && !keys.includes('in')) return 'ignoreCase goes with equals or in';
  return null;
}
