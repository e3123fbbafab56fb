import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

const [PENDING, FAILED, DELIVERED, DISCARDED] = [0, 1, 2, 3];

/** Outbox and inbox items for Rails: one table per model; batches wait in Redis; `processed_at` is touched by every attempt. */
export const sbmtOutbox = defineShape({
  key: 'sbmt-outbox',
  label: 'sbmt-outbox items',
  origin: 'sbmt-outbox (Ruby)',
  engines: ['postgres', 'mysql'],
  kind: 'status',
  table: 'order_outbox_items',
  match: { pattern: '^(?<model>.+)_(?:outbox|inbox)_items$' },
  columns: {
    id: 'id',
    type: { anyOf: ['event_name'] },
    aggregateType: { captured: 'model' },
    aggregateId: 'event_key',
    orderingKey: 'event_key',
    createdAt: { column: 'created_at', time: 'utc' },
    publishedAt: { column: 'processed_at', time: 'utc', when: { column: 'status', equals: DELIVERED } },
    attemptedAt: { column: 'processed_at', time: 'utc' },
    attempts: 'errors_count',
    error: 'error_log',
    dedupKey: 'uuid',
    payload: 'payload',
    headers: 'options',
  },
  times: { updated_at: 'utc' },
  states: [
    { state: 'dead', label: 'failed', when: { column: 'status', equals: FAILED } },
    { state: 'published', label: 'delivered', when: { column: 'status', equals: DELIVERED } },
    // Overtaken by a later message of its key: done, though it was never sent.
    { state: 'published', label: 'discarded', when: { column: 'status', equals: DISCARDED } },
    {
      state: 'retrying',
      label: 'pending',
      when: {
        all: [
          { column: 'status', equals: PENDING },
          { column: 'errors_count', above: 0 },
        ],
      },
    },
    { state: 'pending', label: 'pending', when: { column: 'status', equals: PENDING } },
  ],
  parameters: { maxAttempts: 1 },
  claim: { visible: false },
  operations: {
    retry: [
      {
        from: ['dead'],
        version: 'exact',
        set: { status: { value: PENDING }, errors_count: { parameter: 'maxAttempts', minus: 1 }, processed_at: { value: null } },
        warnings: ['later_may_be_out'],
        basis: 'inferred',
      },
      // The wait before the next attempt is worked out from the time of the last.
      {
        from: ['retrying'],
        version: 'stable',
        guard: { column: 'processed_at', isNull: false },
        set: { processed_at: { value: null } },
        basis: 'inferred',
      },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        set: { status: { value: PENDING }, errors_count: { value: 0 }, processed_at: { value: null }, error_log: { value: null } },
        warnings: ['later_may_be_out'],
        basis: 'inferred',
      },
      {
        from: ['retrying'],
        version: 'stable',
        set: { errors_count: { value: 0 }, processed_at: { value: null }, error_log: { value: null } },
        basis: 'inferred',
      },
    ],
    release: { refuse: 'claims_outside' },
  },
  archive: { from: ['dead', 'pending', 'retrying'], warnings: ['relay_may_be_sending'] },
  asDead: { set: { status: { value: FAILED } } },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: ['uuid', 'event_key', 'bucket', 'status', 'payload', 'errors_count', 'processed_at'],
    signature: ['errors_count', 'bucket'],
    types: { status: 'integer' },
  },
  facts: { source: 'Kuper-Tech/sbmt-outbox@08787c19', verified: 'source', warnings: ['claims_in_redis', 'limit_is_assumed'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE order_outbox_items (
           id bigserial PRIMARY KEY, uuid uuid NOT NULL UNIQUE, event_name varchar, event_key varchar NOT NULL, bucket int NOT NULL,
           status int NOT NULL DEFAULT 0, options jsonb, payload bytea NOT NULL, errors_count int NOT NULL DEFAULT 0, error_log text,
           processed_at timestamp, created_at timestamp NOT NULL, updated_at timestamp NOT NULL)`,
        'CREATE INDEX ON order_outbox_items (status, id, bucket) INCLUDE (errors_count)',
        'CREATE INDEX ON order_outbox_items (created_at)',
      ],
      mysql: [
        `CREATE TABLE order_outbox_items (
           id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, uuid char(36) NOT NULL UNIQUE, event_name varchar(255), event_key varchar(255) NOT NULL,
           bucket int NOT NULL, status int NOT NULL DEFAULT 0, options json, payload mediumblob NOT NULL, errors_count int NOT NULL DEFAULT 0,
           error_log text, processed_at datetime(6), created_at datetime(6) NOT NULL, updated_at datetime(6) NOT NULL,
           KEY (status, id, bucket), KEY (created_at))`,
      ],
    },
    rows: sampleRows(
      { event_name: 'order_created', event_key: '1', bucket: 0, status: PENDING, payload: '{"order":1}', updated_at: '2026-01-01 00:00:00' },
      [
        ['pending', { id: 1, uuid: sampleId(1), created_at: '2026-01-01 00:00:01' }],
        ['retrying', { id: 2, uuid: sampleId(2), created_at: '2026-01-01 00:00:02', errors_count: 1, error_log: 'broker away', processed_at: '2026-01-01 00:00:03' }],
        ['dead', { id: 3, uuid: sampleId(3), created_at: '2026-01-01 00:00:03', status: FAILED, errors_count: 2, error_log: 'no such topic', processed_at: '2026-01-01 00:00:04' }],
        ['published', { id: 4, uuid: sampleId(4), created_at: '2026-01-01 00:00:04', status: DELIVERED, processed_at: '2026-01-01 00:00:05' }],
        ['published', { id: 5, uuid: sampleId(5), created_at: '2026-01-01 00:00:05', status: DISCARDED, errors_count: 1, processed_at: '2026-01-01 00:00:06' }],
        ['pending', { id: 6, uuid: sampleId(6), created_at: '2026-01-01 00:00:06', event_name: null, options: { key: 'a' } }],
        ['dead', { id: 7, uuid: sampleId(7), created_at: '2026-01-01 00:00:07', status: FAILED, errors_count: 0 }],
      ],
    ), // prettier-ignore
  },
});
