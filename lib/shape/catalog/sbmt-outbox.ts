import { above, defineShape, exact, is, names, bySource, stable, writes, namedAsRole } from '../define';

const [PENDING, FAILED, DELIVERED, DISCARDED] = [0, 1, 2, 3];
const OUT_OF_ORDER = { warnings: ['later_may_be_out'], basis: 'inferred' as const };

/** Outbox and inbox items for Rails: one table per model; batches wait in Redis; every attempt sets `processed_at`. */
export const sbmtOutbox = defineShape({
  key: 'sbmt-outbox',
  label: 'sbmt-outbox items',
  origin: 'sbmt-outbox (Ruby)',
  engines: ['postgres', 'mysql'],
  kind: 'status',
  table: 'order_outbox_items',
  match: { pattern: '^(?<model>.+)_(?:outbox|inbox)_items$' },
  columns: {
    ...namedAsRole('id', 'payload'),
    type: { anyOf: ['event_name'] },
    aggregateType: { captured: 'model' },
    aggregateId: 'event_key',
    orderingKey: 'event_key',
    createdAt: { column: 'created_at', time: 'utc' },
    publishedAt: { column: 'processed_at', time: 'utc', when: is('status', DELIVERED) },
    attemptedAt: { column: 'processed_at', time: 'utc' },
    attempts: 'errors_count',
    error: 'error_log',
    dedupKey: 'uuid',
    headers: 'options',
  },
  times: { updated_at: 'utc' },
  states: [
    { state: 'dead', label: 'failed', when: is('status', FAILED) },
    { state: 'published', label: 'delivered', when: is('status', DELIVERED) },
    // Overtaken by a later message of its key: finished without being sent.
    { state: 'published', label: 'discarded', when: is('status', DISCARDED) },
    { state: 'retrying', label: 'pending', when: { all: [is('status', PENDING), above('errors_count', 0)] } },
    { state: 'pending', label: 'pending', when: is('status', PENDING) },
  ],
  parameters: { maxAttempts: 1 },
  operations: {
    retry: [
      exact('dead', { status: PENDING, errors_count: { parameter: 'maxAttempts', minus: 1 }, processed_at: null }, OUT_OF_ORDER),
      // The library counts the wait for the next attempt from the last one.
      stable('retrying', { processed_at: null }, { guard: { column: 'processed_at', isNull: false }, basis: 'inferred' }),
    ],
    requeue: [
      exact('dead', { status: PENDING, errors_count: 0, processed_at: null, error_log: null }, OUT_OF_ORDER),
      stable('retrying', { errors_count: 0, processed_at: null, error_log: null }, { basis: 'inferred' }),
    ],
    release: { refuse: 'claims_outside' },
  },
  archive: { from: ['dead', 'pending', 'retrying'], warnings: ['relay_may_be_sending'] },
  asDead: { set: writes({ status: FAILED }) },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: names('uuid event_key bucket status payload errors_count processed_at'),
    signature: ['errors_count', 'bucket'],
    types: { status: 'integer' },
  },
  facts: bySource('Kuper-Tech/sbmt-outbox@08787c19', 'claims_in_redis', 'limit_is_assumed'),
});
