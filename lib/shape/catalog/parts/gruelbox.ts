/** What gruelbox's transaction-outbox has in common on both engines: calls of methods, kept with their arguments. */
import type { ShapeInput } from '../../shape';
import { NOW, above, exact, is } from '../../define';

const ORDERED = { not: is('topic', '*') };

const PROCESSED = { column: 'processed', isTrue: true };

/**
 * nextAttemptTime is when to try again, and on processed rows when to purge. The counter `version` guards the relay's own
 * update and delete: touching it makes a call that has run be run again.
 */
export const GRUELBOX = {
  kind: 'flag',
  columns: {
    id: 'id',
    sequence: 'seq',
    type: { column: 'invocation', path: ['m'] },
    topic: 'topic',
    aggregateType: { column: 'invocation', path: ['c'] },
    orderingKey: { column: 'topic', when: ORDERED },
    publishedAt: { column: 'lastAttemptTime', when: PROCESSED },
    attemptedAt: 'lastAttemptTime',
    availableAt: { column: 'nextAttemptTime', when: { not: PROCESSED } },
    attempts: 'attempts',
    dedupKey: 'uniqueRequestId',
    payload: 'invocation',
    version: 'version',
  },
  states: [
    { state: 'dead', label: 'blocked', when: { column: 'blocked', isTrue: true } },
    { state: 'published', label: 'processed', when: PROCESSED },
    { state: 'retrying', when: above('attempts', 0) },
    { state: 'pending', when: { always: true } },
  ],
  parameters: { maxAttempts: 5 },
  claim: { visible: false },
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending', 'retrying'] },
  lock: { never: 'version' },
  archive: { from: ['dead'], warnings: ['settled_key_may_return'] },
  payload: { encoding: 'json' },
} satisfies Partial<ShapeInput>;

/** The operations; `unblocked` is what the engine's `blocked` holds when nothing is. */
export function gruelboxOperations(unblocked: boolean | string): NonNullable<ShapeInput['operations']> {
  return {
    retry: [
      exact(['pending', 'retrying'], { nextAttemptTime: NOW }, { basis: 'inferred' }),
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    requeue: [exact('dead', { attempts: 0, blocked: unblocked }, { guard: { not: PROCESSED }, basis: 'official' })],
    release: { refuse: 'claim_lapses' },
  };
}

export const GRUELBOX_WARNINGS = ['failing_topic_never_dies', 'settled_key_may_return', 'local_time'];
