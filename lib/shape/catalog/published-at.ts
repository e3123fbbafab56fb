import { NOW, above, defineShape, exact, names, stable, writes, namedAsRole } from '../define';

const UNPUBLISHED = { column: 'published_at', isNull: true } as const;

/** Go order service: `published_at IS NULL` is the queue; the relay commits before it publishes; dead letters in `outbox_dead`. */
export const publishedAt = defineShape({
  key: 'published-at',
  label: 'Published-at table with a dead-letter table',
  origin: 'order service (Go)',
  engines: ['postgres'],
  table: 'outbox_events',
  columns: {
    ...namedAsRole('id', 'aggregateType', 'aggregateId', 'createdAt', 'publishedAt', 'dedupKey', 'payload', 'headers'),
    type: 'event_type',
    attempts: 'attempt',
    traceId: { column: 'headers', path: ['trace_id'] },
  },
  dead: { table: 'outbox_dead', columns: { diedAt: 'died_at', error: 'last_error' } },
  states: [
    { state: 'published', when: { column: 'published_at', isNull: false } },
    { state: 'retrying', when: { all: [UNPUBLISHED, above('attempt', 0)] } },
    { state: 'pending', when: UNPUBLISHED },
  ],
  parameters: { maxAttempts: 10, stuckAfter: 300 },
  operations: {
    retry: [
      exact('dead', { attempt: { parameter: 'maxAttempts', minus: 1 }, published_at: null }, { moveTo: 'main' }),
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
    ],
    requeue: [
      exact('dead', { attempt: 0, published_at: null }, { moveTo: 'main' }),
      stable('retrying', { attempt: 0 }, { warnings: ['may_already_be_out'] }),
    ],
    release: { refuse: 'not_claimed' },
  },
  // The relay commits before it publishes: a waiting row may be on its way while it is archived.
  archive: { from: ['dead', 'pending', 'retrying'], warnings: ['may_already_be_out'] },
  asDead: { moveTo: 'dead', set: writes({ died_at: NOW, last_error: null }) },
  cautions: { pending: ['may_already_be_out'], retrying: ['may_already_be_out'], dead: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: names('aggregate_type aggregate_id event_type payload headers dedup_key created_at published_at attempt'),
    mustNotHave: ['status'],
  },
});
