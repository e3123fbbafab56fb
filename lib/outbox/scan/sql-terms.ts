/** SQL for figures, always run by PostgreSQL: the outbox's own server, or the store. Each engine has its own SQL to read rows. */
import { sql, type RawBuilder } from 'kysely';
import { postgresFragments } from '@/lib/database/postgres/fragments';
import type { LiveState } from '@/lib/shared/states';

export type Sql<T = unknown> = RawBuilder<T>;
export type Figures = Record<string, Sql>;

export const nullInstant: Sql = postgresFragments.nothing('instant');
export const nullNumber: Sql = postgresFragments.nothing('integer');

/** When the statement began: the start of the transaction is a little older than what the statement sees. */
export const now = (): Sql => sql`statement_timestamp()`;
/** A value that is the same for every row, computed once. */
export const once = (value: Sql): Sql => sql`(select ${value})`;

export const { sane, instantText: iso, epochSteps: stepOf, secondsBefore, workedOut } = postgresFragments;
/** date_part() rather than extract(): the latter computes in numeric, at three times the cost. */
export const milliseconds = (from: Sql, to: Sql): Sql => sql`(date_part('epoch', ${to} - ${from}) * 1000)`;

export const count = (where: Sql): Sql => sql`count(*) filter (where ${where})`;
export const earliest = (value: Sql, where: Sql): Sql => sql`min(${value}) filter (where ${where})`;
export const latest = (value: Sql, where: Sql): Sql => sql`max(${value}) filter (where ${where})`;
export const sum = (value: Sql, where: Sql): Sql => sql`coalesce(sum(${value}) filter (where ${where}), 0)`;
export const mostFrequent = (value: Sql, where: Sql): Sql => sql`mode() within group (order by ${value}) filter (where ${where})`;
/** State codes of the base: a number is compared at a fraction of a text's cost. */
const STATE_CODES: Record<LiveState, number> = { pending: 1, retrying: 2, processing: 3, published: 4, dead: 5 };
export const stateCode = (state: LiveState): Sql => sql.lit(STATE_CODES[state]);
export const isState = (state: Sql, ...states: LiveState[]): Sql =>
  states.length === 1 ? sql`${state} = ${sql.join(states.map(stateCode))}` : sql`${state} in (${sql.join(states.map(stateCode))})`;

export const jsonObject = (members: Figures): Sql =>
  sql`json_build_object(${sql.join(Object.entries(members).flatMap(([name, value]) => [sql`${sql.lit(name)}::text`, value]))})`;
/** A value per type (`perType`), as a column of `types`. */
export const typed = (owner: string, name: string): Sql => sql.id(`${owner}.${name}`);
/** The type with the highest count; of several, the first in byte order. */
export const typeWithMost = (owner: string, name: string): Sql =>
  sql`(select type from types where ${typed(owner, name)} > 0 order by ${typed(owner, name)} desc, type limit 1)`;
/** The rows of a subquery as a JSON array of objects. */
export const jsonRows = (query: Sql): Sql => sql`(select coalesce(json_agg(row_to_json(r)), '[]'::json) from (${query}) as r)`;
