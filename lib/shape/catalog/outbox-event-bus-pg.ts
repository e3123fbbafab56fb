import { atLimit, byWord, defineShape, dueNow, exact, is, names, NOW, bySource, utc, writes, namedAsRole, startAgain } from '../define';

/** What the library's own `retryEvents` writes. */
const FROM_THE_START = writes({ status: 'created', retry_count: 0, next_retry_at: null, last_error: null });

/** Outbox for Node on PostgreSQL: sent events move to their own table; `failed` below the limit means "will be tried again". */
export const outboxEventBusPg = defineShape({
  key: 'outbox-event-bus-pg',
  label: 'outbox-event-bus',
  origin: 'outbox-event-bus (TypeScript)',
  engines: ['postgres'],
  kind: 'status',
  attemptsCount: 'failures',
  table: 'outbox_events',
  columns: {
    ...namedAsRole('id', 'type', 'payload'),
    createdAt: utc('created_on'),
    attemptedAt: utc('started_on'),
    availableAt: utc('next_retry_at'),
    attempts: 'retry_count',
    error: 'last_error',
  },
  times: { keep_alive: 'utc', occurred_at: 'utc' },
  companions: { sent: { table: 'outbox_events_archive', on: { id: 'id' }, purpose: 'archive', optional: true } },
  states: [
    { state: 'dead', label: 'failed', when: { all: [is('status', 'failed'), atLimit('retry_count')] } },
    ...byWord('status', { failed: 'retrying', active: 'processing', created: 'pending', completed: 'published' }),
  ],
  parameters: { maxAttempts: 5, stuckAfter: 300 },
  operations: {
    retry: [
      exact('dead', { retry_count: { parameter: 'maxAttempts', minus: 1 }, next_retry_at: NOW }, { basis: 'inferred' }),
      dueNow('retrying', 'next_retry_at', { basis: 'inferred' }),
    ],
    requeue: startAgain(FROM_THE_START, { basis: 'official' }),
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: writes({ status: 'failed', retry_count: { parameter: 'maxAttempts' } }) },
  detect: {
    mustHave: names('id type payload occurred_at status retry_count next_retry_at created_on keep_alive expire_in_seconds'),
    companions: ['outbox_events_archive'],
  },
  facts: bySource('dunika/outbox-event-bus@d77ad86b', 'rows_move_when_done', 'limit_is_assumed'),
});
