import { defineShape, names, refused } from '../define';
import { WATERMILL_TOPIC } from './parts/watermill';

/** Messages of one topic in a table that is only ever added to; each consumer group keeps how far it has come and what it took. */
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
  claim: { visible: true },
  operations: refused({ retry: 'reader_follows_cursor', requeue: 'cursor_replays_all', release: 'reader_follows_cursor' }),
  detect: {
    mustHave: names('offset uuid created_at payload metadata'),
    mustNotHave: ['acked', 'transaction_id'],
    companions: ['watermill_offsets_{topic}'],
  },
  facts: { source: 'ThreeDotsLabs/watermill-sql@e26c90d3', verified: 'source', warnings: ['one_state_per_reader', 'nothing_is_deleted'] },
});
