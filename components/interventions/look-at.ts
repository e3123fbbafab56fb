import type { SeenEvent } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions } from './actions';

/** What stands for the version of an event that was not there: no row has it, so one that comes back is not taken as seen. */
export const NOT_THERE = 'not-there';

/** What it says when the way to the console broke. */
export const UNANSWERED: ProblemInfo = { code: 'unavailable', detail: 'the console did not answer' };

/**
 * These events with the versions they have now where they come without one (an undo knows ids only): read once, before
 * anything is decided, so that what changes afterwards is not what was seen. Ends early once nobody waits any more.
 */
export async function lookAt(
  actions: InterventionActions,
  outbox: string,
  operation: string,
  events: readonly SeenEvent[],
  gone: () => boolean,
): Promise<ActionResult<SeenEvent[]>> {
  const unseen = events.filter(({ version }) => version === '');
  const versions = new Map<string, string>();
  for (let at = 0; at < unseen.length && !gone(); at += INTERVENTION_EVENTS_MAX) {
    const some = unseen.slice(at, at + INTERVENTION_EVENTS_MAX);
    const found = await actions.preview({ outbox, operation, events: some }).catch(() => null);
    if (found === null) return { ok: false, problem: UNANSWERED };
    if (!found.ok) return found;
    for (const { event } of found.value.rows) versions.set(event.id, event.version === '' ? NOT_THERE : event.version);
  }
  return {
    ok: true,
    value: events.map(({ id, version }) => ({ id, version: version === '' ? (versions.get(id) ?? NOT_THERE) : version })),
  };
}
