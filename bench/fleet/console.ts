/** The parts of a console that watch, put together as lib/server/console.ts does, which cannot be opened without the server. */
import { startCarrier } from '@/lib/audit/carrier';
import { createServers } from '@/lib/database/connections/servers';
import { openHistory } from '@/lib/history/history';
import { createCollector, type Collector } from '@/lib/history/collector/collector';
import { OBSERVERS } from '@/lib/history/collector/observe';
import { computeInStore } from '@/lib/live/take-reading';
import { createSnapshots, type Snapshots } from '@/lib/snapshots/snapshots';
import { createDirectory, type DirectoryOptions } from '@/lib/outbox/directory';
import { migrateStore, openStore } from '@/lib/store/store';

const TICK_MS = 5_000;
const RETENTION_DAYS = 1;

export interface WatchingConsole {
  snapshots: Snapshots;
  collector: Collector;
  stop(): Promise<void>;
}

export async function openConsole(
  { databases, outboxes }: Pick<DirectoryOptions, 'databases' | 'outboxes'>,
  storeUrl: string,
  onError: (what: string, error: unknown) => void,
): Promise<WatchingConsole> {
  const migrated = await migrateStore(storeUrl);
  if (!migrated.ok) throw new Error(migrated.detail);
  const store = openStore(storeUrl);
  const servers = createServers();
  const directory = createDirectory({ databases, outboxes, servers });
  const collected = createDirectory({ databases: databases.map(({ id, url }) => ({ id, url })), outboxes, servers, readAs: 'collector' });
  const carrier = startCarrier({ directory, store, onError });
  const snapshots: Snapshots = createSnapshots(directory, {
    history: openHistory(store),
    compute: computeInStore(store),
    collector: { status: (outbox) => collector.status(outbox) },
    onFailure: onError,
  });
  const collector: Collector = createCollector({
    directory: collected,
    store,
    observers: OBSERVERS,
    tickMs: TICK_MS,
    retentionDays: RETENTION_DAYS,
    depthNow: (outbox) => snapshots.depthNow(outbox),
    onError,
  });
  collector.start();
  return {
    snapshots,
    collector,
    async stop() {
      await Promise.all([carrier.stop(), collector.stop()]);
      await Promise.all([directory.close(), collected.close(), store.close()]);
    },
  };
}
