import { defineShape } from '../define';

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
});
