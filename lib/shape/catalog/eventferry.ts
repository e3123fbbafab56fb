/** Shared by eventferry's tables on both engines: five states as numbers, events of an aggregate in order. */
import { defineShape, dueNow, exact, is, names, bySource, stable, writes, namedAsRole } from '../define';
import type { ChangeRule, ShapeInput } from '../shape';

const [PENDING, PROCESSING, DONE, FAILED, DEAD] = [0, 1, 2, 3, 4];

const FROM_THE_START = writes({ status: PENDING, attempts: 0, next_retry_at: null, claimed_at: null });

const eventferry = {
  origin: 'eventferry (TypeScript)',
  kind: 'status',
  attemptsCount: 'failures',
  table: 'outbox',
  columns: {
    ...namedAsRole('id', 'topic', 'aggregateType', 'aggregateId', 'createdAt', 'attempts', 'traceId', 'payload', 'headers'),
    sequence: 'id',
    type: 'topic',
    publishedAt: { column: 'processed_at', when: is('status', DONE) },
    attemptedAt: 'claimed_at',
    availableAt: 'next_retry_at',
    dedupKey: 'message_id',
  },
  states: [
    { state: 'dead', label: 'dead', when: is('status', DEAD) },
    { state: 'published', label: 'done', when: is('status', DONE) },
    { state: 'processing', label: 'processing', when: is('status', PROCESSING) },
    { state: 'retrying', label: 'failed', when: is('status', FAILED) },
    { state: 'pending', label: 'pending', when: is('status', PENDING) },
  ],
  parameters: {
    stuckAfter: 60,
    extra: { claimTimeout: { default: 60, unit: 's', what: 'After this the relay takes a claimed row again' } },
  },
  // A dead row does not block its aggregate: later events may be sent before it is requeued.
  ordering: { key: 'aggregateId', by: 'sequence', blockedBy: ['pending', 'processing', 'retrying'] },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: writes({ status: DEAD }) },
  detect: {
    mustHave: names(`
      message_id aggregate_type aggregate_id topic key payload headers trace_id status attempts next_retry_at claimed_at
      processed_at
    `),
    types: { status: 'smallint' },
  },
} satisfies Partial<ShapeInput>;

/** `how`: the parameter with which the relay sees changed rows at all. */
function eventferryOperations(how: Pick<ChangeRule, 'needs'>): ShapeInput['operations'] {
  return {
    retry: [{ from: ['dead'], refuse: 'limit_unknown' }, dueNow('retrying', 'next_retry_at', { basis: 'inferred', ...how })],
    requeue: [
      exact('dead', FROM_THE_START, { warnings: ['later_may_be_out'], basis: 'inferred', ...how }),
      stable('retrying', FROM_THE_START, { basis: 'inferred', ...how }),
    ],
    release: { refuse: 'claim_lapses' },
  };
}

/** Outbox for Node on MySQL: status as a number; rows are polled, or read from the binary log. */
export const eventferryMysql = defineShape({
  ...eventferry,
  key: 'eventferry-mysql',
  label: 'eventferry (MySQL)',
  engines: ['mysql'],
  parameters: {
    ...eventferry.parameters,
    extra: {
      ...eventferry.parameters.extra,
      relay: { default: 'unknown', unit: 'text', what: 'How rows are read: polling or binlog' },
    },
  },
  operations: eventferryOperations({ needs: { parameter: 'relay', equals: 'polling' } }),
  facts: bySource('npm @eventferry/mysql@3.3.3', 'dead_stop_blocking', 'updates_unseen_by_replication', 'no_error_kept'),
});

/** Outbox for Node on PostgreSQL: status as a number; the relay claims the first event of each aggregate. */
export const eventferryPg = defineShape({
  ...eventferry,
  key: 'eventferry-pg',
  label: 'eventferry (PostgreSQL)',
  engines: ['postgres'],
  operations: eventferryOperations({}),
  facts: bySource('SametGoktepe/eventferry@cd65266f', 'dead_stop_blocking', 'no_error_kept'),
});
