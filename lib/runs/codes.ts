/** What became of the events of a run, as one number each: the store keeps them as bytes. Only ever add at the end. */
import type { SkipCode } from '@/lib/shared/model';
import type { RunCounts, RunFate } from '@/lib/shared/runs/runs';

const OUTCOMES = [
  'remaining', 'changed', 'changed_since_seen', 'being_processed', 'already_published', 'wrong_state', 'locked', 'not_found',
  'not_supported', 'too_young', 'already_exists', 'did_not_take', 'blocked_by_order',
] as const satisfies readonly ('remaining' | 'changed' | 'blocked_by_order' | SkipCode)[]; // prettier-ignore
export type RunOutcome = (typeof OUTCOMES)[number];

export const outcomeCode = (outcome: RunOutcome): number => OUTCOMES.indexOf(outcome);
export const outcomeOf = (code: number): RunOutcome => OUTCOMES[code] ?? 'remaining';

/** `retrying`: it failed again, and may still be published. */
const FATES = ['notLooked', 'published', 'gone', 'failedAgain', 'retrying', 'waiting', 'notKnown'] as const;
export type EventFate = (typeof FATES)[number];

export const fateCode = (fate: EventFate): number => FATES.indexOf(fate);
export const eventFateOf = (code: number): EventFate => FATES[code] ?? 'notLooked';

/** May still become another one. */
export const isUnsure = (fate: EventFate): boolean => fate === 'notLooked' || fate === 'waiting' || fate === 'retrying';

export const runFateOf = (fate: EventFate): RunFate => (fate === 'notLooked' ? 'waiting' : fate === 'retrying' ? 'failedAgain' : fate);

/** Tries at an event whose row somebody else holds; then it is left. */
export const LOCKED_TRIES = 3;

const FAILED: readonly RunOutcome[] = ['did_not_take', 'not_supported', 'already_exists'];

/** The sum that an event is counted in. */
export function countOf(outcome: RunOutcome): Exclude<keyof RunCounts, 'requested' | 'fates' | 'unknown'> {
  if (outcome === 'remaining' || outcome === 'changed' || outcome === 'locked') return outcome;
  return FAILED.includes(outcome) ? 'failed' : 'conflicted';
}
