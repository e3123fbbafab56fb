import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** One row per transaction that published through MassTransit: a batch of rows of OutboxMessage, and how far it has been delivered. */
export const masstransitOutboxstate = defineShape({
  key: 'masstransit-outboxstate',
  label: 'MassTransit outbox state',
  origin: 'MassTransit with Entity Framework (C#)',
  engines: ['postgres', 'mysql'],
  table: 'OutboxState',
  match: { names: ['outboxstate', 'outbox_state'] },
  kind: 'timestamp',
  columns: { id: 'OutboxId', sequence: 'LastSequenceNumber', createdAt: 'Created', publishedAt: 'Delivered' },
  states: [
    { state: 'published', when: { column: 'Delivered', isNull: false } },
    { state: 'pending', when: { column: 'Delivered', isNull: true } },
  ],
  // LockId is the token of one transaction, no lease.
  claim: { visible: false },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: { refuse: 'no_dead_letters' },
    release: { refuse: 'claim_is_a_lock' },
  },
  noArchive: 'library_cleans_up',
  detect: {
    mustHave: ['OutboxId', 'LockId', 'Created', 'Delivered', 'LastSequenceNumber'],
    signature: ['OutboxId', 'LastSequenceNumber'],
    companions: ['OutboxMessage'],
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'MassTransit/MassTransit@c1e5caa9', verified: 'source', warnings: ['row_is_a_batch', 'oldest_failing_goes_first'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE "OutboxState" (
           "OutboxId" uuid PRIMARY KEY, "LockId" uuid NOT NULL, "RowVersion" bytea, "Created" timestamptz NOT NULL, "Delivered" timestamptz,
           "LastSequenceNumber" bigint)`,
        'CREATE INDEX ON "OutboxState" ("Created")',
      ],
      mysql: [
        `CREATE TABLE OutboxState (
           OutboxId char(36) PRIMARY KEY, LockId char(36) NOT NULL, RowVersion timestamp(6) NULL, Created datetime(6) NOT NULL,
           Delivered datetime(6), LastSequenceNumber bigint, INDEX (Created))`,
      ],
    },
    rows: sampleRows({ LockId: sampleId(90) }, [
      ['pending', { OutboxId: sampleId(1), Created: '2026-01-01 00:00:01' }],
      ['pending', { OutboxId: sampleId(2), Created: '2026-01-01 00:00:02', LastSequenceNumber: 4 }],
      ['pending', { OutboxId: sampleId(3), Created: '2026-01-01 00:00:03' }],
      ['published', { OutboxId: sampleId(4), Created: '2026-01-01 00:00:04', Delivered: '2026-01-01 00:00:05', LastSequenceNumber: 7 }],
      ['published', { OutboxId: sampleId(5), Created: '2026-01-01 00:00:05', Delivered: '2026-01-01 00:00:05', LastSequenceNumber: null }],
      ['published', { OutboxId: sampleId(6), Created: '2026-01-01 00:00:06', Delivered: '2026-01-01 01:00:00', LastSequenceNumber: 9 }],
    ]),
  },
});
