import { byWord, defineShape, exact, names, NOW, bySource, takenBack, utc, writes } from '../define';

const UNCLAIMED = { status: 'queued', updated_at: NOW, publishing_at: null, publisher_id: null, publisher_name: null };
/** What the library's own `requeue` writes to the row; it also updates its counters per thread in the same transaction. */
const QUEUED = { ...UNCLAIMED, queued_at: NOW, published_at: null, failed_at: null };
const SKEWED = ['skews_counters'];
/** One failure is final, so one more attempt and starting over are the same. */
const AGAIN = [exact('dead', QUEUED, { warnings: SKEWED, basis: 'mirrors_library' })];

/** Outbox for Ruby: a row names the model to send; one failure makes it `failed`, sent rows are deleted. */
export const outboxerMessages = defineShape({
  key: 'outboxer-messages',
  label: 'Outboxer messages',
  origin: 'Outboxer (Ruby)',
  engines: ['postgres', 'mysql'],
  kind: 'status',
  table: 'outboxer_messages',
  columns: {
    id: 'id',
    type: 'messageable_type',
    aggregateType: 'messageable_type',
    aggregateId: 'messageable_id',
    createdAt: utc('queued_at'),
    publishedAt: utc('published_at'),
    attemptedAt: utc('publishing_at'),
    lockedBy: 'publisher_name',
    diedAt: utc('failed_at'),
    // One row per failure; after one failure the message is failed until it is requeued.
    error: { join: 'exceptions', column: 'message_text', latest: 'id' },
    version: 'lock_version',
  },
  times: { updated_at: 'utc' },
  companions: { exceptions: { table: 'outboxer_exceptions', on: { message_id: 'id' }, purpose: 'errors', optional: true } },
  states: byWord('status', { failed: 'dead', published: 'published', publishing: 'processing', queued: 'pending' }),
  parameters: { maxAttempts: 1, stuckAfter: 300 },
  lock: { bump: 'lock_version' },
  operations: {
    retry: AGAIN,
    requeue: AGAIN,
    release: [takenBack('processing', 'publishing_at', UNCLAIMED, { warnings: SKEWED, basis: 'inferred' })],
  },
  archive: { from: ['dead', 'pending'], warnings: SKEWED },
  asDead: { set: writes({ status: 'failed', failed_at: NOW }) },
  cautions: { processing: ['may_already_be_out'] },
  detect: {
    mustHave: names('lock_version status messageable_id messageable_type queued_at publishing_at'),
    signature: ['messageable_type', 'lock_version'],
    companions: ['outboxer_exceptions', 'outboxer_threads', 'outboxer_publishers'],
  },
  facts: bySource('fast-programmer/outboxer@774a84d1', 'rows_go_when_done', 'skews_counters', 'payload_elsewhere'),
});
