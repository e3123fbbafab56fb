import { INTERVENTION_EVENTS_MAX, type InterventionResult, type Outcome } from '../model';

/** An event as somebody saw it: its id and the version on their screen; '' where that is still to be read (an undo). */
export interface SeenEvent {
  id: string;
  version: string;
}

/** One intervention out of several that carry out one decision. */
export interface Batch {
  /** Its idempotency key: sent again it is the same intervention. */
  key: string;
  events: SeenEvent[];
}

/** The events of one decision as interventions of bounded size, `first` of them alone to see how they fare. */
export function batchesOf(key: string, events: readonly SeenEvent[], first = 0): Batch[] {
  const parts: SeenEvent[][] = first > 0 ? [events.slice(0, first)] : [];
  for (let at = first; at < events.length; at += INTERVENTION_EVENTS_MAX) parts.push(events.slice(at, at + INTERVENTION_EVENTS_MAX));
  return parts.map((part, index) => ({ key: parts.length === 1 ? key : `${key}/${String(index + 1)}`, events: part }));
}

export interface Progress {
  total: number;
  changed: number;
  skipped: number;
}

export function progressOf(batches: readonly Batch[], results: readonly InterventionResult[]): Progress {
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  return {
    total: sum(batches.map(({ events }) => events.length)),
    changed: sum(results.map(({ changed }) => changed.length)),
    skipped: sum(results.map(({ skipped }) => skipped.length)),
  };
}

/** What several interventions of one decision came to, as one: the first one's id and time, all their rows. */
export function joinResults(results: readonly [InterventionResult, ...InterventionResult[]]): InterventionResult {
  const [first] = results;
  if (results.length === 1) return first;
  const changed = results.flatMap((result) => result.changed);
  const skipped = results.flatMap((result) => result.skipped);
  const outcome: Outcome = changed.length === 0 ? 'none' : skipped.length === 0 ? 'applied' : 'partly';
  return { ...first, changed, skipped, outcome };
}
