import { eventferry, eventferryOperations, eventferryRows } from './parts/eventferry';
import { defineShape } from '../shape';

/** Outbox for Node on PostgreSQL: status as a number, heads of aggregates claimed. */
export const eventferryPg = defineShape({
  ...eventferry,
  key: 'eventferry-pg',
  label: 'eventferry (PostgreSQL)',
  origin: 'eventferry (TypeScript)',
  engines: ['postgres'],
  operations: eventferryOperations({}),
  facts: { source: 'SametGoktepe/eventferry@cd65266f', verified: 'source', warnings: ['dead_stop_blocking', 'no_error_kept'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outbox (
           id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message_id uuid NOT NULL UNIQUE, aggregate_type varchar(255) NOT NULL,
           aggregate_id varchar(255) NOT NULL, topic varchar(255) NOT NULL, key text, payload jsonb NOT NULL, headers jsonb NOT NULL DEFAULT '{}',
           trace_id varchar(64), status smallint NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0, next_retry_at timestamptz,
           claimed_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), processed_at timestamptz)`,
        'CREATE INDEX ON outbox (id) WHERE status IN (0, 1, 3)',
        'CREATE INDEX ON outbox (aggregate_id, id) WHERE status IN (0, 1, 3)',
      ],
    },
    rows: eventferryRows,
  },
});
