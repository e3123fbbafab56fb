import 'server-only';
import type { Problem } from '@/lib/shared/problems';
import { recordDeed } from '@/lib/store/audit';
import type { Asker } from '../context';
import { log } from '../log';

/** What somebody tried to change, as far as their request shows. */
export interface Attempted {
  operation?: string;
  outbox?: string | null;
  events?: readonly string[];
  reason?: string;
}

/** Puts a refused attempt to change something into the audit and the log; it stands refused whatever happens here. */
export async function recordRefusedAttempt(asker: Asker, entry: string, attempted: Attempted, problem: Problem): Promise<void> {
  const { actor, console, requestId } = asker;
  log().warn({ entry, requestId, actor: actor?.name ?? null, code: problem.code }, 'refused');
  if (actor === null) return;
  const { operation = entry, outbox = null, events = [], reason = '' } = attempted;
  try {
    const eventId = events.length === 1 ? (events[0] ?? null) : null;
    const refused = { operation, outbox, eventId, reason: reason.slice(0, 500), outcome: 'refused' as const, code: problem.code };
    const ended = console.underWay.begin();
    await recordDeed(console.store.db, actor, refused).finally(ended);
  } catch (error) {
    log().error({ entry, requestId, err: error }, 'a refusal could not be written into the audit');
  }
}
