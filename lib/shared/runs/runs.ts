/** A run: a plan being carried out, window by window, by one process at a time. */
import type { PlanRequest } from './plans';

/** Most events of one batch, which is one intervention; the doors take fewer (INTERVENTION_EVENTS_MAX). */
export const BATCH_EVENTS_MAX = 500;

export const RUN_STATES = ['queued', 'running', 'paused', 'done', 'cancelled'] as const;
export type RunState = (typeof RUN_STATES)[number];

/**
 * Why a run waits. `operator`: somebody paused it. `first_is_out`: the plan warns, and the first event is out: it waits for a word.
 * `same_cause`: events failed again for their cause; `failed_again`: for any, where no error is kept, or too many of a window.
 * `relay_takes_nothing`: no event had a fate for a minute. `fresh_events_wait`: new events wait 10 s longer than before the run.
 * `not_allowed`: the maker may no longer operate. `plan_void`: the table, the plan or the policy changed. `read_only`: the outbox takes no
 * changes. `unavailable`: its database does not answer; it goes on by itself.
 */
export const PAUSE_REASONS = [
  'operator',
  'first_is_out',
  'same_cause',
  'failed_again',
  'relay_takes_nothing',
  'fresh_events_wait',
  'not_allowed',
  'plan_void',
  'read_only',
  'unavailable',
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** `share`: of the relay's time, 0.05 to 1; `ratePerSecond`: at most so many events a second, on top. */
export interface Pace {
  share: number;
  ratePerSecond: number | null;
}
export const DEFAULT_PACE: Pace = { share: 0.5, ratePerSecond: null };
export const SHARE_MIN = 0.05;
export const RATE_MIN = 0.1;
export const RATE_MAX = 100_000;

export const RUN_FATES = ['published', 'gone', 'failedAgain', 'waiting', 'notKnown'] as const;
export type RunFate = (typeof RUN_FATES)[number];

/** requested = changed + conflicted + locked + failed + unknown + remaining, always; and changed = the sum of the fates. */
export interface RunCounts extends Record<'requested' | 'changed' | 'conflicted' | 'locked' | 'failed' | 'unknown' | 'remaining', number> {
  /** All 0 for operations after which no relay takes the events. */
  fates: Record<RunFate, number>;
}

export const NO_COUNTS: RunCounts = {
  ...{ requested: 0, changed: 0, conflicted: 0, locked: 0, failed: 0, unknown: 0, remaining: 0 },
  fates: { published: 0, gone: 0, failedAgain: 0, waiting: 0, notKnown: 0 },
};

export interface Run extends RunCounts, PlanRequest, Record<'id' | 'plan' | 'outbox' | 'maker' | 'createdAt', string> {
  state: RunState;
  because: PauseReason | null;
  pace: Pace;
  /** Whether its events are sent again, so that their fates are followed. */
  followed: boolean;
  /** The relay deletes what it has sent: then `gone` is out, as far as the table can tell. */
  goneIsOut: boolean;
  /** Events in the window that was sent last and in the one that comes next; 0 before the first. */
  window: { size: number; next: number };
  /** How long the first event took to be published, in milliseconds; null while it is not. */
  firstOutMs: number | null;
  /** Why events were left alone, or what they wait for: code → how many. `failed_again`, `waiting` among them. */
  left: Record<string, number>;
  /** The error of one that failed again, masked as the reader sees errors. */
  error: string | null;
  beganAt: string | null;
  endedAt: string | null;
  /** Fates are looked at until then. */
  followedUntil: string | null;
  /** Of the figures; ISO 8601 UTC. */
  asOf: string;
  /** Runs of the outbox that go first. */
  before: number;
}
