import type { SeenEvent } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import { UNANSWERED } from '../frame/use-change';

/** What the dialog asks of the server: its actions, handed in by the layout. */
export interface InterventionActions {
  /** What the operation would do to these events now; changes nothing. */
  preview(input: { outbox: string; operation: string; events: SeenEvent[] }): Promise<ActionResult<InterventionPreview>>;
  /** Carries it out. The same key twice is the same intervention. */
  intervene(input: { outbox: string; request: InterventionRequest; key: string }): Promise<ActionResult<InterventionResult>>;
  /** What became of the intervention with this key; null when there is no record of it. */
  check(input: { outbox: string; key: string }): Promise<ActionResult<InterventionResult | null>>;
}

/** The outbox as the dialog names it. */
export interface Subject {
  id: string;
  name: string;
}

/** One opening of the dialog: its key makes however many clicks one intervention. */
export interface Opening {
  subject: Subject;
  operation: string;
  events: SeenEvent[];
  key: string;
}

/** Stands for the version of an event that is not there: no row has it, so one that comes back is not taken as seen. */
export const NOT_THERE = 'not-there';

/**
 * These events with the versions they have now where they come without one (an undo knows ids only): read once, before
 * anything is decided, so that what changes afterwards is not what was seen.
 */
export async function readVersions(
  preview: InterventionActions['preview'],
  { subject: { id: outbox }, operation }: Pick<Opening, 'subject' | 'operation'>,
  events: readonly SeenEvent[],
  signal: AbortSignal,
): Promise<ActionResult<SeenEvent[]>> {
  const unseen = events.filter(({ version }) => version === '');
  const versions = new Map<string, string>();
  for (let at = 0; at < unseen.length && !signal.aborted; at += INTERVENTION_EVENTS_MAX) {
    const some = unseen.slice(at, at + INTERVENTION_EVENTS_MAX);
    const found = await preview({ outbox, operation, events: some }).catch(() => null);
    if (found === null) return { ok: false, problem: UNANSWERED };
    if (!found.ok) return found;
    for (const { event } of found.value.rows) versions.set(event.id, event.version === '' ? NOT_THERE : event.version);
  }
  return {
    ok: true,
    value: events.map(({ id, version }) => ({ id, version: version === '' ? (versions.get(id) ?? NOT_THERE) : version })),
  };
}
