import { ordersKafkaFaults } from '../faults/orders-kafka';
import { startRelay } from '../relays/published-at';
import { PUBLISHED_AT_BUSINESS, publishedAtTable } from '../schema/published-at';
import { orderStory } from '../story/order-story';
import { AMOUNT, PERSONAL, type DemoOutbox } from './outbox';

export const ordersKafka: DemoOutbox = {
  id: 'orders-kafka',
  name: 'Orders to Kafka',
  shape: 'published-at',
  tableName: 'outbox_events',
  database: 'orders_kafka',
  table: publishedAtTable,
  business: PUBLISHED_AT_BUSINESS,
  story: (random) =>
    orderStory(random, {
      steps: ['order.created', 'order.paid', 'order.invoiced', 'order.shipped', 'order.delivered'],
      hurry: 0.6,
      cancelled: 'order.cancelled',
    }),
  liveRate: 0.6,
  past: {
    rows: 27_000,
    medianMs: 240,
    sigma: 0.6,
    firstAttempt: 0,
    dead: {
      count: 12,
      attempts: 10,
      types: ['order.invoiced', 'order.shipped'],
      errors: [
        'kafka: message was too large: {n}0412 bytes, limit 1048576',
        'kafka: leader not available for partition billing-3 (correlation {n})',
      ],
    },
    stoppedForMs: 0,
  },
  startRelays: (options) => [startRelay(options)],
  faults: ordersKafkaFaults,
  settings: {
    parameters: { maxAttempts: 10 },
    amount: AMOUNT,
    mask: PERSONAL,
    links: { Trace: 'https://traces.example.com/trace/{headers.trace_id}' },
  },
};
