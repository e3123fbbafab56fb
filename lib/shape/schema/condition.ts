/** Tests on one row. A comparison with NULL is not true, as in SQL, and `not` means "is not true". */
import { z } from 'zod';
import { nameSchema } from './names';
import { amountSchema, parameterName } from './parameters';

export const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);
export type Scalar = z.infer<typeof scalarSchema>;
export type Operand = z.infer<typeof operandSchema>;
const operandSchema = z.union([z.number(), z.strictObject({ column: nameSchema }), z.strictObject({ parameter: parameterName })]);

export const COMPARISONS = { above: '>', below: '<', atLeast: '>=', atMost: '<=' } as const;
export type Comparison = keyof typeof COMPARISONS;

/** Tests of a column, in the order in which the error for a missing test lists them. */
const LEAVES = {
  equals: scalarSchema.describe('The value it has'),
  in: z
    .array(z.union([z.string(), z.number()]))
    .min(1)
    .describe('The values it may have'),
  isNull: z.boolean(),
  isTrue: z.boolean().describe('A boolean, a bit, 0 and 1, or their texts'),
  isEmpty: z.boolean().describe('An empty text, JSON list or JSON map'),
  above: operandSchema,
  below: operandSchema,
  atLeast: operandSchema,
  atMost: operandSchema,
  past: z.literal(true).describe("By the database's clock"),
  future: z.literal(true).describe("By the database's clock"),
  olderThan: amountSchema.describe('Seconds, or a parameter that holds them'),
};
type ColumnTests = { [K in keyof typeof LEAVES]: z.infer<(typeof LEAVES)[K]> };

/** Tests without a column of their own. */
interface RowTests {
  always: true;
  exists: { companion: string; when?: Condition };
  cursor: 'passed' | 'taken';
  all: Condition[];
  any: Condition[];
  not: Condition;
}

type LeafKind = keyof ColumnTests;
type RowKind = keyof RowTests;
export type Leaf<K extends LeafKind = LeafKind> = { [P in K]: { kind: P; column: string; ignoreCase?: boolean } & Pick<ColumnTests, P> }[K];
type RowTest<K extends RowKind = RowKind> = { [P in K]: { kind: P } & Pick<RowTests, P> }[K];

/** A parsed test: what was written, plus which test it is. */
export type Condition = Leaf | RowTest;

/** A test as written: `{column: status, in: [1, 2]}`, `{not: {always: true}}`; docs/mapping.md has a line for each. */
export type WrittenCondition =
  | { [K in LeafKind]: { column: string; ignoreCase?: boolean } & Pick<ColumnTests, K> }[LeafKind]
  | { always: true }
  | { exists: { companion: string; when?: WrittenCondition } }
  | { cursor: 'passed' | 'taken' }
  | { all: WrittenCondition[] }
  | { any: WrittenCondition[] }
  | { not: WrittenCondition };

const rows = () =>
  ({
    always: z.literal(true).describe('Every row'),
    exists: z
      .strictObject({ companion: z.string().min(1), when: conditionSchema.optional() })
      .describe('A row of the companion that belongs to this one'),
    cursor: z.enum(['passed', 'taken']).describe("Behind every group's cursor"),
    all: z.array(conditionSchema).min(1),
    any: z.array(conditionSchema).min(1),
    not: conditionSchema,
  }) satisfies { [K in RowKind]: z.ZodType<RowTests[K]> };

// One object instead of a union of all tests, so that a wrong key gets a suggestion.
const written = z.lazy(() => {
  const others = rows();
  return z
    .strictObject({
      column: nameSchema.optional(),
      ...z.object(LEAVES).partial().shape,
      ignoreCase: z.boolean().optional().describe('With equals and in: NEW and new are the same'),
      ...z.object(others).partial().shape,
    })
    .superRefine((condition, context) => {
      const keys = Object.entries(condition).flatMap(([key, value]) => (value === undefined ? [] : [key]));
      const problem = whatIsWrong(keys, Object.keys(others));
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .transform((condition) => ({ kind: Object.keys(condition).find((key) => key in LEAVES || key in others), ...condition }));
});

/** Parses a condition: its only test becomes its kind. */
export const conditionSchema: z.ZodType<Condition, WrittenCondition> = written as unknown as z.ZodType<Condition, WrittenCondition>;

function whatIsWrong(keys: string[], tests: string[]): string | null {
  const ofColumn = keys.filter((key) => key in LEAVES);
  const others = keys.filter((key) => tests.includes(key));
  if (ofColumn.length + others.length !== 1)
    return keys.includes('column')
      ? `write one test of the column: ${Object.keys(LEAVES).join(', ')}`
      : `write one test: column with a test of it, or one of ${tests.join(', ')}`;
  if (ofColumn.length === 1 && !keys.includes('column')) return 'name the column';
  if (others.length === 1 && keys.includes('column')) return `${others[0] ?? ''} names no column: leave it out`;
  if (keys.includes('ignoreCase') && !keys.includes('equals') && !keys.includes('in')) return 'ignoreCase goes with equals or in';
  return null;
}

/** True for the key `kind` that parsing adds to a condition. */
export const isParsedKind = (key: string, holder: object): boolean =>
  key === 'kind' && 'kind' in holder && typeof holder.kind === 'string' && Object.hasOwn(holder, holder.kind);

export type LeafVisitor<R> = { [K in LeafKind]: (test: Leaf<K>) => R };
export type Visitor<R> = { [K in RowKind]: (test: RowTest<K>) => R } & { leaf: (test: Leaf) => R };

export const isLeaf = (condition: Condition): condition is Leaf => condition.kind in LEAVES;

export const visitLeaf = <R, K extends LeafKind>(test: Leaf<K>, visitor: { [P in K]: (test: Leaf<P>) => R }): R => visitor[test.kind](test);

export const visit = <R>(condition: Condition, visitor: Visitor<R>): R =>
  isLeaf(condition) ? visitor.leaf(condition) : visitRow(condition, visitor);

const visitRow = <R, K extends RowKind>(test: RowTest<K>, visitor: { [P in K]: (test: RowTest<P>) => R }): R => visitor[test.kind](test);
