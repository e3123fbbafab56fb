import { defineShape, names, refused } from '../define';
import { WATERMILL_TOPIC } from './parts/watermill';

/** Messages of one topic in a table that is only ever added to; each consumer group keeps how far it has come. */
export const watermillPg = defineShape({
  ...WATERMILL_TOPIC,
  key: 'watermill-pg',
  label: 'Watermill topic (PostgreSQL)',
  engines: ['postgres'],
  // Order of commit first: an offset is taken before its transaction ends.
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
  claim: { visible: false },
  operations: refused({ retry: 'reader_follows_cursor', requeue: 'cursor_replays_all', release: 'claim_is_a_lock' }),
  detect: {
    mustHave: names('offset uuid created_at payload metadata transaction_id'),
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
