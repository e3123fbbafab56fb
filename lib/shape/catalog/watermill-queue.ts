import { defineShape } from '../define';

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
});
