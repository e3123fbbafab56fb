/**
 * Readings of databases that would work a named subquery out anew at every place that uses it: their bounded rows are read
 * there and fetched to where the figures are computed, by the same statement as everywhere (`compute-in-store.ts`).
 */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import { BASE_COLUMNS, countedName, rowsFrom, type BaseColumn, type ReadingInput, type Plan } from './reading-sql';
import { FETCHED_ROWS, SCAN } from '@/lib/outbox/scan/scan';
import type { WalkEnds } from '@/lib/outbox/scan/source';
import type { Sql } from '@/lib/outbox/scan/sql-terms';

const NAMES = Object.keys(BASE_COLUMNS) as BaseColumn[];
const NUMBERS: readonly BaseColumn[] = ['state', 'attempts', 'written', 'taken'];

type FetchedRow = Record<BaseColumn, string | number | null> & { source: string };

/** Which part of the answer holds what is no row: the ends of the table, the moment, and whether rows are hidden. */
const ENDS = 'ends';

/**
 * Reads the sources of a plan, what is counted beside them and the ends of the table in one statement on one snapshot, by
 * the indexes the sources name; bounded as they are, locks nothing. A scan along a key has its ends read just before.
 * Throws DatabaseFailure.
 */
export async function fetchRows(db: Db, outbox: Outbox, plan: Plan): Promise<ReadingInput> {
  const walked = await walkedEnds(db, plan);
  const { rows } = await fetchStatement(outbox, plan, walked?.edge ?? null).execute(db);
  const bySource = new Map<string, FetchedRow[]>();
  for (const row of rows) {
    const own = bySource.get(row.source);
    if (own === undefined) bySource.set(row.source, [row]);
    else own.push(row);
  }
  const ends = bySource.get(ENDS)?.[0];
  if (ends?.attempted == null) throw new Error('a reading says when it was taken');
  return {
    ...plan,
    sources: plan.sources.map((source) => ({
      ...source,
      query: rowsFrom(asJson(bySource.get(source.name) ?? [])),
      counted: source.counted === null ? null : sql`select ${countOf(bySource.get(countedName(source.name)))} as n`,
    })),
    lastPublished: plan.lastPublished === null ? null : instant(ends.published),
    frontier: plan.frontier === null ? null : instant(ends.created),
    now: instant(ends.attempted),
    hidden: sql.lit(Number(ends.attempts) === 1),
    slots: null,
    scanEdges: walked === null ? null : edgesOf(walked, plan, bySource.get(SCAN)?.length ?? 0),
  };
}

async function walkedEnds(db: Db, { sources }: Plan): Promise<WalkEnds | null> {
  const walk = sources.find(({ name }) => name === SCAN)?.walk ?? null;
  return walk === null ? null : ((await walk.ends.execute(db)).rows[0] ?? null);
}

/** Of a scan of which not every row of the base was fetched, as many were looked at as would have cut it short. */
function edgesOf({ n, newest_created, last_published }: WalkEnds, { sources }: Plan, fetched: number): Sql {
  const limit = sources.find(({ name }) => name === SCAN)?.limit ?? 0;
  const rows = fetched < FETCHED_ROWS ? Number(n) : limit;
  return sql`select ${sql.lit(rows)}::bigint as n, ${instant(newest_created)} as newest_created, ${instant(last_published)} as last_published`;
}

/** Each part in parentheses, so that its order and its limit are its own. */
function fetchStatement(outbox: Outbox, { sources, lastPublished, frontier, traits }: Plan, edge: string | null): Sql<FetchedRow> {
  const { fragments } = outbox.database.engine;
  const nothing = (name: BaseColumn): Sql => fragments.nothing(NUMBERS.includes(name) ? 'integer' : 'text');
  const one = (source: string, values: Partial<Record<BaseColumn, Sql>>): Sql =>
    sql`(select ${fragments.bytewise(sql.lit(source))} as source, ${sql.join(NAMES.map((name) => sql`${values[name] ?? nothing(name)} as ${sql.id(name)}`))})`;
  const told = (value: Sql | null): Sql => (value === null ? fragments.nothing('text') : fragments.instantText(value));
  const parts = [
    one(ENDS, {
      created: told(frontier),
      published: told(lastPublished),
      attempted: told(fragments.now()),
      attempts: sql`case when ${fragments.hidesRows(traits.tables)} then 1 else 0 end`,
    }),
    ...sources.flatMap(({ name, query, walk, counted }) => [
      // Without a last row there is none.
      ...(walk === null ? [sql`(${query})`] : edge === null ? [] : [sql`(${walk.rows(edge)})`]),
      ...(counted === null ? [] : [one(countedName(name), { attempts: sql`(${counted})` })]),
    ]),
  ];
  return sql<FetchedRow>`${sql.join(parts, sql` union all `)}`;
}

/** What is NULL is left out. */
const asJson = (rows: readonly FetchedRow[]): string =>
  JSON.stringify(
    rows.map((row) => Object.fromEntries(NAMES.flatMap((name) => (row[name] === null ? [] : [[name, withoutNul(row[name])]])))),
  );

/** PostgreSQL's texts hold every character but this one. */
const withoutNul = (value: string | number | null): string | number | null =>
  typeof value === 'string' && value.includes('\u0000') ? value.replaceAll('\u0000', '\ufffd') : value;

const instant = (iso: string | number | null): Sql => sql`cast(${iso} as timestamptz)`;
const countOf = (rows: readonly FetchedRow[] | undefined): Sql => sql.lit(Number(rows?.[0]?.attempts ?? 0));
