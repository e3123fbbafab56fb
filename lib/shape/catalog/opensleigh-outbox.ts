import { defineShape, exact, names, byPart } from '../define';

/** OpenSleigh's outgoing messages: claimed by a lock with a time, deleted when sent. */
export const opensleighOutbox = defineShape({
  key: 'opensleigh-outbox',
  label: 'OpenSleigh outbox messages',
  origin: 'OpenSleigh (C#)',
  engines: ['postgres'],
  table: 'OutboxMessages',
  kind: 'presence',
  columns: {
    id: 'MessageId',
    type: 'MessageType',
    aggregateId: 'SenderId',
    createdAt: 'CreatedAt',
    attemptedAt: 'LockTime',
    lockedBy: 'LockId',
    traceId: 'CorrelationId',
    payload: 'Body',
  },
  states: [
    { state: 'processing', label: 'locked', when: { column: 'LockId', isNull: false } },
    { state: 'pending', when: { always: true } },
  ],
  operations: {
    retry: { refuse: 'not_verified' },
    requeue: { refuse: 'no_dead_letters' },
    release: [
      exact(
        'processing',
        { LockId: null, LockTime: null },
        { olderThanStuckAfter: 'LockTime', warnings: ['may_already_be_out', 'library_partly_read'], basis: 'inferred' },
      ),
    ],
  },
  archive: { from: ['pending'], warnings: ['relay_may_be_sending', 'library_partly_read'] },
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: names('MessageId LockId LockTime CorrelationId Body MessageType CreatedAt ParentId SenderId'),
    signature: ['LockTime', 'SenderId'],
    underscoreless: true,
  },
  facts: byPart('mizrael/OpenSleigh@08525909', 'library_partly_read'),
});
