/** The roles of columns, and where a role's value is found. */
import { z } from 'zod';
import { type Condition, type WrittenCondition, conditionSchema, scalarSchema } from './condition';
import { nameSchema } from './names';
import { type Amount, amountSchema } from './parameters';

/** `auto`: by its type, zone-less times in `parameters.timeZone`. `utc`: zone-less, in UTC. `epoch_ms`, `epoch_s`: numbers. `iso`: text. */
export const TIME_ENCODINGS = ['auto', 'utc', 'epoch_ms', 'epoch_s', 'iso'] as const;
export const timeEncodingSchema = z.enum(TIME_ENCODINGS).describe('How the column spells a time; by its type when left out');

/** Where a value is found: `created_at`, `{column: headers, path: [trace_id]}`, `{anyOf: […]}`, …; docs/mapping.md has a line for each. */
export type Source<C = Condition> =
  | string
  | {
      column: string;
      path?: string[];
      last?: boolean;
      time?: (typeof TIME_ENCODINGS)[number];
      minus?: Amount;
      when?: C;
      join?: string;
      latest?: string;
      optional?: boolean;
    }
  | { captured: string }
  | { value: string | number | boolean }
  | { anyOf: Source<C>[] };

const written = z.lazy(() =>
  z.union([
    nameSchema,
    z
      .strictObject({
        column: nameSchema.optional(),
        path: z.array(z.string().min(1)).min(1).optional().describe('Steps into JSON'),
        last: z.boolean().optional().describe('The last element of a list'),
        time: timeEncodingSchema.optional(),
        minus: amountSchema.optional().describe('So many seconds before the time of the column'),
        when: conditionSchema.optional().describe('For the rows that pass; NULL for the others'),
        join: z.string().min(1).optional().describe('The companion that holds the column'),
        latest: nameSchema.optional().describe("The companion's column by which the newest of several rows is found"),
        optional: z.boolean().optional().describe('The table may lack it'),
        captured: z.string().min(1).optional().describe("A part of the table's name"),
        value: scalarSchema.optional().describe('The same for every row'),
        anyOf: z.array(sourceSchema).min(1).optional().describe('The first whose columns exist'),
      })
      .superRefine((source, context) => {
        const ways = (['column', 'captured', 'value', 'anyOf'] as const).filter((key) => source[key] !== undefined);
        if (ways.length !== 1) context.addIssue({ code: 'custom', message: 'write one of column, captured, value or anyOf' });
        const beside = (['path', 'last', 'time', 'minus', 'when', 'join'] as const).filter((key) => source[key] !== undefined);
        if (source.latest !== undefined && source.join === undefined)
          context.addIssue({ code: 'custom', message: 'latest goes with join: write both, or leave latest out' });
        if (ways[0] !== 'column' && beside.length > 0)
          context.addIssue({ code: 'custom', message: `${beside.join(', ')} goes with column: write one, or leave it out` });
      }),
  ]),
);

export const sourceSchema: z.ZodType<Source, Source<WrittenCondition>> = written as unknown as z.ZodType<Source, Source<WrittenCondition>>;

/** The columns that identify a row. An id of several columns is its parts, `%` and `~` percent-encoded, joined by `~`. */
export const idSchema = z.union([
  nameSchema,
  z.array(nameSchema).min(1),
  z.strictObject({ column: nameSchema, optional: z.boolean().optional() }),
  z.strictObject({ columns: z.array(nameSchema).min(1) }),
]);
export type IdSource = z.infer<typeof idSchema>;

export function idColumns(id: IdSource): string[] {
  if (typeof id === 'string') return [id];
  if (Array.isArray(id)) return id;
  return 'columns' in id ? id.columns : [id.column];
}

const role = (what: string) => sourceSchema.optional().describe(what);

/** The roles of a table: `{ id: id, type: event_type, createdAt: created_at, payload: payload }`. */
export const columnsSchema = z.strictObject({
  id: idSchema.optional().describe('The column, or columns, that name one row'),
  sequence: role('A number that grows with every event'),
  type: role('What kind of event it is'),
  topic: role('Where it is sent'),
  aggregateType: role('What kind of thing the event is about'),
  aggregateId: role('Which one the event is about'),
  orderingKey: role('Events of one key are sent one after the other'),
  createdAt: role('When it was written'),
  publishedAt: role('When it was sent'),
  attemptedAt: role('When the relay last took it'),
  lockedUntil: role('Until when a claim holds'),
  lockedBy: role('Who holds the claim'),
  availableAt: role('Not before this is it tried'),
  diedAt: role('When the relay gave it up'),
  attempts: role('How often it was tried'),
  maxAttempts: role('How often it may be tried'),
  error: role('What went wrong last'),
  dedupKey: role('What duplicates are told by'),
  traceId: role('The trace it belongs to'),
  payload: role('What is sent'),
  headers: role('What is sent beside it'),
  version: role('A counter that changes with the row'),
});
export type Columns = z.infer<typeof columnsSchema>;

/** The meanings a value of a row can have, in the order of the documentation. */
export type ColumnRole = keyof Columns;
export const COLUMN_ROLES = Object.keys(columnsSchema.shape) as ColumnRole[];

export type ValueRole = Exclude<ColumnRole, 'id'>;
export const VALUE_ROLES = COLUMN_ROLES.filter((role): role is ValueRole => role !== 'id');
/** Roles whose values are instants, whatever type their column has. */
export const TIME_ROLES = ['createdAt', 'publishedAt', 'attemptedAt', 'lockedUntil', 'availableAt', 'diedAt'] as const;
export const isTimeRole = (role: ValueRole): boolean => TIME_ROLES.some((one: ValueRole) => one === role);
