import { errorTemplate } from './lists/cause';
import type { Count, Known } from './figures/measured';
import type { Cause, EventFilter, EventPage, OutboxEvent, OutboxInfo } from './model';
import type { Money } from './text/money';

/** A dead event for counting, as the viewer may see it. */
export type DeadEvent = Pick<OutboxEvent, 'id' | 'type' | 'error' | 'createdAt'> &
  Partial<Pick<OutboxEvent, 'diedAt' | 'amount' | 'currency'>>;

/** A cause with its events, as counted. */
export interface CountedCause extends Cause {
  /** The fingerprint of type and template, as whoever it is counted for sees them. */
  id: string;
  count: number;
  /** Of the deaths that are known, or of the creations where none is. */
  firstSeenAt: string | null;
  lastSeenAt: string | null;
  seen: 'died' | 'created';
  /** One to three of its events, whose texts differ if any do. */
  samples: string[];
  /** By currency, of the `summed` events whose amount is known. */
  sums: Money<string>[];
  summed: number;
}

/** What an operator wrote about a cause. */
export type CauseNote = Record<'text' | 'actor' | 'at', string>;
export const CAUSE_NOTE_MAX = 500;
/** An event of a cause, to see why they are together. */
export type CauseSample = Pick<OutboxEvent, 'id' | 'error'>;
/** Causes kept of an outbox. */
export const CAUSES_MAX = 500;

export interface DeadLetterGroup extends CountedCause {
  outbox: string;
  /** `capped`: at least so many; `estimated`: the events moved since they were counted; `sampled`: of the newest alone. */
  known: Exclude<Known, 'unavailable'>;
  /** Of the newest retrying events, how many fail for the same cause. */
  retrying: number;
  note: CauseNote | null;
  /** When what it is new since was deployed; null if it is older. */
  newSince: string | null;
}

export interface CountedRows {
  rows: number;
  complete: boolean;
  /** When counting began and ended, if that was not just now. */
  round?: Record<'beganAt' | 'endedAt', string>;
}

export interface DeadLetters {
  outbox: OutboxInfo;
  dead: Count;
  /** The dead rows that causes are counted over, and whether these are all or the newest; null if none were read. */
  searched: CountedRows | null;
  page: EventPage | null;
  problem: 'timeout' | 'unavailable' | null;
}

/** What the dead-letter screens poll: one outbox or all; each has its own problem if it cannot be read. */
export interface DeadLettersSnapshot {
  asOf: string | null;
  outboxes: DeadLetters[];
  /** Causes of all of them, largest first, and how many more there are. */
  groups: DeadLetterGroup[];
  moreGroups: number;
  /** Events of causes that are not kept. */
  otherEvents: number;
}

export const byCount = (a: Pick<DeadLetterGroup, 'count' | 'lastSeenAt'>, b: Pick<DeadLetterGroup, 'count' | 'lastSeenAt'>): number =>
  b.count - a.count || (b.lastSeenAt ?? '').localeCompare(a.lastSeenAt ?? '');

/** A filter for the rows of a group; rows without an error are found by type only. */
export function groupFilter({ type, error }: Pick<DeadLetterGroup, 'type' | 'error'>): EventFilter {
  const cause = error === null ? '' : errorTemplate(error);
  return { type: type === null ? undefined : [type], cause: cause.trim() === '' ? undefined : cause };
}
