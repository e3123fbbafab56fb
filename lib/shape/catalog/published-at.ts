import { defineShape } from '../shape';

const UNPUBLISHED = { column: 'published_at', isNull: true } as const;

/** Go order service: `published_at IS NULL` is the queue; the relay commits before it publishes; dead letters in `outbox_dead`. */
export const publishedAt = defineShape({
  key: 'published-at',
  label: 'Published-at table with a dead-letter table',
  origin: 'order service (Go)',
  engines: ['postgres'],
  table: 'outbox_events',
  columns: {
    id: 'id',
    type: 'event_type',
    aggregateType: 'aggregate_type',
    aggregateId: 'aggregate_id',
    createdAt: 'created_at',
    publishedAt: 'published_at',
    attempts: 'attempt',
    dedupKey: 'dedup_key',
    traceId: { column: 'headers', path: ['trace_id'] },
    payload: 'payload',
    headers: 'headers',
  },
  dead: { table: 'outbox_dead', columns: { diedAt: 'died_at', error: 'last_error' } },
  states: [
    { state: 'published', when: { column: 'published_at', isNull: false } },
    { state: 'retrying', when: { all: [UNPUBLISHED, { column: 'attempt', above: 0 }] } },
    { state: 'pending', when: UNPUBLISHED },
  ],
  parameters: { maxAttempts: 10, stuckAfter: 300 },
  operations: {
    retry: [
      {
        from: ['dead'],
        version: 'exact',
        moveTo: 'main',
        set: { attempt: { parameter: 'maxAttempts', minus: 1 }, published_at: { value: null } },
      },
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
    ],
    requeue: [
      { from: ['dead'], version: 'exact', moveTo: 'main', set: { attempt: { value: 0 }, published_at: { value: null } } },
      { from: ['retrying'], version: 'stable', set: { attempt: { value: 0 } }, warnings: ['may_already_be_out'] },
    ],
    release: { refuse: 'not_claimed' },
  },
  // The relay commits before it publishes: a waiting row may be on its way while we take it out.
  archive: { from: ['dead', 'pending', 'retrying'], warnings: ['may_already_be_out'] },
  asDead: { moveTo: 'dead', set: { died_at: { now: true }, last_error: { value: null } } },
  cautions: { pending: ['may_already_be_out'], retrying: ['may_already_be_out'], dead: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: ['aggregate_type', 'aggregate_id', 'event_type', 'payload', 'headers', 'dedup_key', 'created_at', 'published_at', 'attempt'],
    mustNotHave: ['status'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outbox_events (
           id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id text NOT NULL, event_type text NOT NULL, payload jsonb NOT NULL,
           headers jsonb, dedup_key text UNIQUE, created_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz,
           attempt smallint NOT NULL DEFAULT 0)`,
        'CREATE INDEX ON outbox_events (published_at NULLS FIRST, created_at)',
        'CREATE INDEX ON outbox_events (aggregate_type, aggregate_id)',
        `CREATE TABLE outbox_dead (
           id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id text NOT NULL, event_type text NOT NULL, payload jsonb NOT NULL,
           headers jsonb, dedup_key text UNIQUE, created_at timestamptz NOT NULL, published_at timestamptz,
           attempt smallint NOT NULL, died_at timestamptz NOT NULL DEFAULT now(), last_error text)`,
      ],
    },
    rows: [
      {
        state: 'pending',
        values: {
          id: '00000000-0000-4000-8000-000000000001',
          aggregate_type: 'order',
          aggregate_id: 'order-1',
          event_type: 'order.created',
          payload: {},
          headers: { trace_id: 't1' },
          dedup_key: 'd1',
          created_at: '2026-01-01T00:00:01Z',
          attempt: 0,
        },
      },
      {
        state: 'retrying',
        values: {
          id: '00000000-0000-4000-8000-000000000002',
          aggregate_type: 'order',
          aggregate_id: 'order-1',
          event_type: 'order.paid',
          payload: {},
          dedup_key: 'd2',
          created_at: '2026-01-01T00:00:02Z',
          attempt: 3,
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000003',
          aggregate_type: 'order',
          aggregate_id: 'order-2',
          event_type: 'order.created',
          payload: {},
          headers: {},
          dedup_key: 'd3',
          created_at: '2026-01-01T00:00:03Z',
          published_at: '2026-01-01T00:00:04Z',
          attempt: 0,
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000004',
          aggregate_type: 'order',
          aggregate_id: 'order-2',
          event_type: 'order.paid',
          payload: {},
          dedup_key: null,
          created_at: '2026-01-01T00:00:04Z',
          published_at: '2026-01-01T00:00:06Z',
          attempt: 2,
        },
      },
      {
        state: 'dead',
        in: 'dead',
        values: {
          id: '00000000-0000-4000-8000-000000000005',
          aggregate_type: 'order',
          aggregate_id: 'order-3',
          event_type: 'order.created',
          payload: {},
          headers: { trace_id: 't5' },
          dedup_key: 'd5',
          created_at: '2026-01-01T00:00:05Z',
          attempt: 10,
          died_at: '2026-01-01T00:10:00Z',
          last_error: 'broker: message too large',
        },
      },
      {
        state: 'dead',
        in: 'dead',
        values: {
          id: '00000000-0000-4000-8000-000000000006',
          aggregate_type: 'order',
          aggregate_id: 'order-3',
          event_type: 'order.paid',
          payload: {},
          dedup_key: 'd6',
          created_at: '2026-01-01T00:00:06Z',
          attempt: 10,
          died_at: '2026-01-01T00:11:00Z',
          last_error: null,
        },
      },
    ],
  },
});
