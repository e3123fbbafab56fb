import { uuidv7 } from 'uuidv7';
import { settleEntry, type Unsettled, type UnsettledLog } from '@/lib/interventions/settle';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { insertAuditEntries } from '@/lib/store/audit';
import type { Store } from '@/lib/store/store';

const INTERVAL_MS = 3_000;

export interface Settling {
  stop(): void;
}

export interface SettlingOptions {
  directory: OutboxDirectory;
  store: Store;
  unsettled: UnsettledLog;
  onRecord(outboxId: string): void;
  onError(error: unknown): void;
}

/** Asks again after interventions whose commit was never confirmed, until each is known to have happened or not. */
export function startSettling(options: SettlingOptions): Settling {
  let busy = false;
  const tick = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      for (const entry of await options.unsettled.list()) {
        const result = await settleEntry(options, entry);
        if (result.outcome === 'none' && result.at === null) await recordNotApplied(options.store, entry);
      }
    } catch (error) {
      options.onError(error);
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void tick(), INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** The database has no record of it, so the audit would never hear: the attempt is told from here. */
async function recordNotApplied(store: Store, entry: Unsettled): Promise<void> {
  await insertAuditEntries(
    store.db,
    entry.request.events.map((event) => ({
      id: uuidv7(),
      at: entry.at,
      actorId: entry.actor.id,
      actor: entry.actor.name,
      role: entry.actor.role,
      operation: entry.request.operation,
      outbox: entry.outbox,
      eventId: event.id,
      eventType: null,
      aggregateId: null,
      reason: entry.request.reason,
      outcome: 'none',
      code: 'not_applied',
      interventionId: entry.id,
      before: null,
      after: null,
    })),
  );
}
