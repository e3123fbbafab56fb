import { above, defineShape, exact, names, byRunning, writes, namedAsRole, startAgain } from '../define';

/** What the library writes for "not locked". */
const UNLOCKED = '1970-01-01T00:00:00Z';
/** A replication listener's publication has INSERTs only: it never sees an updated row. */
const POLLING = { parameter: 'listener', equals: 'polling' };

const open = writes({ abandoned_at: null, locked_until: UNLOCKED });
const fromTheStart = { ...open, started_attempts: { value: 0 }, finished_attempts: { value: 0 } };
// Sets both counters, because the library takes a gap between them for crashes.
const oneLeft = { parameter: 'maxAttempts', minus: 1 };

/** Outbox and inbox in PostgreSQL for Node: leases, two counters, messages of a segment in order. */
export const pgTransactionalOutbox = defineShape({
  key: 'pg-transactional-outbox',
  label: 'pg-transactional-outbox',
  origin: 'pg-transactional-outbox (TypeScript)',
  engines: ['postgres'],
  kind: 'timestamp',
  table: 'outbox',
  match: { names: ['outbox', 'inbox'] },
  columns: {
    ...namedAsRole('id', 'aggregateType', 'aggregateId', 'createdAt', 'lockedUntil', 'payload'),
    type: 'message_type',
    orderingKey: 'segment',
    publishedAt: 'processed_at',
    diedAt: 'abandoned_at',
    attempts: 'started_attempts',
    headers: 'metadata',
  },
  states: [
    // A lease is never cleared, so that finished rows are matched before leased ones.
    { state: 'published', label: 'processed', when: { column: 'processed_at', isNull: false } },
    { state: 'dead', label: 'abandoned', when: { column: 'abandoned_at', isNull: false } },
    { state: 'processing', label: 'locked', when: { column: 'locked_until', future: true } },
    { state: 'retrying', when: { any: [above('started_attempts', 0), above('finished_attempts', 0)] } },
    { state: 'pending', when: { always: true } },
  ],
  parameters: {
    maxAttempts: 5,
    extra: {
      listener: { default: 'unknown', unit: 'text', what: 'How messages are read: polling or replication' },
      lease: { default: 5, unit: 's', what: 'How long a message is locked for its handler' },
    },
  },
  ordering: { key: 'orderingKey', by: 'createdAt', blockedBy: ['pending', 'retrying', 'processing'] },
  operations: {
    retry: [
      exact('dead', { ...open, started_attempts: oneLeft, finished_attempts: oneLeft }, { basis: 'inferred', needs: POLLING }),
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
    ],
    requeue: startAgain(fromTheStart, { basis: 'inferred', needs: POLLING }),
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { abandoned_at: { now: true } } },
  detect: {
    mustHave: names(`
      aggregate_type aggregate_id message_type segment concurrency locked_until processed_at abandoned_at
      started_attempts finished_attempts
    `),
    signature: ['abandoned_at', 'started_attempts'],
    companions: ['inbox'],
  },
  facts: byRunning('npm pg-transactional-outbox@0.5.7', 'updates_unseen_by_replication', 'no_error_kept'),
});
