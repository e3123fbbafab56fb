import { defineShape } from '../define';

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
});
