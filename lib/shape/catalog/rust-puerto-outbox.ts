import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** Outbox for Rust: one delivery per consumer in a table of its own; a row is what its deliveries are. */
export const rustPuertoOutbox = defineShape({
  key: 'rust-puerto-outbox',
  label: 'puerto outbox',
  origin: 'puerto-sqlx (Rust)',
  engines: ['postgres'],
  kind: 'child',
  table: 'outbox',
  columns: {
    id: 'id',
    sequence: 'seq',
    type: 'event_type',
    aggregateType: 'aggregate_type',
    aggregateId: 'aggregate_id',
    createdAt: 'occurred_at',
    publishedAt: 'published_at',
    payload: 'payload',
    headers: 'headers',
  },
  companions: { deliveries: { table: 'event_deliveries', on: { event_id: 'id' }, purpose: 'children' } },
  states: [
    { state: 'dead', label: 'dead', when: { exists: { companion: 'deliveries', when: { column: 'status', equals: 'dead' } } } },
    { state: 'published', label: 'published', when: { column: 'published_at', isNull: false } },
    {
      state: 'retrying',
      label: 'pending',
      when: {
        exists: {
          companion: 'deliveries',
          when: {
            all: [
              { column: 'status', equals: 'pending' },
              { column: 'attempts', above: 0 },
            ],
          },
        },
      },
    },
    { state: 'pending', label: 'pending', when: { always: true } },
  ],
  operations: {
    retry: { refuse: 'state_per_consumer' },
    requeue: { refuse: 'state_per_consumer' },
    release: { refuse: 'not_claimed' },
  },
  noArchive: 'state_per_consumer',
  detect: {
    mustHave: ['seq', 'aggregate_type', 'aggregate_id', 'event_type', 'schema_version', 'occurred_at', 'published_at'],
    companions: ['event_deliveries', 'dead_letters'],
  },
  facts: { source: 'crates.io puerto-sqlx', verified: 'partial', warnings: ['one_state_per_reader', 'library_partly_read'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outbox (
           id uuid PRIMARY KEY, seq bigserial NOT NULL UNIQUE, aggregate_type text NOT NULL, aggregate_id uuid NOT NULL, event_type text NOT NULL,
           schema_version int NOT NULL DEFAULT 1, payload jsonb NOT NULL, headers jsonb NOT NULL DEFAULT '{}',
           occurred_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz)`,
        `CREATE TABLE event_deliveries (
           event_id uuid NOT NULL, consumer text NOT NULL, status text NOT NULL DEFAULT 'pending', attempts int NOT NULL DEFAULT 0,
           next_attempt_at timestamptz NOT NULL DEFAULT now(), last_error text, PRIMARY KEY (event_id, consumer))`,
        `INSERT INTO event_deliveries (event_id, consumer, status, attempts) VALUES
           ('${sampleId(1)}', 'mail', 'pending', 0), ('${sampleId(1)}', 'ledger', 'done', 1), ('${sampleId(2)}', 'mail', 'pending', 2),
           ('${sampleId(2)}', 'ledger', 'done', 1), ('${sampleId(3)}', 'mail', 'dead', 5), ('${sampleId(3)}', 'ledger', 'pending', 1),
           ('${sampleId(4)}', 'mail', 'done', 1), ('${sampleId(4)}', 'ledger', 'done', 3), ('${sampleId(5)}', 'mail', 'done', 1)`,
      ],
    },
    rows: sampleRows({ aggregate_type: 'order', aggregate_id: sampleId(99), event_type: 'order.created', payload: { order: 1 } }, [
      ['pending', { id: sampleId(1), seq: 1, occurred_at: '2026-01-01T00:00:01Z' }],
      ['retrying', { id: sampleId(2), seq: 2, occurred_at: '2026-01-01T00:00:02Z' }],
      ['dead', { id: sampleId(3), seq: 3, occurred_at: '2026-01-01T00:00:03Z' }],
      ['published', { id: sampleId(4), seq: 4, occurred_at: '2026-01-01T00:00:04Z', published_at: '2026-01-01T00:00:05Z' }],
      ['published', { id: sampleId(5), seq: 5, occurred_at: '2026-01-01T00:00:05Z', published_at: '2026-01-01T00:00:06Z' }],
      // Nobody has been told of it yet.
      ['pending', { id: sampleId(6), seq: 6, occurred_at: '2026-01-01T00:00:06Z' }],
    ]),
  },
});
