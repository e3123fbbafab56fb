/** The rows of the base over time: those of now by one of their times, and what was published since the last fold. */
import { sql } from 'kysely';
import { bucketSql } from '@/lib/rollup/histogram';
import type { Part } from '@/lib/outbox/scan/sources';
import {
  count,
  isState,
  jsonObject,
  jsonRows,
  milliseconds,
  once,
  secondsBefore,
  stepOf,
  workedOut,
  type Figures,
  type Sql,
} from '@/lib/outbox/scan/sql-terms';

/** Open and dead rows of the last two days are counted by minute, older ones by hour. */
const MINUTES_TOLD_SECONDS = 172_800;
/** Open and dead rows older than 90 days count into no figure of a window. */
const OLDEST_TOLD_SECONDS = 7_776_000;

/** The times by which rows of the base are counted into minutes since the epoch. */
export const AXES = ['created', 'died', 'claimed'] as const;
export type Axis = (typeof AXES)[number];

const state = sql.ref('state');
const isWaiting = isState(state, 'pending', 'retrying');

/** Rows that left, or will leave, at an unknown time. */
const untold = sql`not ${isWaiting} and case when ${isState(state, 'published')} then published
  when ${isState(state, 'dead')} then died when ${isState(state, 'processing')} then attempted end is null`;

const TOLD: Record<Axis, { part: Part | null; time: Sql; rows: Sql; counts: Figures }> = {
  created: { part: null, time: sql.ref('created'), rows: sql`true`, counts: { untold: count(untold) } },
  died: { part: 'dead', time: sql.ref('died'), rows: isState(state, 'dead'), counts: {} },
  claimed: { part: 'processing', time: sql.ref('attempted'), rows: isState(state, 'processing'), counts: {} },
};

/** Rows per slice of time, by one of their times; for creation also how many left, or will leave, at an unknown time. */
export function slicesQuery(now: Sql, absent: readonly Part[]): Sql {
  const axes = AXES.filter((axis) => !absent.some((part) => part === TOLD[axis].part));
  return jsonObject(Object.fromEntries(axes.map((axis) => [axis, sliceQuery(axis, now)])));
}

function sliceQuery(axis: Axis, now: Sql): Sql {
  const { time, rows, counts } = TOLD[axis];
  const since = (seconds: number): Sql => sql`${time} >= ${once(secondsBefore(now, seconds))}`;
  const slice = sql`case when ${since(MINUTES_TOLD_SECONDS)} then ${minuteOf(time, now)} else ${stepOf(time, 3_600)} * 60 end`;
  const columns = { n: sql`count(*)`, ...counts };
  const each = Object.entries(columns).map(([name, value]) => sql`${value} as ${sql.id(name)}`);
  const column = (name: string): [string, Sql] => [name, sql`array_agg(${sql.ref(`s.${name}`)})`];
  // One array per column: one object per row would cost more than its values.
  return sql`(select ${jsonObject(Object.fromEntries(['at', ...Object.keys(columns)].map(column)))} from
    (select ${slice} as at, ${sql.join(each)} from base where ${rows} and ${since(OLDEST_TOLD_SECONDS)} group by 1) as s)`;
}

/** Times in the future, from a clock ahead of the database's, count as now. */
const minuteOf = (time: Sql, now: Sql): Sql => sql`least(${stepOf(time, 60)}, ${once(stepOf(now, 60))})`;

/** What was published since the last fold, as the rollups will hold it; `acted`: what operators changed is apart. */
export function publishedSlices(now: Sql, acted: boolean): Sql {
  const [mark, apart] = acted ? [sql`, touched is not null as touched`, sql`, touched`] : [sql``, sql``];
  const [latency, processing] = [sql.ref('latency'), sql.ref('processing')];
  // Not flattened: durations would be computed again wherever they are used.
  const rows = sql`select ${minuteOf(sql.ref('published'), now)} as at, type, ${milliseconds(sql.ref('created'), sql.ref('published'))} as latency,
    case when attempted < published then ${milliseconds(sql.ref('attempted'), sql.ref('published'))} end as processing${mark}
    from base where ${isState(state, 'published')} and published is not null ${workedOut()}`;
  return jsonRows(sql`select at, type${apart}, ${bucketSql(latency)} as latency, ${bucketSql(processing)} as processing, count(*) as n,
    coalesce(sum(greatest(0, latency)), 0) as ms, ${count(sql`latency < 0`)} as negative from (${rows}) as p group by 1, 2, 3, 4${acted ? sql`, 5` : sql``}`);
}
