import { createHash } from 'node:crypto';
import { UUID } from '@/lib/database/column-text';
import type { DatabaseFailure } from '@/lib/database/failure';
import { postgresEngine } from '@/lib/database/postgres/engine';
import type { StoredRecord } from '@/lib/interventions/records';
import { timeInId } from '@/lib/shared/changes/record-time';
import { noteActed } from '@/lib/store/acted';
import { insertAuditEntries, NO_EVENT, type NewAuditEntry, hasCarriedAny, keepCarried, lackedRecords } from '@/lib/store/audit';
import type { Store } from '@/lib/store/store';

/** One audit entry per line of a record, or one if it has no lines. Ids are stable, so that carrying it again adds nothing. */
export function entriesOf({ header, lines }: StoredRecord): NewAuditEntry[] {
  const common = {
    // A time outside the calendar is null.
    at: header.at ?? timeInId(header.id) ?? new Date().toISOString(),
    actorId: header.actor_id,
    actor: header.actor_name,
    role: header.actor_role,
    operation: header.operation,
    outbox: header.outbox,
    reason: header.reason,
    interventionId: header.id,
    action: decisionOf(header),
  };
  if (lines.length === 0) return [{ ...common, ...NO_EVENT, id: entryId(`${header.id} without lines`, 0), code: null }];
  return lines.map((line) => ({
    ...common,
    id: entryId(header.id, line.position),
    eventId: line.event_id,
    eventType: line.event_type,
    aggregateId: line.aggregate_id,
    outcome: line.code === null ? 'applied' : 'none',
    code: line.code,
    before: line.before,
    after: line.after,
  }));
}

/** The run, or the decision by a key of several batches, that it is part of; null for one alone. No key hides an action under another. */
function decisionOf({ outbox, actor_id: actor, key, operation, reason }: StoredRecord['header']): string | null {
  const [, run] = /^run\/([0-9a-f-]{36})\/\d+$/.exec(key) ?? [];
  if (run !== undefined && UUID.test(run)) return run;
  const [, decision] = /^([0-9a-f-]{36})\/\d+$/i.exec(key) ?? [];
  return decision === undefined ? null : entryId(JSON.stringify([outbox, actor, decision, operation, reason]), 0);
}

/** A UUID (version 8: our own scheme) from the intervention and the event's position in it: always the same. */
export function entryId(intervention: string, position: number): string {
  const hex = createHash('sha256').update(`${intervention}/${position}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The store does not answer or accepts no entries; the records are not the cause. */
export class StoreTrouble extends Error {
  override readonly name = 'StoreTrouble';
}

/** The store as a carrier uses it. Failures of the store are thrown as StoreTrouble. */
export type RecordsKeeper = ReturnType<typeof recordsKeeper>;

export function recordsKeeper(store: Store) {
  return {
    /** The ids of records that the audit lacks, or has fewer lines of. */
    lacked: (records: readonly { id: string; lines: number }[]) => lackedRecords(store.db, records).catch(trouble),
    hasAny: (outboxes: readonly string[]) => hasCarriedAny(store.db, outboxes).catch(trouble),
    /** Adds whole records to the audit, all or none. Rejects with the driver's error if one of them cannot be stored. */
    async keep(records: readonly StoredRecord[]): Promise<void> {
      try {
        await store.db.transaction().execute(async (db) => {
          await insertAuditEntries(db, records.flatMap(entriesOf));
          // A console with a store of its own may have made them.
          const acts = records.map(({ header }) => header);
          await noteActed(db, acts);
          const sizes = records.map(({ header: { id, outbox }, lines }) => ({ id, outbox, lines: lines.length }));
          if (sizes.length > 0) await keepCarried(db, sizes);
        });
      } catch (error) {
        if (isOfRecord(postgresEngine.failure(error))) throw error;
        trouble(error);
      }
    },
  };
}

function trouble(cause: unknown): never {
  throw new StoreTrouble('the store does not answer or takes no entries', { cause });
}

/** A value that a column or index cannot hold; other failures do not depend on the record. */
const isOfRecord = ({ code, state }: DatabaseFailure): boolean =>
  code === 'bad_value' || code === 'constraint' || (code === 'other' && (state === null || state.startsWith('54')));
