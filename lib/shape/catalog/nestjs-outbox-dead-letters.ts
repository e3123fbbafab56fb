import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** The dead letters of NestJS' outbox by themselves, where the messages table is not watched. */
export const nestjsOutboxDeadLetters = defineShape({
  key: 'nestjs-outbox-dead-letters',
  label: '@nestjs/outbox dead letters',
  origin: '@nestjs/outbox (TypeScript)',
  engines: ['postgres', 'mysql'],
  family: 'dead_letters',
  kind: 'presence',
  table: 'nest_outbox_dead_letters',
  match: { names: ['dead_letters'], pattern: 'dead_letters$' },
  columns: {
    id: 'id',
    sequence: 'seq',
    type: 'topic',
    topic: 'topic',
    aggregateId: 'key',
    createdAt: { column: 'created_at', time: 'epoch_ms' },
    diedAt: { column: 'failed_at', time: 'epoch_ms' },
    attempts: 'attempts',
    error: { anyOf: ['last_error', 'reason'] },
    payload: 'payload',
    headers: 'headers',
  },
  states: [{ state: 'dead', label: 'dead letter', when: { always: true } }],
  operations: {
    retry: { refuse: 'requeue_from_main' },
    requeue: { refuse: 'requeue_from_main' },
    release: { refuse: 'not_claimed' },
  },
  archive: { from: ['dead'] },
  detect: {
    mustHave: ['id', 'seq', 'topic', 'history', 'reason', 'failed_at', 'attempts', 'last_error'],
    mustNotHave: ['lease_owner'],
    companions: ['messages'],
  },
  facts: { source: 'nestjs/outbox@0bcece8f', verified: 'source', warnings: ['clock_of_application'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE nest_outbox_dead_letters (
           id text PRIMARY KEY, seq bigint NOT NULL, topic text NOT NULL, payload jsonb, headers jsonb NOT NULL, key text, created_at bigint NOT NULL,
           attempts int NOT NULL, last_error text, history jsonb NOT NULL, reason text NOT NULL, failed_at bigint NOT NULL)`,
        'CREATE INDEX ON nest_outbox_dead_letters (topic, failed_at)',
      ],
      mysql: [
        `CREATE TABLE nest_outbox_dead_letters (
           id varchar(255) COLLATE utf8mb4_bin PRIMARY KEY, seq bigint NOT NULL, topic varchar(255) COLLATE utf8mb4_bin NOT NULL, payload json,
           headers json NOT NULL, \`key\` varchar(255) COLLATE utf8mb4_bin, created_at bigint NOT NULL, attempts int NOT NULL, last_error mediumtext,
           history json NOT NULL, reason text NOT NULL, failed_at bigint NOT NULL)`,
      ],
    },
    rows: sampleRows(
      {
        topic: 'order.created',
        payload: {},
        headers: {},
        history: [],
        attempts: 5,
        last_error: 'broker away',
        reason: 'exhausted',
        failed_at: 1_767_225_690_000,
      },
      [
        ['dead', { id: sampleId(1), seq: 1, key: 'order-1', created_at: 1_767_225_601_000 }],
        ['dead', { id: sampleId(2), seq: 2, key: 'order-1', created_at: 1_767_225_602_000 }],
        ['dead', { id: sampleId(3), seq: 3, created_at: 1_767_225_603_000, payload: null, last_error: null, reason: 'rejected' }],
        ['dead', { id: 'not a uuid', seq: 4, created_at: 1_767_225_604_000 }],
        // Clocks of two machines: failed before it was written.
        ['dead', { id: sampleId(5), seq: 5, created_at: 1_767_225_695_000 }],
        ['dead', { id: sampleId(6), seq: 9_007_199_254_740, created_at: 0, attempts: 0 }],
      ],
    ),
  },
});
