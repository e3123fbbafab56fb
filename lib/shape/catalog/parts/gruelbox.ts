/** What gruelbox's transaction-outbox has in common on both engines: calls of methods, kept with their arguments. */
import type { ShapeInput } from '../../shape';

const ORDERED = { not: { column: 'topic', equals: '*' } };
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
    { state: 'retrying', when: { column: 'attempts', above: 0 } },
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
      { from: ['pending', 'retrying'], version: 'exact', set: { nextAttemptTime: { now: true } }, basis: 'inferred' },
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        guard: { not: PROCESSED },
        set: { attempts: { value: 0 }, blocked: { value: unblocked } },
        basis: 'official',
      },
    ],
    release: { refuse: 'claim_lapses' },
  };
}

export const GRUELBOX_ROWS = [
  ['pending', { id: 'a1' }],
  ['pending', { id: 'a2', topic: 'order-1', seq: 1, nextAttemptTime: '2037-01-01 00:00:00' }],
  ['retrying', { id: 'a3', topic: 'order-1', seq: 2, attempts: 7, lastAttemptTime: '2026-01-01 00:00:03' }],
  ['published', { id: 'a4', processed: '1', uniqueRequestId: 'u-4', attempts: 1, lastAttemptTime: '2026-01-01 00:00:04' }],
  ['dead', { id: 'a5', blocked: '1', attempts: 5, lastAttemptTime: '2026-01-01 00:00:05' }],
  ['dead', { id: 'a6', blocked: '1', attempts: 5, uniqueRequestId: 'u-6', invocation: 'not json' }],
  ['published', { id: 'a7', processed: '1', uniqueRequestId: 'u-7', nextAttemptTime: '2026-01-08 00:00:00' }],
] as const;

/** What every row of the sample has unless it says otherwise. */
export const GRUELBOX_COMMON = {
  invocation: '{"c":"com.shop.Mailer","m":"sendReceipt","p":["String"],"a":[{"t":"String","v":"order-1"}]}',
  nextAttemptTime: '2026-01-01 00:00:01',
  attempts: 0,
  blocked: '0',
  version: 1,
  processed: '0',
  topic: '*',
};

export const GRUELBOX_WARNINGS = ['failing_topic_never_dies', 'settled_key_may_return', 'local_time'];
