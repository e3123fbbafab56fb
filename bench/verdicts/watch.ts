/** Looks at the demo's outboxes as the console does: its collector beside one reading every five seconds for whoever asks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { SUPPORTED, loadConfig } from '@/lib/config/load';
import { openHistory } from '@/lib/history/history';
import { createCollector } from '@/lib/history/collector/collector';
import { OBSERVERS } from '@/lib/history/collector/observe';
import { createSnapshots } from '@/lib/snapshots/snapshots';
import type { Diagnosis } from '@/lib/shared/figures/verdicts';
import { migrateStore, openStore } from '@/lib/store/store';

export const LOOK_EVERY_MS = 5_000;

export interface Watcher {
  /** The newest diagnosis of an outbox; null before the first look. */
  latest(outbox: string): Diagnosis | null;
  stop(): Promise<void>;
}

/** Begins to look; `onLook` is told of each diagnosis. Resolves when the past of all of them has been read. */
export async function watch(
  configPath: string,
  storeUrl: string,
  outboxes: readonly string[],
  onLook: (outbox: string, found: Diagnosis) => void,
): Promise<Watcher> {
  const reading = await loadConfig(configPath, SUPPORTED, () => undefined);
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  const { config } = reading;
  await migrateStore(storeUrl);
  const store = openStore(storeUrl);
  const directory = createDirectory(directoryOptions(config));
  const collected = createDirectory({ ...directoryOptions(config), readAs: 'collector' });
  const snapshots = createSnapshots(directory, { history: openHistory(store) });
  const collector = createCollector({
    directory: collected,
    store,
    observers: OBSERVERS,
    tickMs: config.metrics.tickMs,
    retentionDays: config.retention.rollupDays,
    depthNow: (outbox) => snapshots.depthNow(outbox),
    onError: (outbox, error) => process.stderr.write(`${outbox} could not be collected: ${String(error)}\n`),
  });
  collector.start();
  while (!outboxes.every((id) => collector.status(id).state !== 'waiting' && collector.status(id).backfill === null)) await sleep(200);

  const latest = new Map<string, Diagnosis>();
  let stopped = false;
  const look = async (outbox: string): Promise<void> => {
    while (!stopped) {
      const { summary } = await snapshots.outbox(outbox, '1h');
      latest.set(outbox, summary.diagnosis);
      onLook(outbox, summary.diagnosis);
      await sleep(LOOK_EVERY_MS);
    }
  };
  const looking = outboxes.map(look);
  return {
    latest: (outbox) => latest.get(outbox) ?? null,
    async stop() {
      stopped = true;
      await Promise.all([...looking, collector.stop()]);
      await Promise.all([directory.close(), collected.close(), store.close()]);
    },
  };
}
