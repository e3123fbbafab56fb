import { notificationsFaults, STOPPED_FOR_MS } from '../faults/notifications';
import { LISTEN_BUSINESS, listenNotifyTable } from '../schema/listen-notify';
import { orderStory } from '../story/order-story';
import { AMOUNT, PERSONAL, type DemoOutbox } from './outbox';

export const notifications: DemoOutbox = {
  id: 'notifications',
  name: 'Notifications',
  shape: 'listen-notify',
  tableName: 'outbox',
  database: 'notifications',
  table: listenNotifyTable,
  business: LISTEN_BUSINESS,
  story: (random) => orderStory(random, { steps: ['order.created', 'email.receipt', 'order.shipped', 'email.shipped'], hurry: 0.4 }),
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
  // The fault of this one: its relay is gone.
  startRelays: () => [],
  faults: notificationsFaults,
  settings: { amount: AMOUNT, mask: PERSONAL },
};
