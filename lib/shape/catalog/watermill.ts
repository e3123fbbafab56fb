/** Shared by Watermill's tables: the messages of one topic, which is part of the table's name. */
import { defineShape, names, bySource, refused, namedAsRole } from '../define';
import type { ShapeInput } from '../shape';

const WATERMILL = {
  origin: 'watermill-sql (Go)',
  match: { pattern: '^watermill_(?!offsets_)(?<topic>.+)$' },
  columns: {
    ...namedAsRole('createdAt', 'payload'),
    id: 'offset',
    sequence: 'offset',
    type: { captured: 'topic' },
    topic: { captured: 'topic' },
    dedupKey: 'uuid',
    headers: 'metadata',
  },
} satisfies Partial<ShapeInput>;

/** A topic in an append-only table; each consumer group stores its position. */
const WATERMILL_TOPIC = {
  ...WATERMILL,
  kind: 'cursor',
  table: 'watermill_orders',
  companions: { offsets: { table: 'watermill_offsets_{topic}', purpose: 'offsets' } },
  parameters: { extra: { group: { default: '*', unit: 'text', what: 'Consumer group whose progress counts; * for all of them' } } },
  noArchive: 'place_is_passed',
} satisfies Partial<ShapeInput>;

/** Messages of one topic in an append-only table; each consumer group stores its position. */
export const watermillPg = defineShape({
  ...WATERMILL_TOPIC,
  key: 'watermill-pg',
  label: 'Watermill topic (PostgreSQL)',
  engines: ['postgres'],
  // Transaction id first, as an offset is taken before its transaction commits.
  columns: { ...WATERMILL_TOPIC.columns, id: ['transaction_id', 'offset'] },
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
  operations: refused({ retry: 'reader_follows_cursor', requeue: 'cursor_replays_all', release: 'claim_is_a_lock' }),
  detect: {
    mustHave: names('offset uuid created_at payload metadata transaction_id'),
    mustNotHave: ['acked'],
    types: { transaction_id: 'xid8' },
    companions: ['watermill_offsets_{topic}'],
  },
  facts: bySource('ThreeDotsLabs/watermill-sql@e26c90d3', 'one_state_per_reader', 'old_transaction_holds_back', 'nothing_is_deleted'),
});

/** Messages of one topic in an append-only table; each consumer group stores its acknowledged and its taken position. */
export const watermillMysql = defineShape({
  ...WATERMILL_TOPIC,
  key: 'watermill-mysql',
  label: 'Watermill topic (MySQL)',
  engines: ['mysql'],
  cursor: { companion: 'offsets', group: 'consumer_group', position: 'offset', passed: 'offset_acked', taken: 'offset_consumed' },
  states: [
    { state: 'published', label: 'acknowledged', when: { cursor: 'passed' } },
    { state: 'processing', label: 'consumed', when: { cursor: 'taken' } },
    { state: 'pending', when: { always: true } },
  ],
  operations: refused({ retry: 'reader_follows_cursor', requeue: 'cursor_replays_all', release: 'reader_follows_cursor' }),
  detect: {
    mustHave: names('offset uuid created_at payload metadata'),
    mustNotHave: ['acked', 'transaction_id'],
    companions: ['watermill_offsets_{topic}'],
  },
  facts: bySource('ThreeDotsLabs/watermill-sql@e26c90d3', 'one_state_per_reader', 'nothing_is_deleted'),
});

/** Messages of one topic for one reader, each marked or deleted when done. */
export const watermillQueue = defineShape({
  ...WATERMILL,
  key: 'watermill-queue',
  label: 'Watermill queue',
  engines: ['postgres', 'mysql'],
  kind: 'flag',
  table: 'watermill_mails',
  states: [
    { state: 'published', label: 'acked', when: { column: 'acked', isTrue: true } },
    { state: 'pending', when: { column: 'acked', isTrue: false } },
  ],
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_attempts', release: 'claim_is_a_lock' }),
  // The reader locks the row it works on, so that it is not archived.
  archive: { from: ['pending'] },
  detect: {
    mustHave: names('offset uuid payload metadata acked created_at'),
    signature: ['acked', 'uuid', 'offset'],
  },
  facts: bySource('ThreeDotsLabs/watermill-sql@e26c90d3', 'rows_may_go_when_done'),
});
