import { defineShape, exact, is, names, bySource, writes, namedAsRole } from '../define';

const [FAILED, SCHEDULE, SUCCEEDED] = [-1, 1, 2];
/** Lifetime the library gives a new message. */
const DAY_SECONDS = 86_400;
/** The publisher writes whole rows back from memory: only rows it is not sending may be changed. */
const FROM_THE_START = writes({ status: SCHEDULE, retry: 0, expires_at: { now: true as const, plusSeconds: DAY_SECONDS } });

/** Outbox for Django: sends scheduled rows until they expire; expired ones are skipped for ever and stay scheduled. */
export const djangoOutboxPattern = defineShape({
  key: 'django-outbox-pattern',
  label: 'django-outbox-pattern',
  origin: 'django-outbox-pattern (Python)',
  engines: ['postgres'],
  kind: 'status',
  table: 'published',
  columns: {
    ...namedAsRole('id', 'headers'),
    type: 'destination',
    topic: 'destination',
    createdAt: 'added',
    attempts: 'retry',
    payload: 'body',
  },
  states: [
    { state: 'published', label: 'SUCCEEDED', when: is('status', SUCCEEDED) },
    { state: 'dead', label: 'FAILED', when: is('status', FAILED) },
    { state: 'dead', label: 'expired', when: { all: [is('status', SCHEDULE), { column: 'expires_at', past: true }] } },
    { state: 'pending', label: 'SCHEDULE', when: is('status', SCHEDULE) },
  ],
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: [exact('dead', FROM_THE_START, { basis: 'inferred' })],
    release: { refuse: 'not_claimed' },
  },
  archive: { from: ['dead', 'pending'], warnings: ['relay_may_be_sending'] },
  asDead: { set: writes({ status: FAILED }) },
  detect: {
    mustHave: names('id version destination body added expires_at retry status headers'),
    types: { status: 'integer' },
    companions: ['received'],
  },
  facts: bySource('juntossomosmais/django-outbox-pattern@118612ec', 'expires_unsent', 'whole_row_is_rewritten', 'no_publish_time'),
});
