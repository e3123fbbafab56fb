import { sql } from 'kysely';
import { STEP_SECONDS, WINDOW_SECONDS, type Window } from '@/lib/shared/windows';
import { secondsAgo, type Sql } from './spelling';
import type { Traits } from './traits';

/** Verdicts look at the last hour whatever window a viewer has chosen, so that all viewers get the same one. */
export const VERDICT_SECONDS = WINDOW_SECONDS['1h'];

/**
 * The columns of the base every figure is an aggregate over: the open and dead rows, and those published (where no
 * time of publishing is kept: created) since the start of the window or of the last hour, whichever is longer.
 */
export interface Base {
  traits: Traits;
  window: Window;
  stepSeconds: number;
  state: Sql;
  type: Sql;
  created: Sql;
  published: Sql;
  /** When the relay last took the row. */
  attempted: Sql;
  /** When a dead row died, as near as the table tells. */
  died: Sql;
  attempts: Sql;
  /** Error of a dead row, cut short. */
  error: Sql;
  /** Milliseconds from creation to publishing of a published row, never negative. */
  latency: Sql;
  windowStart: Sql;
  /** The newest time of publishing in the table, whatever the window. */
  lastPublished: Sql;
  /** The newest creation among all published events, whatever the window: how far the relay has come. */
  frontier: Sql;
}

export function baseOf(traits: Traits, window: Window): Base {
  return {
    traits,
    window,
    stepSeconds: STEP_SECONDS[window],
    state: sql.ref('state'),
    type: sql.ref('type'),
    created: sql.ref('created'),
    published: sql.ref('published'),
    attempted: sql.ref('attempted'),
    died: sql.ref('died'),
    attempts: sql.ref('attempts'),
    error: sql.ref('error'),
    latency: sql.ref('latency'),
    windowStart: secondsAgo(WINDOW_SECONDS[window]),
    lastPublished: sql`(select last_published from edges)`,
    frontier: sql`(select frontier from edges)`,
  };
}

/** How far back published rows are read, in seconds. */
export const baseSeconds = (window: Window): number => Math.max(WINDOW_SECONDS[window], VERDICT_SECONDS);
