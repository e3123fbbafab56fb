import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Carrying } from '@/lib/shared/changes/carrying';
import { groupBy } from '@/lib/shared/group-by';
import type { Store } from '@/lib/store/store';
import { DatabaseCarrier } from './database-carrier';
import { recordsKeeper } from './records-keeper';

/** Time between two looks at rest: a record may take ten seconds to the audit, and twenty databases get ten statements a second. */
const REST_MS = { least: 5_000, perDatabase: 400, most: 8_000 };

export type Carrier = ReturnType<typeof startCarrier>;

interface CarrierOptions {
  directory: Pick<OutboxDirectory, 'ids' | 'database'>;
  store: Store;
  /** Called once per error; the carrier retries anyway. */
  onError(databaseId: string, error: unknown): void;
}

/** Carries intervention records into the audit: at least once, idempotent by id, independent of clocks; reports missing ones. */
export function startCarrier({ directory, store, onError }: CarrierOptions) {
  const keeper = recordsKeeper(store);
  const byDatabase = groupBy(directory.ids, (id) => directory.database(id));
  const restMs = Math.min(REST_MS.most, Math.max(REST_MS.least, REST_MS.perDatabase * byDatabase.size));
  const carriers = new Map<string, DatabaseCarrier>();
  for (const [database, outboxes] of byDatabase) {
    const phase = (carriers.size + 1) / byDatabase.size;
    const carrier = new DatabaseCarrier({ database, outboxes, keeper, restMs, phase, onError: (error) => onError(database.id, error) });
    carriers.set(database.id, carrier);
    void carrier.run();
  }
  return {
    kick: (outboxId: string): void => carriers.get(directory.database(outboxId).id)?.kick(),
    /** Carries all current records; for tests and scripts. */
    async carryAll(): Promise<void> {
      await Promise.all([...carriers.values()].map((carrier) => carrier.carryAll()));
    },
    carrying: (): Carrying[] => [...carriers.values()].map(({ lack }) => lack.carrying()),
    async stop(): Promise<void> {
      await Promise.all([...carriers.values()].map((carrier) => carrier.stop()));
    },
  };
}
