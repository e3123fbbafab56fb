import { defineShape } from '../shape';

/** Go orders to Redis: status only, no published time; one transaction around the publish of a batch. */
export const courierStatus = defineShape({
  key: 'courier-status',
  label: 'Courier status table',
  origin: 'orders to Redis (Go)',
  engines: ['postgres'],
  table: 'outbox',
  columns: { id: 'id', type: 'event_type', createdAt: 'created_at', payload: 'payload' },
  states: [
    { state: 'published', when: { column: 'status', equals: 'PROCESSED' } },
    { state: 'pending', when: { column: 'status', equals: 'PENDING' } },
  ],
  parameters: { stuckAfter: 300 },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: { refuse: 'no_attempts' },
    release: { refuse: 'not_claimed' },
  },
  // A failing publish rolls its whole batch back: taking the poison row out is the cure.
  archive: { from: ['pending'], warnings: ['may_already_be_out'] },
  cautions: { pending: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: ['id', 'event_type', 'payload', 'status', 'created_at'],
    mustNotHave: ['aggregate_id', 'processed_at', 'published_at', 'attempts', 'retry_count', 'topic', 'last_error', 'updated_at'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outbox (
           id uuid PRIMARY KEY, event_type varchar(255) NOT NULL, payload jsonb NOT NULL, status varchar(50) NOT NULL DEFAULT 'PENDING',
           created_at timestamp NOT NULL DEFAULT now())`,
      ],
    },
    rows: [
      {
        state: 'pending',
        values: {
          id: '00000000-0000-4000-8000-000000000001',
          event_type: 'order.created',
          payload: {},
          status: 'PENDING',
          created_at: '2026-01-01 00:00:01',
        },
      },
      {
        state: 'pending',
        values: {
          id: '00000000-0000-4000-8000-000000000002',
          event_type: 'order.paid',
          payload: {},
          status: 'PENDING',
          created_at: '2026-01-01 00:00:02',
        },
      },
      {
        state: 'pending',
        values: {
          id: '00000000-0000-4000-8000-000000000003',
          event_type: 'order.created',
          payload: {},
          status: 'PENDING',
          created_at: '2026-01-01 00:00:03',
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000004',
          event_type: 'order.created',
          payload: {},
          status: 'PROCESSED',
          created_at: '2026-01-01 00:00:04',
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000005',
          event_type: 'order.paid',
          payload: {},
          status: 'PROCESSED',
          created_at: '2026-01-01 00:00:05',
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000006',
          event_type: 'order.paid',
          payload: {},
          status: 'PROCESSED',
          created_at: '2026-01-01 00:00:06',
        },
      },
    ],
  },
});
