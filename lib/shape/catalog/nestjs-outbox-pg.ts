import { nestjsDeadColumns, nestjsDetect, nestjsOutbox, nestjsRows } from './parts/nestjs-outbox';
import { defineShape } from '../shape';

/** The outbox of NestJS on PostgreSQL: what is sent is deleted, what is given up moves to `dead_letters`. */
export const nestjsOutboxPg = defineShape({
  ...nestjsOutbox,
  key: 'nestjs-outbox-pg',
  label: '@nestjs/outbox (PostgreSQL)',
  origin: '@nestjs/outbox (TypeScript)',
  engines: ['postgres'],
  table: 'nest_outbox.messages',
  match: { names: ['messages'] },
  dead: { table: 'dead_letters', columns: nestjsDeadColumns },
  detect: { ...nestjsDetect, companions: ['dead_letters', 'inbox', 'migrations'] },
  facts: { source: 'nestjs/outbox@0bcece8f', verified: 'source', warnings: ['rows_go_when_done', 'clock_of_application'] },
  sample: {
    ddl: {
      postgres: [
        'CREATE SCHEMA IF NOT EXISTS nest_outbox',
        `CREATE TABLE nest_outbox.messages (
           seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, topic text NOT NULL, payload jsonb, headers jsonb NOT NULL,
           key text, created_at bigint NOT NULL, available_at bigint NOT NULL, attempts int NOT NULL DEFAULT 0, last_error text,
           history jsonb NOT NULL DEFAULT '[]', lease_owner text, lease_until bigint)`,
        'CREATE INDEX ON nest_outbox.messages (key, seq) WHERE key IS NOT NULL',
        `CREATE TABLE nest_outbox.dead_letters (
           id text PRIMARY KEY, seq bigint NOT NULL, topic text NOT NULL, payload jsonb, headers jsonb NOT NULL, key text, created_at bigint NOT NULL,
           attempts int NOT NULL, last_error text, history jsonb NOT NULL, reason text NOT NULL, failed_at bigint NOT NULL)`,
        'CREATE INDEX ON nest_outbox.dead_letters (topic, failed_at)',
      ],
    },
    rows: nestjsRows,
  },
});
