import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** OpenSleigh's outgoing messages: claimed by a lock with a time, deleted when they are out. */
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
  claim: { visible: true },
  operations: {
    retry: { refuse: 'not_verified' },
    requeue: { refuse: 'no_dead_letters' },
    release: [
      {
        from: ['processing'],
        version: 'exact',
        olderThanStuckAfter: 'LockTime',
        set: { LockId: { value: null }, LockTime: { value: null } },
        warnings: ['may_already_be_out', 'library_partly_read'],
        basis: 'inferred',
      },
    ],
  },
  archive: { from: ['pending'], warnings: ['relay_may_be_sending', 'library_partly_read'] },
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: ['MessageId', 'LockId', 'LockTime', 'CorrelationId', 'Body', 'MessageType', 'CreatedAt', 'ParentId', 'SenderId'],
    signature: ['LockTime', 'SenderId'],
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'mizrael/OpenSleigh@08525909', verified: 'partial', warnings: ['library_partly_read'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE "OutboxMessages" (
           "MessageId" text PRIMARY KEY, "LockId" text, "LockTime" timestamptz, "CorrelationId" text NOT NULL, "Body" bytea NOT NULL,
           "MessageType" text NOT NULL, "CreatedAt" timestamptz NOT NULL, "ParentId" text, "SenderId" text NOT NULL)`,
      ],
    },
    rows: sampleRows({ CorrelationId: 'saga-1', SenderId: 'saga-1', Body: '{"orderId":1}', MessageType: 'Shop.OrderPlaced' }, [
      ['pending', { MessageId: 'm-1', CreatedAt: '2026-01-01 00:00:01' }],
      ['pending', { MessageId: 'm-2', CreatedAt: '2026-01-01 00:00:02', ParentId: 'm-1' }],
      ['pending', { MessageId: 'm-3', CreatedAt: '2026-01-01 00:00:03', LockTime: '2026-01-01 00:00:04' }],
      ['processing', { MessageId: 'm-4', CreatedAt: '2026-01-01 00:00:04', LockId: 'l-1', LockTime: '2026-01-01 00:00:05' }],
      ['processing', { MessageId: 'm-5', CreatedAt: '2026-01-01 00:00:05', LockId: 'l-2', LockTime: '2037-01-01 00:00:00' }],
      ['processing', { MessageId: 'm-6', CreatedAt: '2026-01-01 00:00:06', LockId: 'l-3' }],
    ]),
  },
});
