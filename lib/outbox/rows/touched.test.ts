import { expect, it } from 'vitest';
import { settingsFor } from '@/scripts/testing/outbox';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import type { TableRef } from '@/lib/shape/schema/names';
import { configuredElsewhere } from './touched';

const on = (id: string, table: TableRef, deadTable?: TableRef) =>
  settingsFor(workerStatus, { id, table, parameters: deadTable === undefined ? {} : { deadTable } });

it('is on another table: an outbox whose tables have other names, or lie in another schema', () => {
  const own = [
    { schema: 'shop', table: 'outbox_events' },
    { schema: 'shop', table: 'outbox_dead' },
  ];
  const others = [
    on('other', 'shop.orders'),
    on('other-schema', 'billing.outbox_events'),
    on('twin', 'OutboxEvents'),
    on('dotted', { table: 'shop.outbox_events' }),
    on('of-the-dead', 'shop.outbox_dead'),
    on('with-the-same-dead', 'shop.orders', 'outbox_dead'),
    on('with-other-dead', 'billing.orders', 'outbox_dead'),
  ];
  expect(configuredElsewhere(own, others)).toEqual(['other', 'other-schema', 'with-other-dead']);
});
