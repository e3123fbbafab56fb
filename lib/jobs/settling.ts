import { settleEntry, type UnsettledLog } from '@/lib/interventions/settle';
import type { OutboxDirectory } from '@/lib/outbox/directory';

const INTERVAL_MS = 3_000;

export interface SettlingOptions {
  directory: OutboxDirectory;
  unsettled: UnsettledLog;
  onRecord(outboxId: string): void;
  onError(error: unknown): void;
}

/**
 * Looks again after interventions whose commit was never confirmed, until each is known to have happened or not: whoever
 * began it may have closed the window. Any number of replicas may do it. `stop` waits for a look that is under way.
 */
export function startSettling(options: SettlingOptions): { stop(): Promise<void> } {
  let underWay: Promise<void> | null = null;
  const timer = setInterval(() => {
    underWay ??= settleAll(options).finally(() => (underWay = null));
  }, INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

/**
 * Looks once after each of them; one that fails keeps nobody from the others. One whose outbox is no longer configured waits
 * until it is again. Never rejects.
 */
export async function settleAll(options: SettlingOptions): Promise<void> {
  const entries = await options.unsettled.list().catch((error: unknown) => {
    options.onError(error);
    return [];
  });
  for (const entry of entries) {
    if (options.directory.ids.includes(entry.outbox)) await settleEntry(options, entry).catch(options.onError);
  }
}
