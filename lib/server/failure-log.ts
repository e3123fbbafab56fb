import 'server-only';
import { DatabaseFailure } from '@/lib/database/failure';
import { failureOf } from '@/lib/detection/failure';
import en from '@/lib/messages/en.json';
import { databaseProblem } from '@/lib/outbox/directory';
import { Problem } from '@/lib/shared/problems';
import { log } from './log';

/** The same failure of one database is logged once in this time. */
const SAME_AGAIN_MS = 60_000;
/** Of a connection that could not be opened, these say more than that the database cannot be reached. */
const CONNECTING = new Set(['connection', 'login', 'no_database', 'tls_none', 'tls_required', 'tls_untrusted']);
/** Our own errors whose message names the cure. */
const OWN = new Set(['RecordsUnreadable', 'StoreTrouble', 'NotComputed']);

/** What went wrong and what mends it, with SQLSTATE or driver code; null for a fault of our own. Never the text of a driver. */
export function failureLine(error: unknown, database: string): { code: string; state: string | null; text: string } | null {
  if (error instanceof Problem) {
    const { cause, code, detail } = error;
    if (cause === undefined) return { code, state: null, text: detail };
    return cause instanceof DatabaseFailure ? failureLine(cause, database) : null;
  }
  if (error instanceof DatabaseFailure) {
    const { code, state, ofStore } = error;
    const failure = ofStore ? null : failureOf(error);
    if (failure !== null && CONNECTING.has(failure.code))
      return { code: failure.code, state, text: `Database ${database}: ${en.detect.failures[failure.code]}` };
    return { code, state, text: databaseProblem(error, database).detail };
  }
  if (!(error instanceof Error) || !OWN.has(error.name)) return null;
  return { code: error.name, state: null, text: error.message };
}

/** Logs what fails in the background: an expected failure as one line per database, without a stack unless at `debug`. */
export function failureLog(now: () => number = Date.now) {
  const last = new Map<string, number>();
  return (of: { database?: string; outbox?: string }, what: string, err: unknown): void => {
    const line = failureLine(err, of.database ?? 'of the console');
    if (line === null) return log().warn({ ...of, err }, what);
    const { code, state, text } = line;
    log().debug({ ...of, err }, what);
    const key = JSON.stringify([of.database, code, state]);
    if (now() - (last.get(key) ?? -Infinity) < SAME_AGAIN_MS) return;
    last.set(key, now());
    log().warn({ ...of, code, state }, `${what}: ${text}`);
  };
}
