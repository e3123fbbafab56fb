import { defineShape } from '../shape';

const row = (offset: number) => ({
  offset,
  uuid: `message-${offset}`,
  created_at: `2026-01-01 00:00:0${offset}`,
  payload: { order: offset },
  metadata: { correlation_id: `c${offset}` },
});

/** Messages of one topic in a table that is only ever added to; each consumer group keeps how far it has come and what it took. */
export const watermillMysql = defineShape({
  key: 'watermill-mysql',
  label: 'Watermill topic (MySQL)',
  origin: 'watermill-sql (Go)',
  engines: ['mysql'],
  kind: 'cursor',
  table: 'watermill_orders',
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
  companions: { offsets: { table: 'watermill_offsets_{topic}', purpose: 'offsets' } },
  cursor: { companion: 'offsets', group: 'consumer_group', position: 'offset', passed: 'offset_acked', taken: 'offset_consumed' },
  states: [
    { state: 'published', label: 'acknowledged', when: { cursor: 'passed' } },
    { state: 'processing', label: 'consumed', when: { cursor: 'taken' } },
    { state: 'pending', when: { always: true } },
  ],
  parameters: { extra: { group: { default: '*', unit: 'text', what: 'Consumer group whose progress counts; * for all of them' } } },
  claim: { visible: true },
  operations: {
    retry: { refuse: 'reader_follows_cursor' },
    requeue: { refuse: 'cursor_replays_all' },
    release: { refuse: 'reader_follows_cursor' },
  },
  noArchive: 'place_is_passed',
  detect: {
    mustHave: ['offset', 'uuid', 'created_at', 'payload', 'metadata'],
    mustNotHave: ['acked', 'transaction_id'],
    companions: ['watermill_offsets_{topic}'],
  },
  facts: {
    source: 'ThreeDotsLabs/watermill-sql@e26c90d3',
    verified: 'source',
    warnings: ['one_state_per_reader', 'nothing_is_deleted'],
  },
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE watermill_orders (
           \`offset\` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, uuid varchar(36) NOT NULL, created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
           payload json DEFAULT NULL, metadata json DEFAULT NULL)`,
        'CREATE TABLE watermill_offsets_orders (consumer_group varchar(255) NOT NULL PRIMARY KEY, offset_acked bigint, offset_consumed bigint NOT NULL)',
        // The slower of the two has taken the fourth message and not said that it is done with it.
        `INSERT INTO watermill_offsets_orders VALUES ('mail', 5, 5), ('ledger', 3, 4)`,
      ],
    },
    rows: [
      { state: 'published', values: row(1) },
      { state: 'published', values: row(2) },
      { state: 'published', values: row(3) },
      { state: 'processing', values: row(4) },
      { state: 'pending', values: row(5) },
      { state: 'pending', values: row(6) },
    ],
  },
});
