import { sql } from 'kysely';
import { STEP_SECONDS, WINDOW_SECONDS, type Window } from '@/lib/shared/windows';
import { isState, milliseconds, now, once, secondsAgo, stepOf, type Sql } from './spelling';
import type { Traits } from './traits';

/** Verdicts look at the last hour whatever window a viewer has chosen, so that all viewers get the same one. */
export const VERDICT_SECONDS = WINDOW_SECONDS['1h'];

/**
 * The columns of the base every figure is an aggregate over: the open and dead rows, and those published (where no
 * time of publishing is kept: created) since the start of the window or of the last hour, whichever is longer.
 */
export interface Base {
  traits: Traits;
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
  /** Aggregate of a row that is not out, cut short. */
  key: Sql;
  /** Number of the transaction that last wrote a waiting row, and of the one that last took it or tried to; NULL where the engine does not tell. */
  written: Sql;
  taken: Sql;
  /** Milliseconds from creation to publishing of a published row, never negative. */
  latency: Sql;
  /** Whether the row was created in the window. */
  createdIn: Sql;
  /** Whether the row is published, and was within the window. */
  publishedIn: Sql;
  /** Whether the row is published, and was (where no time is kept: was created) within the last hour. */
  publishedLately: Sql;
  /** Whether the row is dead, and died in the window. */
  diedIn: Sql;
  /** The newest time of publishing in the table, whatever the window. */
  lastPublished: Sql;
  /** The newest creation among all published events, whatever the window: how far the relay has come. */
  frontier: Sql;
}

export function baseOf(traits: Traits): Base {
  return {
    traits,
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
    latency: sql.ref('latency'),
    createdIn: sql.ref('created_in'),
    publishedIn: sql.ref('published_in'),
    publishedLately: sql.ref('published_lately'),
    diedIn: sql.ref('died_in'),
    lastPublished: sql`(select last_published from edges)`,
    frontier: sql`(select frontier from edges)`,
  };
}

/** The times a series groups rows by: a row counts into the step of its time when that lies in the window. */
export const AXES = ['created', 'published', 'died', 'claimed'] as const;
export type Axis = (typeof AXES)[number];

/** What the base adds to the rows read: what figures ask again and again, worked out once per row. */
export function baseQuery(rows: Sql, window: Window): Sql {
  const start = once(secondsAgo(WINDOW_SECONDS[window]));
  const seconds = STEP_SECONDS[window];
  const column = (name: string): Sql => sql.ref(`s.${name}`);
  const [state, created, published, attempted, died] = ['state', 'created', 'published', 'attempted', 'died'].map(column) as [
    Sql,
    Sql,
    Sql,
    Sql,
    Sql,
  ];
  const within = (time: Sql): Sql => sql`${time} >= ${start}`;
  // What a clock ahead of the database's dates into the future counts as now.
  const step = (when: Sql, time: Sql): Sql =>
    sql`case when ${when} and ${within(time)} then least(${stepOf(time, seconds)}, ${once(stepOf(now(), seconds))}) end`;
  const isPublished = isState(state, 'published');
  return sql`select s.*, case when ${isPublished} and ${created} is not null and ${published} is not null then greatest(0, ${milliseconds(created, published)}) end as latency,
    ${within(created)} as created_in, (${isPublished} and ${within(published)}) as published_in, (${isState(state, 'dead')} and ${within(died)}) as died_in,
    (${isPublished} and coalesce(${published}, ${created}) >= ${once(secondsAgo(VERDICT_SECONDS))}) as published_lately,
    ${step(sql`true`, created)} as created_step, ${step(isPublished, published)} as published_step,
    ${step(isState(state, 'dead'), died)} as died_step, ${step(isState(state, 'processing'), attempted)} as claimed_step
    from (${rows}) as s`;
}

/** How far back published rows are read, in seconds. */
export const baseSeconds = (window: Window): number => Math.max(WINDOW_SECONDS[window], VERDICT_SECONDS);
