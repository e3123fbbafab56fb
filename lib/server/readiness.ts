import 'server-only';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { isUpToDate } from '@/lib/store/store';
import { Problem } from '@/lib/shared/problems';
import { getConsole, type Console } from './console';
import { log } from './log';

export interface Readiness {
  status: 'ready';
  /** Without writes the console can be read, but nothing can be changed. */
  store: 'ok' | 'takes_no_writes';
}

/** Everyone may ask as often as they like, so the store is checked at most this often. */
const LOOKED_AT_MS = 2_000;
const looks = new WeakMap<Console, { at: number; answer: Promise<Readiness> }>();

/** Whether configuration, store and migrations are good; unreachable outbox databases do not matter. Throws Problem `unavailable`. */
export async function readiness(): Promise<Readiness> {
  try {
    const console = await getConsole();
    const last = looks.get(console);
    if (last !== undefined && Date.now() - last.at < LOOKED_AT_MS) return await last.answer;
    const answer = outsideRequests(() => look(console));
    looks.set(console, { at: Date.now(), answer });
    return await answer;
  } catch (error) {
    if (error instanceof Problem) throw error;
    log().warn({ err: error }, 'not ready');
    throw new Problem('unavailable', 'The console is not ready: its configuration or its store cannot be used');
  }
}

async function look({ store }: Console): Promise<Readiness> {
  if (!(await isUpToDate(store))) throw new Problem('unavailable', 'The console is not ready: its store has migrations to come');
  try {
    await proveAuditTakesEntries(store.db);
    return { status: 'ready', store: 'ok' };
  } catch (error) {
    log().warn({ err: error }, 'the store takes no writes');
    return { status: 'ready', store: 'takes_no_writes' };
  }
}
