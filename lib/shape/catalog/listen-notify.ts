import { above, defineShape, exact, names, namedAsRole } from '../define';

const UNPROCESSED = { column: 'processed_at', isNull: true } as const;
/** The channel on which the relay gets ids; nothing polls. */
const NOTIFY = { channel: 'outbox_events', column: 'id' };
const UNCHANGED = { last_error: { column: 'last_error' } };
/** Only NOTIFY wakes the relay, and a worker may be sending a row that looks idle. */
const MAY_BE_OUT = ['may_already_be_out'];

/** TypeScript orders to Kafka and e-mail: an INSERT trigger notifies the id; a failed row waits for a restart. */
export const listenNotify = defineShape({
  key: 'listen-notify',
  label: 'LISTEN/NOTIFY table with a dead-letter table',
  origin: 'orders to Kafka and e-mail (TypeScript)',
  engines: ['postgres'],
  table: 'outbox',
  columns: {
    ...namedAsRole('id', 'aggregateType', 'aggregateId', 'createdAt', 'payload'),
    type: 'event_type',
    publishedAt: 'processed_at',
    attempts: 'retry_count',
    error: 'last_error',
  },
  dead: { table: 'outbox_dead', columns: { diedAt: 'died_at' } },
  states: [
    { state: 'published', when: { column: 'processed_at', isNull: false } },
    { state: 'retrying', when: { all: [UNPROCESSED, above('retry_count', 0)] } },
    { state: 'pending', when: UNPROCESSED },
  ],
  parameters: { maxAttempts: 5, stuckAfter: 300 },
  operations: {
    retry: [
      exact('retrying', UNCHANGED, { notify: NOTIFY, warnings: MAY_BE_OUT }),
      exact('pending', UNCHANGED, { olderThanStuckAfter: 'created_at', notify: NOTIFY, warnings: MAY_BE_OUT }),
      exact('dead', { processed_at: null }, { moveTo: 'main', notify: NOTIFY, warnings: MAY_BE_OUT }),
    ],
    requeue: [
      exact('dead', { retry_count: 0, last_error: null, processed_at: null }, { moveTo: 'main', notify: NOTIFY, warnings: MAY_BE_OUT }),
      exact('retrying', { retry_count: 0, last_error: null }, { notify: NOTIFY, warnings: MAY_BE_OUT }),
    ],
    release: { refuse: 'not_claimed' },
  },
  archive: { from: ['dead', 'pending', 'retrying'], warnings: MAY_BE_OUT },
  asDead: { moveTo: 'dead', set: { died_at: { now: true } } },
  diesUncounted: true,
  cautions: { pending: MAY_BE_OUT, retrying: MAY_BE_OUT, dead: MAY_BE_OUT },
  proven: 'by_tests',
  detect: {
    mustHave: names('aggregate_type aggregate_id event_type payload created_at processed_at retry_count last_error'),
    mustNotHave: ['status', 'published_at'],
  },
});
