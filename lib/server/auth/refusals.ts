import 'server-only';
import { Problem, type ProblemCode } from '@/lib/shared/problems';
import { recordDeed } from '@/lib/store/audit';
import type { Asker } from '../context';
import { log } from '../log';

/** What a refused request tried to change, as far as it shows. */
export interface Attempted {
  operation?: string;
  outbox?: string | null;
  events?: readonly { id: string }[];
  reason?: string;
}

const REFUSED: ReadonlySet<string> = new Set<ProblemCode>(['forbidden', 'approval_required']);

/** Records a refused attempt to change something in the audit and the log. Never throws: it stays refused whatever happens here. */
export async function recordRefusal(asker: Asker | null, entry: string, error: unknown, attempt: () => Promise<Attempted>): Promise<void> {
  if (asker === null || !(error instanceof Problem) || !REFUSED.has(error.code)) return;
  const { actor, console, requestId } = asker;
  const { code } = error;
  log().warn({ entry, requestId, actor: actor?.name ?? null, code }, 'refused');
  if (actor === null) return;
  // Of a malformed request nothing more is known.
  const { operation = entry, outbox = null, events = [], reason = '' } = await attempt().catch((): Attempted => ({}));
  try {
    const eventId = events.length === 1 ? (events[0]?.id ?? null) : null;
    const refused = { operation, outbox, eventId, reason: reason.slice(0, 500), outcome: 'refused' as const, code };
    await console.underWay.run(() => recordDeed(console.store.db, actor, refused));
  } catch (error) {
    log().error({ entry, requestId, err: error }, 'a refusal could not be written into the audit');
  }
}
