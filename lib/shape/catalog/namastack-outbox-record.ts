import { byWord, above, defineShape, exact, is, names, NOW, byRunning, namedAsRole } from '../define';

/** Namastack's outbox: records are divided by partition, sent in order per key, and failed for good after some attempts. */
export const namastackOutboxRecord = defineShape({
  key: 'namastack-outbox-record',
  label: 'Namastack outbox records',
  origin: 'Namastack Outbox (Kotlin, Java)',
  engines: ['postgres', 'mysql'],
  table: 'outbox_record',
  match: { pattern: 'outbox_record$' },
  kind: 'status',
  columns: {
    ...namedAsRole('id', 'createdAt', 'payload'),
    type: 'record_type',
    topic: 'handler_id',
    aggregateId: 'record_key',
    publishedAt: 'completed_at',
    availableAt: 'next_retry_at',
    attempts: 'failure_count',
    error: 'failure_reason',
    headers: 'context',
  },
  states: [
    ...byWord('status', { FAILED: 'dead', COMPLETED: 'published' }),
    { state: 'retrying', label: 'NEW', when: { all: [is('status', 'NEW'), above('failure_count', 0)] } },
    { state: 'pending', label: 'NEW', when: is('status', 'NEW') },
  ],
  parameters: { maxAttempts: 3 },
  // With stop-on-first-failure, which is on by default.
  ordering: { key: 'aggregateId', by: 'createdAt', blockedBy: ['pending', 'retrying', 'dead'] },
  operations: {
    retry: [
      exact(['pending', 'retrying'], { next_retry_at: NOW }, { warnings: ['whole_row_is_rewritten'], basis: 'inferred' }),
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    requeue: [exact('dead', { status: 'NEW', failure_count: 0, failure_reason: null, next_retry_at: NOW }, { basis: 'inferred' })],
    // Partitions of an instance that stops answering are reassigned to the others.
    release: { refuse: 'relay_takes_back' },
  },
  archive: { from: ['dead'], warnings: ['unblocks_its_key'] },
  payload: { encoding: 'json' },
  detect: {
    mustHave: names('id status record_key record_type payload failure_count next_retry_at partition_no handler_id'),
    signature: ['record_key', 'partition_no'],
    companions: ['outbox_instance', 'outbox_partition'],
  },
  facts: byRunning('namastack/namastack-outbox@679e518f', 'failing_row_blocks_its_key', 'whole_row_is_rewritten'),
});
