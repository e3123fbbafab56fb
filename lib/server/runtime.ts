import 'server-only';
import { setFlagsFromString } from 'node:v8';
import { perProcess } from '@/lib/shared/kept';
import { watchForwarded } from './auth/client-address';
import { endConsole, getConsole } from './console';
import { log } from './log';

const runtime = perProcess('runtime', () => ({ started: false }));

/** Next waits for the last connection to close, and clients that poll keep theirs open: responses have this long to go out. */
const LAST_ANSWERS_MS = 1_500;

/** By default V8 lets garbage grow to several times the memory in use before it collects. */
const HEAP_GROWTH_PERCENT = 20;

async function end(why: string, answersMs: number): Promise<void> {
  log().info({ why }, 'ending');
  await endConsole().catch((error: unknown) => log().warn({ err: error }, 'the end was not clean'));
  setTimeout(() => process.exit(0), answersMs);
}

/** Starts the console, and ends it before the process: on signals, which Next handles too, and when the starter is gone. */
export async function startRuntime(): Promise<void> {
  if (runtime.started) return;
  runtime.started = true;
  setFlagsFromString(`--heap-growing-percent=${String(HEAP_GROWTH_PERCENT)}`);
  process.once('SIGTERM', () => void end('SIGTERM', LAST_ANSWERS_MS));
  process.once('SIGINT', () => void end('SIGINT', LAST_ANSWERS_MS));
  process.once('disconnect', () => void end('the starter is gone', 0));
  let told = false;
  watchForwarded((await getConsole()).config.auth.trustedProxies, (peer) => {
    if (!told)
      log().warn(
        { peer },
        'X-Forwarded-For counts only from auth.trustedProxies: all who come through this address are one to the sign-in',
      );
    told = true;
  });
  log().info('ready');
}

/** Errors that reached Next itself; the page shows the digest. A PageFailure is logged where it arises. */
export function logRequestError(error: unknown, request: { path: string; method: string }): void {
  if (error instanceof Error && error.name === 'PageFailure') return;
  const digest = typeof error === 'object' && error !== null && 'digest' in error ? error.digest : undefined;
  log().error({ err: error, digest, path: request.path.split('?')[0], method: request.method }, 'a page failed');
}
