import { TICKED_EVENTS_MAX, type Cause, type FrozenEvent, type FrozenPage } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { UNANSWERED } from '../interventions/actions';

/** One click reads no more rows than this, nor in more stretches: a rare cause in a large table would walk all of it. */
export const ROWS_LOOKED_AT_MAX = 1_000_000;
export const STRETCHES_MAX = 100;

/** A list to be ticked as a whole: what stands in its screen's URL, or the group of one cause in it. */
export interface WholeList {
  outbox: string;
  /** The filter, as a query string. */
  query: string;
  of: Cause | null;
}

/** Answers the next stretch of a list as it is now. */
export type Freeze = (input: WholeList & { cursor?: string }) => Promise<ActionResult<FrozenPage>>;

/** How much of a list was ticked: all of it; all that a bounded search found; or the first so many, and it has more. */
export type Extent = 'whole' | 'found' | 'first';

export interface Taken {
  events: FrozenEvent[];
  extent: Extent;
}

/** Reads a list as it is now, stretch by stretch, until its end or a bound. Throws when it is called off. */
export async function takeList(
  freeze: Freeze,
  list: WholeList,
  onCount: (count: number) => void,
  signal: AbortSignal,
): Promise<Taken | { problem: ProblemInfo }> {
  const events = new Map<string, FrozenEvent>();
  const taken = (extent: Extent): Taken => ({ events: [...events.values()].slice(0, TICKED_EVENTS_MAX), extent });
  let cursor: string | undefined;
  let scanned = 0;
  for (let stretch = 1; ; stretch += 1) {
    onCount(events.size);
    const answer = await freeze({ ...list, cursor }).catch(() => null);
    signal.throwIfAborted();
    if (answer === null) return { problem: UNANSWERED };
    if (!answer.ok) return { problem: answer.problem };
    const { value } = answer;
    for (const event of value.events) events.set(event.id, event);
    scanned += value.looked;
    cursor = value.nextCursor ?? undefined;
    if (events.size > TICKED_EVENTS_MAX || (events.size === TICKED_EVENTS_MAX && cursor !== undefined)) return taken('first');
    if (cursor === undefined) return taken(value.complete ? 'whole' : 'found');
    if (scanned >= ROWS_LOOKED_AT_MAX || stretch === STRETCHES_MAX) return taken('found');
  }
}
