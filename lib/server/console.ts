import 'server-only';
import type { Config } from '../config/config';
import { directoryOptions } from '../config/directory-options';
import { KNOWN } from '../config/known';
import { loadConfig } from '../config/load';
import { environment, environmentValue } from '../env';
import { startHousekeeping } from '../jobs/housekeeping';
import { createDirectory, type OutboxDirectory } from '../outbox/directory';
import { openStore, type Store } from '../store/store';
import { log, type Log } from './log';

/** Everything a request can need, one per process. */
export interface Console {
  config: Config;
  store: Store;
  directory: OutboxDirectory;
  log: Log;
  /** Ends the console's own work; requests under way may still read. */
  stop(): Promise<void>;
}

/** On globalThis: Next bundles this module several times for one process. */
const KEY = Symbol.for('outbox-console.console');
const holder = globalThis as { [KEY]?: Promise<Console> };

async function create(): Promise<Console> {
  const env = environment();
  const reading = await loadConfig(env.configPath, KNOWN, environmentValue);
  if (!reading.ok) throw new Error(`The configuration cannot be used:\n${reading.problems.join('\n')}`);
  const { config } = reading;
  const url = config.storeUrl ?? env.embeddedStoreUrl;
  if (url === undefined) throw new Error('store: missing; start with npm start, which runs the embedded one');
  const store = openStore(url, (error) => log().warn({ err: error }, 'an idle connection to the store broke'));
  const directory = createDirectory({
    ...directoryOptions(config),
    onIdleError: (database, error) => log().warn({ database, err: error }, 'an idle connection broke'),
  });
  const housekeeping = startHousekeeping(store, (error) => log().warn({ err: error }, 'housekeeping failed'));
  return {
    config,
    store,
    directory,
    log: log(),
    async stop() {
      housekeeping.stop();
      await Promise.all([directory.close(), store.close()]);
    },
  };
}

/** The running console; the first call opens it. A start that failed is tried again by the next call. */
export function getConsole(): Promise<Console> {
  holder[KEY] ??= create().catch((error: unknown) => {
    holder[KEY] = undefined;
    throw error;
  });
  return holder[KEY];
}

/** Ends the running console, if there is one. */
export async function stopConsole(): Promise<void> {
  const running = holder[KEY];
  holder[KEY] = undefined;
  await (await running)?.stop();
}
