/** What eventferry's tables share on both engines: five states as numbers, one aggregate after the other. */
import type { ChangeRule, ShapeInput } from '../../shape';

const [PENDING, PROCESSING, DONE, FAILED, DEAD] = [0, 1, 2, 3, 4];

const FROM_THE_START = {
  status: { value: PENDING },
  attempts: { value: 0 },
  next_retry_at: { value: null },
  claimed_at: { value: null },
};

export const eventferry = {
  kind: 'status',
  table: 'outbox',
  columns: {
    id: 'id',
    sequence: 'id',
    type: 'topic',
    topic: 'topic',
    aggregateType: 'aggregate_type',
    aggregateId: 'aggregate_id',
    createdAt: 'created_at',
    publishedAt: { column: 'processed_at', when: { column: 'status', equals: DONE } },
    attemptedAt: 'claimed_at',
    availableAt: 'next_retry_at',
    attempts: 'attempts',
    dedupKey: 'message_id',
    traceId: 'trace_id',
    payload: 'payload',
    headers: 'headers',
  },
  states: [
    { state: 'dead', label: 'dead', when: { column: 'status', equals: DEAD } },
    { state: 'published', label: 'done', when: { column: 'status', equals: DONE } },
    { state: 'processing', label: 'processing', when: { column: 'status', equals: PROCESSING } },
    { state: 'retrying', label: 'failed', when: { column: 'status', equals: FAILED } },
    { state: 'pending', label: 'pending', when: { column: 'status', equals: PENDING } },
  ],
  parameters: {
    stuckAfter: 60,
    extra: { claimTimeout: { default: 60, unit: 's', what: 'After this the relay takes a claimed row again' } },
  },
  claim: { visible: true, leaseSeconds: 'claimTimeout' },
  // A dead row no longer holds up its aggregate: later events may be out before it comes back.
  ordering: { key: 'aggregateId', by: 'sequence', blockedBy: ['pending', 'processing', 'retrying'] },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { status: { value: DEAD } } },
  detect: {
    mustHave: [
      'message_id',
      'aggregate_type',
      'aggregate_id',
      'topic',
      'key',
      'payload',
      'headers',
      'trace_id',
      'status',
      'attempts',
      'next_retry_at',
      'claimed_at',
      'processed_at',
    ],
    types: { status: 'smallint' },
  },
} satisfies Partial<ShapeInput>;

/** `how` says where a change to a row is seen at all. */
export function eventferryOperations(how: Pick<ChangeRule, 'needs'>): ShapeInput['operations'] {
  return {
    retry: [
      { from: ['dead'], refuse: 'limit_unknown' },
      {
        from: ['retrying'],
        version: 'stable',
        guard: { column: 'next_retry_at', future: true },
        set: { next_retry_at: { now: true } },
        basis: 'inferred',
        ...how,
      },
    ],
    requeue: [
      { from: ['dead'], version: 'exact', set: FROM_THE_START, warnings: ['later_may_be_out'], basis: 'inferred', ...how },
      { from: ['retrying'], version: 'stable', set: FROM_THE_START, basis: 'inferred', ...how },
    ],
    release: { refuse: 'claim_lapses' },
  };
}
