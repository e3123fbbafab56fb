import { defineShape, names, refused } from '../define';

/** The dead letters of NestJS' outbox by themselves, where the messages table is not watched. */
export const nestjsOutboxDeadLetters = defineShape({
  key: 'nestjs-outbox-dead-letters',
  label: '@nestjs/outbox dead letters',
  origin: '@nestjs/outbox (TypeScript)',
  engines: ['postgres', 'mysql'],
  family: 'dead_letters',
  kind: 'presence',
  table: 'nest_outbox_dead_letters',
  match: { names: ['dead_letters'], pattern: 'dead_letters$' },
  columns: {
    id: 'id',
    sequence: 'seq',
    type: 'topic',
    topic: 'topic',
    aggregateId: 'key',
    createdAt: { column: 'created_at', time: 'epoch_ms' },
    diedAt: { column: 'failed_at', time: 'epoch_ms' },
    attempts: 'attempts',
    error: { anyOf: ['last_error', 'reason'] },
    payload: 'payload',
    headers: 'headers',
  },
  states: [{ state: 'dead', label: 'dead letter', when: { always: true } }],
  operations: refused({ retry: 'requeue_from_main', requeue: 'requeue_from_main', release: 'not_claimed' }),
  archive: { from: ['dead'] },
  detect: {
    mustHave: names('id seq topic history reason failed_at attempts last_error'),
    mustNotHave: ['lease_owner'],
    companions: ['messages'],
  },
  facts: { source: 'nestjs/outbox@0bcece8f', verified: 'source', warnings: ['clock_of_application'] },
});
