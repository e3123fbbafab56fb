import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** Namastack's outbox: records are shared out by partition, sent in order per key, and failed for good after some tries. */
export const namastackOutboxRecord = defineShape({
  key: 'namastack-outbox-record',
  label: 'Namastack outbox records',
  origin: 'Namastack Outbox (Kotlin, Java)',
  engines: ['postgres', 'mysql'],
  table: 'outbox_record',
  match: { pattern: 'outbox_record$' },
  kind: 'status',
  columns: {
    id: 'id',
    type: 'record_type',
    topic: 'handler_id',
    aggregateId: 'record_key',
    createdAt: 'created_at',
    publishedAt: 'completed_at',
    availableAt: 'next_retry_at',
    attempts: 'failure_count',
    error: 'failure_reason',
    payload: 'payload',
    headers: 'context',
  },
  states: [
    { state: 'dead', label: 'FAILED', when: { column: 'status', equals: 'FAILED' } },
    { state: 'published', label: 'COMPLETED', when: { column: 'status', equals: 'COMPLETED' } },
    {
      state: 'retrying',
      label: 'NEW',
      when: {
        all: [
          { column: 'status', equals: 'NEW' },
          { column: 'failure_count', above: 0 },
        ],
      },
    },
    { state: 'pending', label: 'NEW', when: { column: 'status', equals: 'NEW' } },
  ],
  parameters: { maxAttempts: 3 },
  claim: { visible: false },
  // With stop-on-first-failure, which is on unless it is switched off.
  ordering: { key: 'aggregateId', by: 'createdAt', blockedBy: ['pending', 'retrying', 'dead'] },
  operations: {
    retry: [
      {
        from: ['pending', 'retrying'],
        version: 'exact',
        set: { next_retry_at: { now: true } },
        warnings: ['whole_row_is_rewritten'],
        basis: 'inferred',
      },
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        set: { status: { value: 'NEW' }, failure_count: { value: 0 }, failure_reason: { value: null }, next_retry_at: { now: true } },
        basis: 'inferred',
      },
    ],
    // Partitions of an instance that no longer answers are given to the others.
    release: { refuse: 'relay_takes_back' },
  },
  archive: { from: ['dead'], warnings: ['unblocks_its_key'] },
  payload: { encoding: 'json' },
  detect: {
    mustHave: ['id', 'status', 'record_key', 'record_type', 'payload', 'failure_count', 'next_retry_at', 'partition_no', 'handler_id'],
    signature: ['record_key', 'partition_no'],
    companions: ['outbox_instance', 'outbox_partition'],
  },
  facts: {
    source: 'namastack/namastack-outbox@679e518f',
    verified: 'ran',
    warnings: ['failing_row_blocks_its_key', 'whole_row_is_rewritten'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outbox_record (
           id varchar(255) PRIMARY KEY, status varchar(20) NOT NULL, record_key varchar(255) NOT NULL, record_type varchar(255) NOT NULL,
           payload text NOT NULL, context text, created_at timestamptz NOT NULL, completed_at timestamptz, failure_count int NOT NULL,
           failure_reason varchar(1000), next_retry_at timestamptz NOT NULL, partition_no int NOT NULL, handler_id varchar(1000) NOT NULL)`,
        'CREATE INDEX ON outbox_record (record_key, created_at)',
        'CREATE INDEX ON outbox_record (partition_no, status, next_retry_at)',
        'CREATE INDEX ON outbox_record (status, next_retry_at)',
        'CREATE INDEX ON outbox_record (status)',
        'CREATE INDEX ON outbox_record (record_key, completed_at, created_at)',
      ],
      mysql: [
        `CREATE TABLE outbox_record (
           id varchar(255) PRIMARY KEY, status varchar(20) NOT NULL, record_key varchar(255) NOT NULL, record_type varchar(255) NOT NULL,
           payload text NOT NULL, context text, created_at timestamp(6) NOT NULL, completed_at timestamp(6) NULL, failure_count int NOT NULL,
           failure_reason varchar(1000), next_retry_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), partition_no int NOT NULL,
           handler_id varchar(1000) NOT NULL, INDEX (record_key, created_at), INDEX (partition_no, status, next_retry_at),
           INDEX (status, next_retry_at), INDEX (status), INDEX (record_key, completed_at, created_at))`,
      ],
    },
    rows: sampleRows(
      {
        status: 'NEW',
        record_key: 'order-1',
        record_type: 'com.shop.OrderPaid',
        payload: '{"orderId":1}',
        failure_count: 0,
        partition_no: 17,
        handler_id: 'com.shop.Mailer#on',
        next_retry_at: '2026-01-01 00:00:01',
      },
      [
        ['pending', { id: 'r-1', created_at: '2026-01-01 00:00:01' }],
        ['retrying', { id: 'r-2', created_at: '2026-01-01 00:00:02', failure_count: 2, failure_reason: 'timeout' }],
        ['published', { id: 'r-3', created_at: '2026-01-01 00:00:03', status: 'COMPLETED', completed_at: '2026-01-01 00:00:04' }],
        [
          'dead',
          {
            id: 'r-4',
            created_at: '2026-01-01 00:00:04',
            status: 'FAILED',
            failure_count: 3,
            failure_reason: 'rejected',
            record_key: 'order-2',
          },
        ],
        // Behind the failed one of its key: not taken before that is settled.
        ['pending', { id: 'r-5', created_at: '2026-01-01 00:00:05', record_key: 'order-2', context: '{"tenant":"a"}' }],
        [
          'dead',
          { id: 'r-6', created_at: '2026-01-01 00:00:06', status: 'FAILED', failure_count: 4, failure_reason: null, record_key: 'order-3' },
        ],
      ],
    ),
  },
});
