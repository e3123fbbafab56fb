/** Looks at the demo's outboxes as a screen does: every five seconds, one reading for whoever asks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { directoryOptions } from '@/lib/config/directory-options';
import { KNOWN } from '@/lib/config/known';
import { loadConfig } from '@/lib/config/load';
import { diagnose } from '@/lib/metrics/diagnose';
import { observe, spanOf } from '@/lib/metrics/observed';
import { createReadings } from '@/lib/metrics/readings';
import { summarise } from '@/lib/metrics/summarise';
import type { RecentHistory } from '@/lib/metrics/verdict';
import { createDirectory } from '@/lib/outbox/directory';
import type { Diagnosis } from '@/lib/shared/verdicts';

export const LOOK_EVERY_MS = 5_000;

export interface Watcher {
  /** The newest diagnosis of an outbox; null before the first look. */
  latest(outbox: string): Diagnosis | null;
  stop(): Promise<void>;
}

export async function watch(
  configPath: string,
  outboxes: readonly string[],
  historyOf: (outbox: string) => RecentHistory | null,
  onLook: (outbox: string, found: Diagnosis) => void,
): Promise<Watcher> {
  const config = await loadConfig(configPath, KNOWN, () => undefined);
  if (!config.ok) throw new Error(config.problems.join('\n'));
  const directory = createDirectory(directoryOptions(config.config));
  const readings = createReadings(directory, null, { now: Date.now });
  const latest = new Map<string, Diagnosis>();
  let stopped = false;
  const look = async (outbox: string): Promise<void> => {
    while (!stopped) {
      const { reading, failure, previous } = await readings.latest(outbox, { sharedMs: 4_000, patienceMs: 4_800 });
      const figures = reading === null ? null : summarise(observe(reading, spanOf({ window: '1h' }, reading.asOf), null, null), '1h');
      const now = failure === null && reading !== null ? Date.parse(reading.asOf) : Date.now();
      const found = diagnose({ reading, figures, failure, previous, history: historyOf(outbox), now });
      latest.set(outbox, found);
      onLook(outbox, found);
      await sleep(LOOK_EVERY_MS);
    }
  };
  const looking = outboxes.map(look);
  return {
    latest: (outbox) => latest.get(outbox) ?? null,
    async stop() {
      stopped = true;
      await Promise.all(looking);
      await directory.close();
    },
  };
}
