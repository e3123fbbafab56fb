/**
 * How a number is known. exact: counted. capped: at least this many. estimated: computed from something that may have changed since.
 * sampled: observed at intervals. unavailable: this table cannot provide it; never drawn as zero.
 */
export const KNOWN = ['exact', 'capped', 'estimated', 'sampled', 'unavailable'] as const;
export type Known = (typeof KNOWN)[number];

/** Why an outbox cannot be read: its database is unreachable or too slow, or it answers but the table cannot be read. */
// prettier-ignore
export const UNREAD_REASONS = [
  'source_down', 'source_slow', 'no_privilege', 'table_missing', 'source_unusable', 'server_outdated',
] as const;
export type UnreadReason = (typeof UNREAD_REASONS)[number];

/** Why a number is unavailable; texts under `unavailable.<code>`. */
export const UNAVAILABLE_REASONS = [
  'not_in_schema',
  'deleted_on_publish',
  'external_relay',
  'needs_sampling',
  'no_created_at',
  'no_published_at',
  'no_claim_time',
  'no_attempts',
  'too_many_rows',
  'no_events',
  ...UNREAD_REASONS,
  'store_down',
  'not_watched',
  'backfilling',
  'no_slots',
  'slots_hidden',
  'slots_elsewhere',
  'slot_not_found',
  'several_slots',
  'too_large',
] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** True if no figure of the outbox is known, whatever its table has: it cannot be read, or the store that computes is down. */
export const hasNoValue = (why: UnavailableReason | undefined): boolean =>
  why === 'store_down' || (UNREAD_REASONS as readonly (string | undefined)[]).includes(why);

/** Reasons of the table itself: its figure is left out, and named once. */
// prettier-ignore
const LACKING: readonly (UnavailableReason | undefined)[] = [
  'not_in_schema', 'deleted_on_publish', 'external_relay', 'no_published_at', 'no_created_at', 'no_attempts', 'no_claim_time',
];
export const isLacking = (why: UnavailableReason | undefined): why is UnavailableReason => LACKING.includes(why);

interface Measure {
  known: Known;
  why?: UnavailableReason;
}

export interface Count extends Measure {
  /** null exactly when `known` is `unavailable`. */
  count: number | null;
}

/** A percentile is null if unavailable (`why`), or if it is too short to be measured (`atMostMs`). */
export interface Percentiles extends Measure, Record<'p50Ms' | 'p95Ms' | 'p99Ms', number | null> {
  /** Interval of observation, or resolution of the times: a null percentile is at most this. */
  atMostMs?: number;
  /** Largest error of a percentile, as a share of it; left out if exact, and if part of the time is not known. */
  errorShare?: number;
}

export interface Rate extends Measure {
  value: number | null;
}

/** Depth counts stop here: a larger backlog is shown as "10,000+". */
export const DEPTH_CAP = 10_000;

export const unavailable = (why: UnavailableReason): Count => ({ count: null, known: 'unavailable', why });
export const exact = (count: number): Count => ({ count, known: 'exact' });
/** Caps a count that was taken over at most `limit` + 1 rows. */
export const cappedAt = (count: number, limit: number): Count => (count > limit ? { count: limit, known: 'capped' } : exact(count));
