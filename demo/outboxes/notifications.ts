import { notificationsFaults, STOPPED_FOR_MS } from '../faults/notifications';
import { startRelay } from '../relays/listen-notify';
import { LISTEN_BUSINESS, listenNotifyTable } from '../schema/listen-notify';
import { orderStory } from '../story/order-story';
import { AMOUNT, PERSONAL, type DemoOutbox } from './outbox';

/** Types it writes and has handlers for. */
const STEPS = ['order.created', 'email.receipt', 'order.shipped', 'email.shipped'] as const;

export const notifications: DemoOutbox = {
  id: 'notifications',
  name: 'Notifications',
  shape: 'listen-notify',
  tableName: 'outbox',
  database: 'notifications',
  table: listenNotifyTable,
  business: LISTEN_BUSINESS,
  story: (random) => orderStory(random, { steps: STEPS, hurry: 0.4 }),
  liveRate: 0.5,
  past: {
    rows: 18_000,
    medianMs: 90,
    sigma: 0.7,
    firstAttempt: 0,
    dead: {
      count: 8,
      attempts: 5,
      types: ['email.receipt', 'email.shipped'],
      errors: ['smtp: 552 mailbox full (queue id {hex})', 'smtp: timeout after {n}0 ms'],
    },
    stoppedForMs: STOPPED_FOR_MS,
  },
  startRelays: (options) => [startRelay({ ...options, handles: STEPS })],
  relayGone: true,
  faults: notificationsFaults,
  settings: { amount: AMOUNT, mask: PERSONAL },
};
