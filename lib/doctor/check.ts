import type { Outbox } from '@/lib/outbox/outbox';
import type { Finding } from '@/lib/shared/doctor';
import type { Facts } from './facts/facts';
import type { Fixes } from './fixes';
import type { Sample } from './samples';

/** Everything that a check judges. It contains nothing that reads a database. */
export interface CheckInput {
  outbox: Outbox;
  facts: Facts;
  /** What earlier examinations saw, oldest first. */
  samples: readonly Sample[];
  fixes: Fixes;
  /** Milliseconds since the epoch. */
  now: number;
}

/** `subject` distinguishes findings of one check: an index, a column, a role. Left out if there can be only one. */
export type Found = Pick<Finding, 'severity' | 'values'> & Partial<Pick<Finding, 'subject' | 'cure'>>;

/** Checks by id, each judged from facts that were read in a bounded way. Its sentences: `doctor.checks.<id>.what` and `.why`. */
export type Checks = Record<string, (input: CheckInput) => Found[]>;

/** Tables up to this many rows are scanned by the console and need no index. */
export const SMALL_ROWS = 20_000;
