import 'server-only';
import { uuidv7 } from 'uuidv7';
import type { Problem } from '@/lib/shared/problems';
import { insertAuditEntries, type NewAuditEntry } from '@/lib/store/audit';
import type { Asker } from './context';
import { log } from './log';

/** What somebody tried to change, as far as their request said. */
export interface Attempted {
  operation?: string;
  outbox?: string | null;
  events?: readonly string[];
  reason?: string;
}

/**
 * Puts a refused attempt to change something into the audit and the log. The refusal stands whatever happens here.
 */
export async function recordRefusedAttempt(asker: Asker, entry: string, attempted: Attempted, problem: Problem): Promise<void> {
  const { actor, console, requestId } = asker;
  log().warn({ entry, requestId, actor: actor?.name ?? null, code: problem.code }, 'refused');
  if (actor === null) return;
  const { operation = entry, outbox = null, events = [], reason = '' } = attempted;
  try {
    const refused: NewAuditEntry = {
      id: uuidv7(),
      at: new Date().toISOString(),
      actorId: actor.id,
      actor: actor.name,
      role: actor.role,
      operation,
      outbox,
      eventId: events.length === 1 ? (events[0] ?? null) : null,
      eventType: null,
      aggregateId: null,
      reason: reason.slice(0, 500),
      outcome: 'refused',
      code: problem.code,
      interventionId: null,
      before: null,
      after: null,
    };
    await console.underWay.run(() => insertAuditEntries(console.store.db, [refused]));
  } catch (error) {
    log().error({ entry, requestId, err: error }, 'a refusal could not be written into the audit');
  }
}
