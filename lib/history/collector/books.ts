/** Writes to the store under the lease: what was counted and how far it was counted, in one transaction. */
import { writeCollectorState, underLease, type Lease } from '@/lib/store/collector-leases';
import { deleteMinutesBefore } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';
import { post, seal, settle } from '../rollups/ledger';
import { HOUR_MINUTES, minutesKeptFrom, sliceOf, type Additions } from '@/lib/rollup/additions';
import { microsOf, minuteOf } from './instants';
import { progressText, type Progress } from './progress';

export interface Entry {
  additions: Additions;
  /** Whether they count into what was seen since the beginning. */
  counts: boolean;
  /** Minutes that are complete from now on. */
  settled?: readonly number[];
  /** JSON text; left out when it has not changed. */
  memory?: string;
}

/**
 * Adds to the books and moves the progress in the same transaction, so that what has been counted is never counted again,
 * whenever the process ends. Answers the progress as it was written. Throws LeaseLost with nothing written.
 */
export async function enter(store: Store, lease: Lease, before: Progress, progress: Progress, entry: Entry): Promise<Progress> {
  const { outbox } = lease;
  const nowMinute = minuteOf(microsOf(progress.lookedAt));
  const keptFrom = minutesKeptFrom(nowMinute);
  const sealTo = Math.max(before.sealedTo, sliceOf(minuteOf(microsOf(progress.foldedTo)), 'hour'));
  const written = { ...progress, sealedTo: sealTo };
  await underLease(store, lease, async (db) => {
    await post(db, {
      outbox,
      additions: entry.additions,
      provisional: new Set(progress.suspects),
      sealedTo: before.sealedTo,
      keptFrom,
      counts: entry.counts,
    });
    await settle(db, outbox, entry.settled ?? [], before.sealedTo);
    if (sealTo > before.sealedTo) {
      await seal(db, outbox, before.sealedTo, sealTo);
      // An hour longer than they are added to, so that nobody adds to an hour whose minutes are half gone.
      await deleteMinutesBefore(db, outbox, keptFrom - HOUR_MINUTES);
    }
    await writeCollectorState(db, lease, { state: progressText(written), ...(entry.memory === undefined ? {} : { memory: entry.memory }) });
  });
  return written;
}
