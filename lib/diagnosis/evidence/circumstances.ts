import type { UnreadReason } from '@/lib/shared/figures/measured';
import type { Summary } from '@/lib/shared/model';
import type { Evidence, Verdict } from '@/lib/shared/figures/verdicts';
import type { Base } from '@/lib/live/reading-sql';
import { slotsIn, type Past, type Reading } from '@/lib/live/reading';
import type { SlotHistory } from '@/lib/outbox/replication-slots/progress';
import type { Cell } from '@/lib/rollup/cell';
import type { Figures } from '@/lib/outbox/scan/sql-terms';

/** What the collector has seen of an outbox lately. */
export interface RecentHistory {
  /** Of the last hour, oldest first; a minute nobody watched is not there. */
  minutes: readonly Cell[];
  /** Event types of which an event was published at any time that is remembered. */
  typesPublished: ReadonlySet<string>;
}

/** Everything a verdict may be judged from. */
export interface Circumstances {
  /** null when the source has never answered. */
  reading: Reading | null;
  /** The reading's figures as the viewer sees them. */
  figures: Omit<Summary, 'diagnosis'> | null;
  /** Why the newest attempt to read failed; null when it did not. */
  failure: Failure | null;
  /** Readings of the last 15 minutes before this one, oldest first. */
  previous: readonly Past[];
  /** null where nothing has been collected yet. */
  history: RecentHistory | null;
  /** Milliseconds since the epoch by the database's clock: the time of the reading, or of the failure. */
  now: number;
}

export interface Failure {
  /**
   * timeout: it has not answered yet, for longer than anybody waits. unavailable: it could not be reached. The others answer, but
   * not about this table: it, or the line of those who ask it, is too slow, or a lock is in the way (slow), the role may not read it (no_privilege), it is not there (missing), the server may be too old for what it was asked
   * (outdated), or it is not what the shape needs (unusable); or the rows were read and the store did not compute their
   * figures (no_store).
   */
  kind: 'timeout' | 'unavailable' | 'slow' | 'no_privilege' | 'missing' | 'outdated' | 'unusable' | 'no_store';
  /** First failure since it last answered, ISO 8601 UTC. */
  since: string;
}

/** What an outbox that was not read this way is said to be. */
export const UNREAD: Record<Exclude<Failure['kind'], 'no_store'>, UnreadReason> = {
  timeout: 'source_down',
  unavailable: 'source_down',
  slow: 'source_slow',
  no_privilege: 'no_privilege',
  missing: 'table_missing',
  outdated: 'server_outdated',
  unusable: 'source_unusable',
};

/** The database answers, and yet there are no figures. */
export const isBlind = ({ kind }: Failure): boolean => kind !== 'timeout' && kind !== 'unavailable';

/** What a rule found; `since` null when it has always been so as far as the table tells. */
export interface Finding {
  since: string | null;
  evidence: Evidence[];
}

/** One verdict: what it needs aggregated over the base, and whether it holds. Adding a verdict is adding a file to `verdicts/`. */
export interface VerdictRule {
  verdict: Verdict;
  /** Undefined where this outbox has none. */
  figures?(base: Base): Figures | undefined;
  /** What its figures need of each event type: columns of `types`, called as `typed` says. */
  perType?(base: Base): Figures | undefined;
  /** Pure; null when the verdict does not hold. */
  judge(circumstances: Circumstances): Finding | null;
}

/** The same readings as far as they are of replication slots. */
export const slotHistory = ({ reading, previous }: Circumstances): SlotHistory => ({
  sight: reading?.traits.slots ?? null,
  readings: (reading === null ? [] : [...previous, reading]).map((past) => ({ asOf: past.asOf, seen: slotsIn(past) })),
});
