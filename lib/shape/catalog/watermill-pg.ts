import { defineShape } from '../shape';

const row = (transaction: number, offset: number) => ({
  transaction_id: String(transaction),
  offset,
  uuid: `message-${offset}`,
  created_at: `2026-01-01T00:00:0${offset}Z`,
  payload: { order: offset },
  metadata: { correlation_id: `c${offset}` },
});

/** Messages of one topic in a table that is only ever added to; each consumer group keeps how far it has come. */
export const watermillPg = defineShape({
  key: 'watermill-pg',
  label: 'Watermill topic (PostgreSQL)',
  origin: 'watermill-sql (Go)',
  engines: ['postgres'],
  kind: 'cursor',
  table: 'watermill_orders',
  match: { pattern: '^watermill_(?!offsets_)(?<topic>.+)$' },
  columns: {
    // Order of commit first: an offset is taken before its transaction ends.
    id: ['transaction_id', 'offset'],
    sequence: 'offset',
    type: { captured: 'topic' },
    topic: { captured: 'topic' },
    createdAt: 'created_at',
    dedupKey: 'uuid',
    payload: 'payload',
    headers: 'metadata',
  },
  companions: { offsets: { table: 'watermill_offsets_{topic}', purpose: 'offsets' } },
  cursor: {
    companion: 'offsets',
    group: 'consumer_group',
    position: ['transaction_id', 'offset'],
    passed: ['last_processed_transaction_id', 'offset_acked'],
  },
  states: [
    { state: 'published', label: 'acknowledged', when: { cursor: 'passed' } },
    { state: 'pending', when: { always: true } },
  ],
  parameters: { extra: { group: { default: '*', unit: 'text', what: 'Consumer group whose progress counts; * for all of them' } } },
  claim: { visible: false },
  operations: {
    retry: { refuse: 'reader_follows_cursor' },
    requeue: { refuse: 'cursor_replays_all' },
    release: { refuse: 'claim_is_a_lock' },
  },
  noArchive: 'place_is_passed',
  detect: {
    mustHave: ['offset', 'uuid', 'created_at', 'payload', 'metadata', 'transaction_id'],
    mustNotHave: ['acked'],
    types: { transaction_id: 'xid8' },
    companions: ['watermill_offsets_{topic}'],
  },
  facts: {
    source: 'ThreeDotsLabs/watermill-sql@e26c90d3',
    verified: 'source',
    warnings: ['one_state_per_reader', 'old_transaction_holds_back', 'nothing_is_deleted'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE watermill_orders (
           "offset" bigserial, uuid varchar(36) NOT NULL, created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, payload json DEFAULT NULL,
           metadata json DEFAULT NULL, transaction_id xid8 NOT NULL, PRIMARY KEY (transaction_id, "offset"))`,
        `CREATE TABLE watermill_offsets_orders (
           consumer_group varchar(255) PRIMARY KEY, offset_acked bigint, last_processed_transaction_id xid8 NOT NULL)`,
        // The slower of the two has come to the third message; the fifth was written before the fourth and seen after it.
        `INSERT INTO watermill_offsets_orders VALUES ('mail', 5, '12'), ('ledger', 3, '11')`,
      ],
    },
    rows: [
      { state: 'published', values: row(10, 1) },
      { state: 'published', values: row(10, 2) },
      { state: 'published', values: row(11, 3) },
      { state: 'pending', values: row(12, 4) },
      { state: 'pending', values: row(11, 5) },
      { state: 'pending', values: row(13, 6) },
    ],
  },
});
