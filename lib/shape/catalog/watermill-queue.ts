import { defineShape } from '../shape';

const row = (offset: number, acked: boolean, metadata: Record<string, unknown> = {}) => ({
  offset,
  uuid: `message-${offset}`,
  created_at: `2026-01-01 00:00:0${offset}`,
  payload: { order: offset },
  metadata,
  acked,
});

/** Messages of one topic for one reader, each ticked off, or deleted, when it is done. */
export const watermillQueue = defineShape({
  key: 'watermill-queue',
  label: 'Watermill queue',
  origin: 'watermill-sql (Go)',
  engines: ['postgres', 'mysql'],
  kind: 'flag',
  table: 'watermill_mails',
  match: { pattern: '^watermill_(?!offsets_)(?<topic>.+)$' },
  columns: {
    id: 'offset',
    sequence: 'offset',
    type: { captured: 'topic' },
    topic: { captured: 'topic' },
    createdAt: 'created_at',
    dedupKey: 'uuid',
    payload: 'payload',
    headers: 'metadata',
  },
  states: [
    { state: 'published', label: 'acked', when: { column: 'acked', isTrue: true } },
    { state: 'pending', when: { column: 'acked', isTrue: false } },
  ],
  claim: { visible: false },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: { refuse: 'no_attempts' },
    release: { refuse: 'claim_is_a_lock' },
  },
  // The reader holds the row's lock while it works on it, so that a row in its hands is not moved.
  archive: { from: ['pending'] },
  detect: {
    mustHave: ['offset', 'uuid', 'payload', 'metadata', 'acked', 'created_at'],
    signature: ['acked', 'uuid', 'offset'],
  },
  facts: { source: 'ThreeDotsLabs/watermill-sql@e26c90d3', verified: 'source', warnings: ['rows_may_go_when_done'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE watermill_mails (
           "offset" serial PRIMARY KEY, uuid varchar(36) NOT NULL, payload json DEFAULT NULL, metadata json DEFAULT NULL,
           acked boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP)`,
      ],
      mysql: [
        `CREATE TABLE watermill_mails (
           \`offset\` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, uuid varchar(36) NOT NULL, payload json DEFAULT NULL, metadata json DEFAULT NULL,
           acked boolean NOT NULL DEFAULT false, created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP)`,
      ],
    },
    rows: [
      { state: 'published', values: row(1, true) },
      { state: 'published', values: row(2, true) },
      { state: 'pending', values: row(3, false) },
      // Taken after the fourth: each row has its own tick.
      { state: 'pending', values: row(4, false, { _watermill_delayed_until: '2099-01-01 00:00:00' }) },
      { state: 'published', values: row(5, true) },
      { state: 'pending', values: row(6, false) },
    ],
  },
});
