import { ordersRedisFaults } from '../faults/orders-redis';
import { startRelay } from '../relays/courier-status';
import { COURIER_BUSINESS, courierStatusTable } from '../schema/courier-status';
import { orderStory } from '../story/order-story';
import { AMOUNT, ORDER_KEY, PERSONAL, type DemoOutbox } from './outbox';

export const ordersRedis: DemoOutbox = {
  id: 'orders-redis',
  name: 'Courier orders to Redis',
  shape: 'courier-status',
  tableName: 'outbox',
  database: 'orders_redis',
  table: courierStatusTable,
  business: COURIER_BUSINESS,
  story: (random) => orderStory(random, { steps: ['order.created', 'order.assigned', 'order.picked_up', 'order.delivered'], hurry: 0.2 }),
  liveRate: 0.5,
  past: { rows: 18_000, medianMs: 350, sigma: 0.5, firstAttempt: 0, dead: null, stoppedForMs: 0 },
  startRelays: (options) => [startRelay(options)],
  faults: ordersRedisFaults,
  settings: { amount: AMOUNT, mask: PERSONAL, keys: ORDER_KEY },
};
