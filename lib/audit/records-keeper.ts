import type { DatabaseFailure } from '@/lib/database/failure';
import { postgresEngine } from '@/lib/database/postgres/engine';
import type { StoredRecord } from '@/lib/interventions/record-pages';
import { insertAuditEntries } from '@/lib/store/audit';
import { hasCarriedAny, keepCarried, lackedRecords } from '@/lib/store/carried-records';
import type { Store } from '@/lib/store/store';
import { entriesOf } from './entries';

/** The store does not answer, or takes no entries: none of the records is to blame. */
export class StoreTrouble extends Error {
  constructor(cause: unknown) {
    super('the store does not answer or takes no entries', { cause });
    this.name = 'StoreTrouble';
  }
}

/** What a carrier asks of the store. Whatever the store is to blame for is thrown as StoreTrouble. */
export interface RecordsKeeper {
  /** The ids of those that the audit lacks, or has fewer lines of. */
  lacked(records: readonly { id: string; lines: number }[]): Promise<Set<string>>;
  /** Puts whole records into the audit, all or none. Rejects with the driver's error when one of them cannot be kept. */
  keep(records: readonly StoredRecord[]): Promise<void>;
  hasAny(outboxes: readonly string[]): Promise<boolean>;
}

export function recordsKeeper(store: Store): RecordsKeeper {
  return {
    lacked: (records) => lackedRecords(store.db, records).catch(trouble),
    hasAny: (outboxes) => hasCarriedAny(store.db, outboxes).catch(trouble),
    async keep(records) {
      try {
        await store.db.transaction().execute(async (db) => {
          await insertAuditEntries(db, records.flatMap(entriesOf));
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

function trouble(error: unknown): never {
  throw new StoreTrouble(error);
}

/** A value that its column or an index cannot take; anything else would be so whatever the record says. */
function isOfRecord({ code, state }: DatabaseFailure): boolean {
  return code === 'bad_value' || code === 'constraint' || (code === 'other' && (state === null || state.startsWith('54')));
}
