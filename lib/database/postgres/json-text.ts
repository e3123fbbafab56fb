/** Values out of JSON that anybody may have written: one row that the server cannot take apart must not break a list. */
import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription } from '../engine';

type Sql<T = unknown> = RawBuilder<T>;

/** With fewer openings than this no text is nested deeper than the server's stack reaches. */
const OPENINGS_MAX = 10_000;
/** Two halves of one character, and what no text of this server holds: NUL, and a half by itself. */
const PAIR = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const NO_TEXT = String.raw`\\u(0000|[dD][89a-fA-F])`;

/** The value at a path as text; NULL where there is none, and for a document whose escapes the server cannot write out. */
export function jsonText(column: Sql, path: string[], description: ColumnDescription): Sql<string | null> {
  const steps = sql`array[${sql.join(path.map((step) => sql.lit(step)))}]::text[]`;
  return whenReadable(column, description, 'json', (document) => sql<string | null>`${document} #>> ${steps}`);
}

/** The last element of a list, as JSON. */
export function lastOfJson(column: Sql, description: ColumnDescription): { sql: Sql; description: ColumnDescription } {
  const found = whenReadable(column, description, 'json array', (document) => sql`${document} -> -1`);
  return { sql: found, description: description.kind === 'json' ? description : { ...description, type: 'json', kind: 'json' } };
}

/** A text is not made into jsonb, which has no number of any length. */
function whenReadable<T>(
  column: Sql,
  { kind, type }: ColumnDescription,
  is: 'json' | 'json array',
  value: (document: Sql) => Sql<T>,
): Sql<T> {
  if (type === 'jsonb') return sql`(${value(column)})`;
  const text = sql`(${column})::text`;
  if (kind === 'json') return sql`(case when ${writable(text)} then ${value(column)} end)`;
  const [characters, openings] = [sql.lit(2 * OPENINGS_MAX), sql.lit(OPENINGS_MAX)];
  const shallow = sql`(case when length(${text}) < ${characters} then true else length(${text}) - length(translate(${text}, '[{', '')) < ${openings} end)`;
  const json = sql`(case when ${shallow} then ${text} is ${sql.raw(is)} end)`;
  return sql`(case when ${json} then (case when ${writable(text)} then ${value(sql`${text}::json`)} end) end)`;
}

/** Escaped backslashes go first: what follows one is no escape. */
function writable(text: Sql): Sql<boolean> {
  const escapes = sql`regexp_replace(replace(${text}, ${sql.lit('\\\\')}, ''), ${sql.lit(PAIR)}, '', 'g')`;
  return sql`(case when position(${sql.lit('\\u')} in ${text}) = 0 then true else ${escapes} !~ ${sql.lit(NO_TEXT)} end)`;
}
