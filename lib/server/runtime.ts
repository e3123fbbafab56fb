import 'server-only';
import { getConsole, stopConsole } from './console';
import { log } from './log';

const KEY = Symbol.for('outbox-console.runtime');
const holder = globalThis as { [KEY]?: true };

async function end(why: string, exit: boolean): Promise<void> {
  log().info({ why }, 'ending');
  await stopConsole().catch((error: unknown) => log().warn({ err: error }, 'the end was not clean'));
  if (exit) process.exit(0);
}

/**
 * Opens the console and sees to its end. Signals belong to the starter and to Next, which closes the server; here they
 * only end our own work. When the starter is gone (its channel closes) nobody is left to stop us: we stop ourselves.
 */
export async function startRuntime(): Promise<void> {
  if (holder[KEY]) return;
  holder[KEY] = true;
  process.once('SIGTERM', () => void end('SIGTERM', false));
  process.once('SIGINT', () => void end('SIGINT', false));
  process.once('disconnect', () => void end('the starter is gone', true));
  await getConsole();
  log().info('ready');
}

/** Errors that reached Next itself; the digest is what the page shows. Refusals of ours were logged where they arose. */
export function logRequestError(error: unknown, request: { path: string; method: string }): void {
  const known = error instanceof Error && error.name === 'PageFailure';
  if (known) return;
  const digest = typeof error === 'object' && error !== null && 'digest' in error ? error.digest : undefined;
  log().error({ err: error, digest, path: request.path.split('?')[0], method: request.method }, 'a page failed');
}
