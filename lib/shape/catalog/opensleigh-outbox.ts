import { defineShape, names, byPart, takenBack } from '../define';

const PARTLY_READ = ['library_partly_read'];

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
    release: [takenBack('processing', 'LockTime', { LockId: null, LockTime: null }, { warnings: PARTLY_READ, basis: 'inferred' })],
  },
  archive: { from: ['pending'], warnings: ['relay_may_be_sending', ...PARTLY_READ] },
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: names('MessageId LockId LockTime CorrelationId Body MessageType CreatedAt ParentId SenderId'),
    signature: ['LockTime', 'SenderId'],
    underscoreless: true,
  },
  facts: byPart('mizrael/OpenSleigh@08525909', ...PARTLY_READ),
});
