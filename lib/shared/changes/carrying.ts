/** Whether the audit has every record of a database, as far as this process can tell. */

/** What keeps records from the audit; each has its sentence in the catalogue under `audit.lacks.<reason>`. */
export const LACK_REASONS = ['looking', 'database', 'unreadable', 'store', 'record'] as const;
/** database: it does not answer. unreadable: its records cannot be read. store: it takes no entries. record: single ones cannot be kept. */
export type LackReason = (typeof LACK_REASONS)[number];

export interface Carrying {
  database: string;
  /** Outboxes whose records it holds. */
  outboxes: string[];
  /** Records the store is known to lack; capped, and null before the first look. */
  lacking: number | null;
  why: LackReason | null;
  /** Since when, as far as this process knows; ISO 8601 UTC. null: nothing is lacking. */
  since: string | null;
  /** It has been so for longer than a record may take to the audit. */
  late: boolean;
  /** When all records were last compared and none was lacking; ISO 8601 UTC, null: never by this process. */
  completeAt: string | null;
}

export const LACKING_MAX = 10_000;

/** What the fleet and the audit tell of records that are not in the audit. */
export interface AuditLack {
  database: string;
  outboxes: string[];
  /** At least so many; null: not known. */
  records: number | null;
  why: LackReason;
  since: string;
  completeAt: string | null;
}

/** time_off: its time and the one inside its id differ. record_grew: it has lines it did not have first. line_added: one of them. */
export type AuditOddity = 'time_off' | 'record_grew' | 'line_added';

/** Of what is carried, what has been lacking for too long. */
export function lacksOf(carrying: readonly Carrying[]): AuditLack[] {
  return carrying.flatMap(({ database, outboxes, lacking, why, since, late, completeAt }) =>
    late && why !== null && since !== null ? [{ database, outboxes, records: lacking, why, since, completeAt }] : [],
  );
}
