import 'server-only';
import { Problem } from '@/lib/shared/problems';
import { isUpToDate } from '@/lib/store/store';
import { getConsole } from './console';
import { log } from './log';

/**
 * Configuration, store and migrations are good. An outbox database that is away is no reason to take the console out
 * of service. Throws Problem `unavailable`; what exactly is wrong stands in the log.
 */
export async function requireReady(): Promise<void> {
  try {
    const { store } = await getConsole();
    if (await isUpToDate(store)) return;
  } catch (error) {
    log().warn({ err: error }, 'not ready');
    throw new Problem('unavailable', 'The console is not ready: its configuration or its store cannot be used');
  }
  throw new Problem('unavailable', 'The console is not ready: its store has migrations to come');
}
