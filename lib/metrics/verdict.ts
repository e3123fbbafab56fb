import type { Summary } from '@/lib/shared/model';
import type { Evidence, Verdict } from '@/lib/shared/verdicts';
import type { Base } from './base';
import type { Past, Reading } from './reading';
import type { Figures } from './spelling';

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
  /** Milliseconds since the epoch by the database's clock: the time of the reading, or of the failure. */
  now: number;
}

export interface Failure {
  /** timeout: it answered too late. unavailable: it could not be reached. unusable: it answers, but not about this table. */
  kind: 'timeout' | 'unavailable' | 'unusable';
  /** First failure since it last answered, ISO 8601 UTC. */
  since: string;
}

/** What a rule found; `since` null when it has always been so as far as the table tells. */
export interface Finding {
  since: string | null;
  evidence: Evidence[];
}

/** One verdict: what it needs aggregated over the base, and whether it holds. Adding a verdict is adding a file to `verdicts/`. */
export interface VerdictRule {
  verdict: Verdict;
  figures?(base: Base): Figures;
  /** Pure; null when the verdict does not hold. */
  judge(circumstances: Circumstances): Finding | null;
}
