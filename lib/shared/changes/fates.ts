/**
 * Operations that a shape defines as rules by state; after them the relay takes the event again. `retry`: exactly one more attempt, due now.
 * `requeue`: starting over, attempts zero, lease and error cleared, out of the dead-letter table. `release`: a stuck event back to pending,
 * or its lease cut short.
 */
export const RULE_OPERATIONS = ['retry', 'requeue', 'release'] as const;

/** All operations, by key; lib/interventions/operations.ts has what they do. */
export const OPERATION_KEYS = ['archive', 'release', 'requeue', 'restore', 'retry'] as const;

export const isFollowed = (operation: string): boolean => (RULE_OPERATIONS as readonly string[]).includes(operation);

/** `gone`: in no table. `failedAgain`: dead again. `retrying`: tried on. `notKnown`: archived since, or in a state that is not mapped. */
export const FATES = ['published', 'gone', 'waiting', 'retrying', 'failedAgain', 'notKnown'] as const;
export type Fate = (typeof FATES)[number];

export interface Fates {
  /** When it was looked, by the console's clock. */
  asOf: string;
  fates: Record<Fate, number>;
  /** The relay deletes what it has sent: then `gone` is out, as far as the table can tell. */
  goneIsOut: boolean;
  /** Of those that failed again, how many of the error that the record has of them; null if not all can be compared. */
  sameError: number | null;
  /** The error of one that failed again. */
  error: string | null;
  events: { id: string; fate: Fate }[];
}

export const failuresOf = ({ fates }: Pick<Fates, 'fates'>): number => fates.failedAgain + fates.retrying;

/** Events the relay still has to take or to try again: their fates may change. */
export const underWay = ({ fates }: Pick<Fates, 'fates'>): number => fates.waiting + fates.retrying;

export const outOf = ({ fates, goneIsOut }: Pick<Fates, 'fates' | 'goneIsOut'>): number => fates.published + (goneIsOut ? fates.gone : 0);
