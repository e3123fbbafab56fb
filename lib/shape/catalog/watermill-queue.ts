import { defineShape, names, refused } from '../define';
import { WATERMILL } from './parts/watermill';

/** Messages of one topic for one reader, each ticked off, or deleted, when it is done. */
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
  claim: { visible: false },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_attempts', release: 'claim_is_a_lock' }),
  // The reader holds the row's lock while it works on it, so that a row in its hands is not moved.
  archive: { from: ['pending'] },
  detect: {
    mustHave: names('offset uuid payload metadata acked created_at'),
    signature: ['acked', 'uuid', 'offset'],
  },
  facts: { source: 'ThreeDotsLabs/watermill-sql@e26c90d3', verified: 'source', warnings: ['rows_may_go_when_done'] },
});
