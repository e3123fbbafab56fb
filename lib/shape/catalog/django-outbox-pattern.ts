import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

const [FAILED, SCHEDULE, SUCCEEDED] = [-1, 1, 2];
/** A day, as the library gives a message when it is written. */
const DAY_SECONDS = 86_400;
/** The publisher writes the whole row back from memory: only what it is not sending may be written. */
const FROM_THE_START = {
  status: { value: SCHEDULE },
  retry: { value: 0 },
  expires_at: { now: true as const, plusSeconds: DAY_SECONDS },
};

/** Outbox for Django: sends what is scheduled until it expires; past that a row is passed over for ever, still scheduled. */
export const djangoOutboxPattern = defineShape({
  key: 'django-outbox-pattern',
  label: 'django-outbox-pattern',
  origin: 'django-outbox-pattern (Python)',
  engines: ['postgres'],
  kind: 'status',
  table: 'published',
  columns: {
    id: 'id',
    type: 'destination',
    topic: 'destination',
    createdAt: 'added',
    attempts: 'retry',
    payload: 'body',
    headers: 'headers',
  },
  states: [
    { state: 'published', label: 'SUCCEEDED', when: { column: 'status', equals: SUCCEEDED } },
    { state: 'dead', label: 'FAILED', when: { column: 'status', equals: FAILED } },
    {
      state: 'dead',
      label: 'expired',
      when: {
        all: [
          { column: 'status', equals: SCHEDULE },
          { column: 'expires_at', past: true },
        ],
      },
    },
    { state: 'pending', label: 'SCHEDULE', when: { column: 'status', equals: SCHEDULE } },
  ],
  claim: { visible: false },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: [{ from: ['dead'], version: 'exact', set: FROM_THE_START, basis: 'inferred' }],
    release: { refuse: 'not_claimed' },
  },
  archive: { from: ['dead', 'pending'], warnings: ['relay_may_be_sending'] },
  asDead: { set: { status: { value: FAILED } } },
  detect: {
    mustHave: ['id', 'version', 'destination', 'body', 'added', 'expires_at', 'retry', 'status', 'headers'],
    types: { status: 'integer' },
    companions: ['received'],
  },
  facts: {
    source: 'juntossomosmais/django-outbox-pattern@118612ec',
    verified: 'source',
    warnings: ['expires_unsent', 'whole_row_is_rewritten', 'no_publish_time'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE published (
           id uuid PRIMARY KEY, version varchar(100), destination varchar(255) NOT NULL, body jsonb NOT NULL, added timestamptz NOT NULL,
           expires_at timestamptz NOT NULL, retry int NOT NULL DEFAULT 0, status int NOT NULL DEFAULT 1, headers jsonb NOT NULL DEFAULT '{}')`,
        'CREATE INDEX ON published (added)',
        'CREATE INDEX ON published (status)',
      ],
    },
    rows: sampleRows({ version: '1', destination: '/topic/orders', body: { order: 1 }, status: SCHEDULE }, [
      ['pending', { id: sampleId(1), added: '2026-01-01T00:00:01Z', expires_at: '2099-01-01T00:00:00Z' }],
      ['published', { id: sampleId(2), added: '2026-01-01T00:00:02Z', expires_at: '2026-01-02T00:00:00Z', status: SUCCEEDED }],
      ['dead', { id: sampleId(3), added: '2026-01-01T00:00:03Z', expires_at: '2099-01-01T00:00:00Z', status: FAILED, retry: 3 }],
      // Past its time: never sent again, and never said so.
      ['dead', { id: sampleId(4), added: '2026-01-01T00:00:04Z', expires_at: '2026-01-02T00:00:04Z' }],
      ['dead', { id: sampleId(5), added: '2026-01-01T00:00:05Z', expires_at: '2026-01-16T00:00:05Z', status: FAILED, retry: 3 }],
      [
        'published',
        { id: sampleId(6), added: '2026-01-01T00:00:06Z', expires_at: '2099-01-01T00:00:00Z', status: SUCCEEDED, version: null },
      ],
    ]),
  },
});
