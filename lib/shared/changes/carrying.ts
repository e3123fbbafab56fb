/** Whether the audit has every record of a database, as far as this process knows. */

/** Why records are not in the audit yet; texts under `audit.lacks.<reason>`. */
export const LACK_REASONS = ['looking', 'database', 'unreadable', 'store', 'record'] as const;
/** looking: not compared yet. database: unreachable. unreadable: records cannot be read. store: takes none. record: some cannot be kept. */
export type LackReason = (typeof LACK_REASONS)[number];

export interface Carrying {
  database: string;
  outboxes: string[];
  /** Records known to be missing in the store; capped, null before the first check. */
  lacking: number | null;
  why: LackReason | null;
  /** Since when, as far as this process knows; ISO 8601 UTC. null if nothing is missing. */
  since: string | null;
  /** They have been missing for longer than a record may take to the audit. */
  late: boolean;
  /** When all records were last compared and none was missing; ISO 8601 UTC, null if not yet in this process. */
  completeAt: string | null;
}

export const LACKING_MAX = 10_000;

/** Records missing in the audit, as the fleet and the audit report them. */
export type AuditLack = ReturnType<typeof lacksOf>[number];

/** time_off: its time and that in its id differ. record_grew: it has more lines than at first. line_added: one of those lines. */
export type AuditOddity = 'time_off' | 'record_grew' | 'line_added';

/** The databases whose records have been missing for too long; `records`: at least so many, null if unknown. */
export function lacksOf(carrying: readonly Carrying[]) {
  return carrying.flatMap(({ database, outboxes, lacking, why, since, late, completeAt }) =>
    late && why !== null && since !== null ? [{ database, outboxes, records: lacking, why, since, completeAt }] : [],
  );
}
