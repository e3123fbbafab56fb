import type { Outbox } from '@/lib/outbox/outbox';
import type { FindingValues, Severity } from '@/lib/shared/doctor';
import type { EngineKey } from '@/lib/shared/model';
import type { Cures } from './cures/cures';
import type { Facts } from './facts/facts';
import type { Trend } from './trend';

/** Everything a check judges from. Nothing in here reads a database. */
export interface Patient {
  outbox: Outbox;
  facts: Facts;
  /** What earlier examinations saw. */
  trend: Trend;
  /** Writes this engine's statements. */
  cures: Cures;
  /** Milliseconds since the epoch, by the database's clock. */
  now: number;
}

/** What a check found, once per subject. */
export interface Found {
  severity: Severity;
  /** Tells findings of one check apart: an index, a column, a role. Left out where there can be only one. */
  subject?: string;
  values: FindingValues;
  cure?: string;
}

/**
 * One thing that can be wrong with an outbox: pure, from facts read in a bounded way. Its two sentences are
 * `doctor.checks.<id>.what` and `.why`. Adding a check is adding a file to `checks/`.
 */
export interface Check {
  /** snake_case; the file has the same name with dashes. */
  id: string;
  engines: readonly EngineKey[];
  examine(patient: Patient): Found[];
}

/** Tables up to this many rows are read whole by the console and cost no index. */
export const SMALL_ROWS = 20_000;
export const BOTH: readonly EngineKey[] = ['postgres', 'mysql'];
export const DAY_MS = 86_400_000;

/** For checks that find one thing or nothing. */
export const one = (found: Found | null): Found[] => (found === null ? [] : [found]);
