import type { EngineKey } from '@/lib/shared/model';
import { ordersSqsFaults } from '../faults/orders-sqs';
import { startRelay } from '../relays/worker-status';
import { WORKER_BUSINESS, workerStatusTable } from '../schema/worker-status';
import { orderStory } from '../story/order-story';
import { AMOUNT, ORDER_KEY, PERSONAL, type DemoOutbox } from './outbox';

/** At home on MySQL; on PostgreSQL where there is no such server. */
export const ordersSqs = (engine: EngineKey): DemoOutbox => ({
  id: 'orders-sqs',
  name: 'Orders to SQS',
  shape: 'worker-status',
  tableName: 'outbox_events',
  database: 'orders_sqs',
  table: workerStatusTable(true, engine),
  business: WORKER_BUSINESS,
  story: (random) =>
    orderStory(random, { steps: ['order.created', 'order.paid', 'order.shipped'], hurry: 0.2, cancelled: 'order.cancelled' }),
  liveRate: 0.5,
  past: { rows: 18_000, medianMs: 700, sigma: 0.5, firstAttempt: 0, dead: null, stoppedForMs: 0 },
  startRelays: (options) => [startRelay(options)],
  faults: ordersSqsFaults,
  settings: { parameters: { stuckAfter: '2m' }, amount: AMOUNT, mask: PERSONAL, keys: ORDER_KEY },
});
