/** Names of tables and columns, as in the catalogue. They are looked up there, and always quoted in SQL. */
import { z } from 'zod';

const LONGEST_NAME = 64;

/** One name, not quoted: `created_at`, `cap.published`. Looked up exactly, then ignoring case and underscores if only one fits. */
export const nameSchema = z
  .string()
  .min(1, 'write a name')
  .max(LONGEST_NAME, `at most ${LONGEST_NAME} characters: no database has longer names`)
  .refine((name) => !name.includes('\u0000'), 'a name holds no NUL character')
  .describe('A name as the catalogue has it, not quoted');

/** `outbox`, `shop.outbox`, or `{ schema: shop, table: cap.published }` if the name itself contains a dot. */
export const tableRefSchema = z
  .union([
    z
      .string()
      .min(1, 'write table or schema.table')
      .refine((text) => text.split('.').every((part) => part !== '' && part.length <= LONGEST_NAME), 'write table or schema.table')
      .refine((text) => !text.includes('\u0000'), 'a name holds no NUL character')
      .refine(
        (text) => text.split('.').length <= 2,
        'a name that holds a dot is written as a map, for instance { schema: shop, table: cap.published }',
      ),
    z.strictObject({ schema: nameSchema.optional(), table: nameSchema }),
  ])
  .describe('`table`, `schema.table`, or `{ schema, table }` where a name holds a dot');
export type TableRef = z.infer<typeof tableRefSchema>;

/** Schema and table of a reference; without a schema the engine's own lookup applies. */
export function tableParts(ref: TableRef): { schema: string | null; table: string } {
  if (typeof ref !== 'string') return { schema: ref.schema ?? null, table: ref.table };
  const dot = ref.indexOf('.');
  return dot === -1 ? { schema: null, table: ref } : { schema: ref.slice(0, dot), table: ref.slice(dot + 1) };
}

export function tableText(ref: TableRef): string {
  const { schema, table } = tableParts(ref);
  return schema === null ? table : `${schema}.${table}`;
}

export const groupsOf = (pattern: string): string[] => [...pattern.matchAll(/\(\?<([A-Za-z_]\w*)>/g)].flatMap(([, name]) => name ?? []);

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

/** Tables a shape fits besides its usual one; named groups of `pattern` are captured: `^watermill_(?<topic>.+)$`. */
export const tableMatchSchema = z.strictObject({
  names: z.array(z.string().min(1)).optional().describe('Other names the table goes by'),
  pattern: z
    .string()
    .refine(isPattern, 'write a regular expression')
    .optional()
    .describe('What its name looks like; named groups are captured'),
  schema: z.string().min(1).optional().describe('The schema it lives in'),
});
