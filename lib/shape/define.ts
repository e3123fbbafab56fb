/** Short forms for writing shapes of the catalogue; each returns plain shape language. */
import type { ChangeRuleInput, ValueInput } from './schema/operation';
import type { Scalar } from './schema/condition';
import type { ColumnRole, TIME_ENCODINGS } from './schema/source';
import { formatPath } from '@/lib/shared/lists/document-path';
import { shapeProblems } from './check';
import { shapeSchema, type Shape, type ShapeInput } from './shape';

/** Parses and checks a shape when its module loads, so that a wrong one fails every test instead of a request. */
export function defineShape(input: ShapeInput): Shape {
  const shape = shapeSchema.parse(input);
  const problems = shapeProblems(shape).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (problems.length > 0) throw new Error(`shape ${shape.key}: ${problems.join('; ')}`);
  return shape;
}

type State = ChangeRuleInput['from'][number];
type Written = Record<string, Scalar | null | ValueInput>;

export const names = (text: string): string[] => text.trim().split(/\s+/);
/** Columns called as their roles, in lower case with underscores: createdAt is in `created_at`. */
export const namedAsRole = <R extends ColumnRole>(...roles: R[]): Record<R, string> =>
  Object.fromEntries(roles.map((role) => [role, role.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])) as Record<R, string>;

export const is = (column: string, equals: Scalar) => ({ column, equals });
export const above = (column: string, number: number) => ({ column, above: number });
export const atLimit = (column: string) => ({ column, atLeast: { parameter: 'maxAttempts' } });

const encoded = (time: (typeof TIME_ENCODINGS)[number]) => (column: string) => ({ column, time });
export const utc = encoded('utc');
export const ms = encoded('epoch_ms');

/** The time of the change, by the database's clock. */
export const NOW = { now: true } as const;

/** One rule per status word of a column, labelled with the word. */
export const byWord = (column: string, states: Record<string, State>) =>
  Object.entries(states).map(([word, state]) => ({ state, label: word, when: is(column, word) }));

/** Assignments by column: a plain value, or any other form of one. */
export function writes(set: Written): Record<string, ValueInput> {
  return Object.fromEntries(
    Object.entries(set).map(([column, value]) => [column, typeof value === 'object' && value !== null ? value : { value }]),
  );
}

const rule =
  (version: ChangeRuleInput['version']) =>
  (from: State | State[], set: Written, rest: Omit<ChangeRuleInput, 'from' | 'version' | 'set'> = {}): ChangeRuleInput => ({
    from: [from].flat(),
    version,
    set: writes(set),
    ...rest,
  });
/** A rule for rows that no relay works on; the version covers the whole row. */
export const exact = rule('exact');
/** A rule for rows that a relay keeps rewriting; the version covers what it does not rewrite. */
export const stable = rule('stable');

/** A rule that takes rows back from a relay that stopped at the time in the column `since`: it may have sent them. */
export const takenBack = (
  from: State | State[],
  since: string,
  set: Written,
  { warnings = [], ...rest }: Parameters<typeof exact>[2] = {},
) => exact(from, set, { olderThanStuckAfter: since, warnings: ['may_already_be_out', ...warnings], ...rest });

/** A rule that makes events scheduled for later due now. */
export const dueNow = (from: State, column: string, rest: Parameters<typeof stable>[2]): ChangeRuleInput =>
  stable(from, { [column]: NOW }, { guard: { column, future: true }, ...rest });

/** Rules that let events start over: dead ones, and those that a relay still retries. */
export const startAgain = (set: Written, rest?: Parameters<typeof exact>[2]): ChangeRuleInput[] => [
  exact('dead', set, rest),
  stable('retrying', set, rest),
];

const factsFrom =
  (verified: NonNullable<ShapeInput['facts']>['verified']) =>
  (source: string, ...warnings: string[]): ShapeInput['facts'] => ({ source, verified, warnings });
/** Where a shape is from, with the warnings for its readers: by running the library, by its source, or by a part of that. */
export const byRunning = factsFrom('ran');
export const bySource = factsFrom('source');
export const byPart = factsFrom('partial');

/** Operations that are not offered, each with its reason. */
export const refused = <K extends string>(reasons: Record<K, string>): Record<K, { refuse: string }> =>
  Object.fromEntries(Object.entries<string>(reasons).map(([key, refuse]) => [key, { refuse }])) as Record<K, { refuse: string }>;
