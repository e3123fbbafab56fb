import { INTERVENTION_EVENTS_MAX, type InterventionResult, type Outcome } from '../model';

/** An event's id and its version on the operator's screen; '' if the version is still to be read (undo). */
export interface SeenEvent {
  id: string;
  version: string;
}

/** One of the interventions that carry out one decision. */
export interface Batch {
  /** Idempotency key: a batch sent again is the same intervention. */
  key: string;
  events: SeenEvent[];
}

/** Splits the events of one decision into interventions of bounded size; the first one has `first` events, as a trial. */
export function batchesOf(key: string, events: readonly SeenEvent[], first = 0): Batch[] {
  const parts: SeenEvent[][] = first > 0 ? [events.slice(0, first)] : [];
  for (let at = first; at < events.length; at += INTERVENTION_EVENTS_MAX) parts.push(events.slice(at, at + INTERVENTION_EVENTS_MAX));
  return parts.map((part, index) => ({ key: parts.length === 1 ? key : `${key}/${String(index + 1)}`, events: part }));
}

export type Progress = ReturnType<typeof progressOf>;

export function progressOf(batches: readonly Batch[], results: readonly InterventionResult[]) {
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  return {
    total: sum(batches.map(({ events }) => events.length)),
    changed: sum(results.map(({ changed }) => changed.length)),
    skipped: sum(results.map(({ skipped }) => skipped.length)),
  };
}

/** Joins the results of one decision: id and time of the first, rows of all. */
export function joinResults(results: readonly [InterventionResult, ...InterventionResult[]]): InterventionResult {
  const [first] = results;
  if (results.length === 1) return first;
  const changed = results.flatMap((result) => result.changed);
  const skipped = results.flatMap((result) => result.skipped);
  const outcome: Outcome = changed.length === 0 ? 'none' : skipped.length === 0 ? 'applied' : 'partly';
  return { ...first, changed, skipped, outcome };
}
