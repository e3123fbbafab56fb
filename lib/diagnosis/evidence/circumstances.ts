import type { UnreadReason } from '@/lib/shared/figures/measured';
import type { Summary } from '@/lib/shared/model';
import type { Evidence, Verdict } from '@/lib/shared/figures/verdicts';
import { slotsIn, type Aggregates, type Past, type Reading } from '@/lib/live/reading';
import { lastPublishedAt, whyNoLastPublished } from '@/lib/figures/throughput';
import type { SlotHistory } from '@/lib/outbox/replication-slots/progress';
import type { Cell } from '@/lib/rollup/cell';

export interface RecentHistory {
  /** Of the last hour, oldest first; minutes that were not watched are left out. */
  minutes: readonly Cell[];
  typesPublished: ReadonlySet<string>;
}

export interface Circumstances {
  /** null if the database has never answered. */
  reading: Reading | null;
  figures: Omit<Summary, 'diagnosis'> | null;
  /** Why the newest attempt failed; null if it did not. */
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
   * timeout: no answer for longer than callers wait. unavailable: not reached. For the others the database answers: the table, its queue or
   * a lock is too slow (slow), it is not what the shape needs (unusable), or the store did not compute its figures (no_store).
   */
  kind: 'timeout' | 'unavailable' | 'slow' | 'no_privilege' | 'missing' | 'outdated' | 'unusable' | 'no_store';
  /** First failure since it last answered, ISO 8601 UTC. */
  since: string;
}

/** The reason that is given for an outbox that could not be read. */
export const UNREAD: Record<Exclude<Failure['kind'], 'no_store'>, UnreadReason> = {
  timeout: 'source_down',
  unavailable: 'source_down',
  slow: 'source_slow',
  no_privilege: 'no_privilege',
  missing: 'table_missing',
  outdated: 'server_outdated',
  unusable: 'source_unusable',
};

/** The database answers, but there are no figures. */
export const isBlind = ({ kind }: Failure): boolean => kind !== 'timeout' && kind !== 'unavailable';

/** What a rule found; `since` is null if it has always been so, as far as is known. */
export interface Finding {
  since: string | null;
  evidence: Evidence[];
}

/** Pure; null when the verdict does not hold. */
export type Judge = (circumstances: Circumstances) => Finding | null;

/** One verdict: what it needs aggregated over the base, and whether it holds. Adding a verdict is adding a file to `verdicts/`. */
export interface VerdictRule {
  verdict: Verdict;
  live?: Aggregates;
  judge: Judge;
}

export const slotHistory = ({ reading, previous }: Circumstances): SlotHistory => ({
  sight: reading?.traits.slots ?? null,
  readings: (reading === null ? [] : [...previous, reading]).map((past) => ({ asOf: past.asOf, seen: slotsIn(past) })),
});

type Ago = { fromMs: number; toMs?: number };

/** Whether a reading this long ago, in milliseconds, said the same. */
export const seenBefore = ({ previous, now }: Circumstances, { fromMs, toMs = Infinity }: Ago, same: (past: Past) => boolean): boolean =>
  previous.some((past) => ageMs(past.asOf, now) >= fromMs && ageMs(past.asOf, now) <= toMs && same(past));

/** The newest readings in a row for which this holds, oldest first, the current one included. */
export function inARow<T extends Past>(reading: T, previous: readonly T[], isSo: (past: T) => boolean): T[] {
  const all = [...previous, reading];
  return all.slice(all.findLastIndex((past) => !isSo(past)) + 1);
}

/** Its sentence is `evidence.<code>` in the catalogues, filled in by these values. */
export const fact = (code: string, values: Evidence['values'] = {}): Evidence => ({ code, values });

export const factIfKnown = (code: string, values: Record<string, string | number | null | undefined>): Evidence[] =>
  Object.values(values).some((value) => value == null) ? [] : [fact(code, values as Evidence['values'])];

export const ageMs = (at: string, now: number): number => now - Date.parse(at);
export const isoOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
/** The later of two times, in milliseconds since the epoch. */
export const laterOf = (at: string, other: string | null): number => Math.max(Date.parse(at), Date.parse(other ?? at));

export const lastSeen = ({ reading }: Circumstances): Evidence =>
  reading === null ? fact('never_seen') : fact('last_seen', { lastSeenAt: reading.asOf });

export function nothingOut(reading: Reading): Evidence {
  const at = lastPublishedAt(reading);
  if (at !== null) return fact('nothing_published', { lastPublishedAt: at });
  return fact(whyNoLastPublished(reading) === 'no_events' ? 'never_published' : 'publishing_time_unknown');
}
