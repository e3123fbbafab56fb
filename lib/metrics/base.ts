import { sql } from 'kysely';
import { bucketSql } from './rollup/bucket-sql';
import { isState, milliseconds, once, secondsBefore, stepOf, type Sql } from './spelling';
import type { Traits } from './traits';

/** Of open and dead rows of the last two days the minute is told, of older ones the hour. */
const MINUTES_TOLD_SECONDS = 172_800;
/** Older open and dead rows count into no figure of a window. */
const OLDEST_TOLD_SECONDS = 7_776_000;

/**
 * The columns of the base every figure of now is an aggregate over: the open and dead rows, and those published since
 * the collector last folded. What was published before is in the rollups.
 */
export interface Base {
  traits: Traits;
  /** The moment of the reading by the clock of the database that was read. */
  now: Sql;
  /** A code: compare with `isState`. */
  state: Sql;
  type: Sql;
  created: Sql;
  published: Sql;
  /** When the relay last took the row. */
  attempted: Sql;
  /** When a dead row died, as near as the table tells. */
  died: Sql;
  attempts: Sql;
  /** Error of a row that failed and is not out, cut short. */
  error: Sql;
  /** Aggregate of a row, cut short. */
  key: Sql;
  /** Number of the transaction that last wrote a waiting row, and of the one that last took it or tried to; NULL where the engine does not tell. */
  written: Sql;
  taken: Sql;
  publishedLately: Sql;
  /** How many events are dead: rows of only the newest of them are in the base. */
  deadCount: Sql;
  /** The newest time of publishing in the table. */
  lastPublished: Sql;
  /** The newest creation among all published events: how far the relay has come. */
  frontier: Sql;
  /** The newest transaction that tried any waiting event, and the one that last touched the first of them (`touches`). */
  touch: Sql;
  headTouch: Sql;
  /** Whether the database keeps rows of its tables from the console's role. */
  hidden: Sql;
  /** What the server says of the replication slots behind it, as JSON; null where none can be looked at, or the rows tell. */
  slots: Sql | null;
}

export function baseOf({ traits, now, deadCount, hidden, slots }: Pick<Base, 'traits' | 'now' | 'deadCount' | 'hidden' | 'slots'>): Base {
  return {
    traits,
    now,
    state: sql.ref('state'),
    type: sql.ref('type'),
    created: sql.ref('created'),
    published: sql.ref('published'),
    attempted: sql.ref('attempted'),
    died: sql.ref('died'),
    attempts: sql.ref('attempts'),
    error: sql.ref('error'),
    key: sql.ref('key'),
    written: sql.ref('written'),
    taken: sql.ref('taken'),
    publishedLately: isState(sql.ref('state'), 'published'),
    deadCount,
    lastPublished: sql`(select last_published from edges)`,
    frontier: sql`(select frontier from edges)`,
    touch: sql`(select touch from edges)`,
    headTouch: sql`(select head_touch from edges)`,
    hidden,
    slots,
  };
}

/** The times by which rows of the base are counted into minutes since the epoch. */
export const AXES = ['created', 'died', 'claimed'] as const;
export type Axis = (typeof AXES)[number];

/** What the base adds to the rows read, worked out once per row; `now` is the moment of the reading. */
export function baseQuery(rows: Sql, now: Sql): Sql {
  const column = (name: string): Sql => sql.ref(`s.${name}`);
  const isPublished = isState(column('state'), 'published');
  // What a clock ahead of the database's dates into the future counts as now.
  const newest = once(stepOf(now, 60));
  const minute = (time: Sql): Sql => sql`case when ${time} is not null then least(${stepOf(time, 60)}, ${newest}) end`;
  const hour = (time: Sql): Sql => sql`floor(${stepOf(time, 60)} / 60.0)::int * 60`;
  const sliced = (when: Sql, time: Sql): Sql =>
    sql`case when ${when} and ${time} >= ${once(secondsBefore(now, OLDEST_TOLD_SECONDS))}
      then case when ${time} >= ${once(secondsBefore(now, MINUTES_TOLD_SECONDS))} then ${minute(time)} else ${hour(time)} end end`;
  const latency = milliseconds(column('created'), column('published'));
  const processing = milliseconds(column('attempted'), column('published'));
  return sql`select s.*,
    case when ${isPublished} then ${minute(column('published'))} end as published_minute,
    case when ${isPublished} then ${latency} end as latency, case when ${isPublished} then ${bucketSql(latency)} end as latency_bucket,
    case when ${isPublished} and ${column('attempted')} < ${column('published')} then ${bucketSql(processing)} end as processing_bucket,
    ${sliced(sql`true`, column('created'))} as created_slice, ${sliced(isState(column('state'), 'dead'), column('died'))} as died_slice,
    ${sliced(isState(column('state'), 'processing'), column('attempted'))} as claimed_slice
    from (${rows}) as s`;
}
