/** What is read of a row where its shape does not simply name a column: paths into JSON, times of every spelling, times worked out. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSample, openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import type { OutboxEvent } from '@/lib/shared/model';
import { getEvent } from './rows/get-event';
import { SHAPES } from '@/lib/shape/catalog.gen';

/** By shape and event id. Times are compared to the second. */
const VALUES: Record<string, Record<string, Partial<OutboxEvent>>> = {
  'axon-dead-letter-jdbc': {
    'd-2': { createdAt: '2026-01-01T00:00:02', aggregateId: 'order-1', lastAttemptAt: null, error: null },
    'd-4': { lastAttemptAt: '2026-01-01T00:00:05', diedAt: '2026-01-01T00:00:04', error: 'no such customer' },
  },
  'cap-published-mysql': {
    '4': { publishedAt: '2026-01-01T00:00:05', createdAt: '2026-01-01T00:00:01', attempts: 1, maxAttempts: 50 },
    '6': { publishedAt: null, error: 'BrokerException-->unreachable' },
    '9007199254740993': { error: null, publishedAt: null },
  },
  'cap-published-pg': {
    '4': { publishedAt: '2026-01-01T00:00:05', createdAt: '2026-01-01T00:00:01', attempts: 1, maxAttempts: 50 },
    '6': { publishedAt: null, error: 'BrokerException-->unreachable' },
    '9007199254740993': { error: null, publishedAt: null },
  },
  'eventuate-tram-message': {
    '0000017b-1': {
      createdAt: '2026-01-01T00:00:01',
      type: 'com.shop.OrderCreated',
      topic: 'com.shop.Order',
      aggregateType: 'com.shop.Order',
      aggregateId: '1',
    },
    '0000017b-3': { type: null, aggregateId: null },
    'ключ / 이벤트': { createdAt: '2026-01-01T00:00:06', type: null },
  },
  'graphile-worker': { '1': { type: 'send_receipt', topic: 'mail' }, '2': { topic: null } },
  'gruelbox-txno-outbox-mysql': {
    a4: { type: 'sendReceipt', aggregateType: 'com.shop.Mailer', publishedAt: '2026-01-01T00:00:04', dedupKey: 'u-4', createdAt: null },
    a5: { publishedAt: null, lastAttemptAt: '2026-01-01T00:00:05', attempts: 5 },
    a6: { type: null },
  },
  'gruelbox-txno-outbox-pg': {
    a4: { type: 'sendReceipt', aggregateType: 'com.shop.Mailer', publishedAt: '2026-01-01T00:00:04', dedupKey: 'u-4', createdAt: null },
    a5: { publishedAt: null, lastAttemptAt: '2026-01-01T00:00:05', attempts: 5 },
    a6: { type: null },
  },
  'nservicebus-outboxdata': { 'in-4': { publishedAt: '2026-01-01T00:00:04', createdAt: null } },
  'watermill-pg': { '10~1': { type: 'orders', topic: 'orders' } },
  'wolverine-incoming': {
    '00000000-0000-4000-8000-000000000006': { publishedAt: '2026-01-01T00:05:00' },
    '00000000-0000-4000-8000-000000000001': { publishedAt: null, createdAt: null },
  },
};

const cases = SHAPES.flatMap((shape) => (shape.key in VALUES ? shape.engines.map((engine) => [shape.key, engine, shape] as const) : []));

it('speaks of shapes there are', () => {
  expect(Object.keys(VALUES).filter((key) => !SHAPES.some((shape) => shape.key === key))).toEqual([]);
});

describe.each(cases)('%s on %s', (key, engine, shape) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    // Times of the samples are written without a zone and are UTC, as those of the test's MariaDB are.
    if (db.engine === 'postgres') await db.query(`ALTER DATABASE ${db.name} SET timezone TO 'UTC'`);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    await createSample(database, shape);
    open = await openSample(database, shape);
  });
  afterAll(() => open.close());

  it.each(Object.entries(VALUES[key] ?? {}))('reads %s as it is', async (id, wanted) => {
    const event = (await getEvent(open.outbox, id))?.event;
    const seconds = (value: unknown): unknown => (typeof value === 'string' && /^\d{4}-.*Z$/.test(value) ? value.slice(0, 19) : value);
    const found = Object.fromEntries(Object.keys(wanted).map((name) => [name, seconds(event?.[name as keyof OutboxEvent])]));
    expect(found).toEqual(wanted);
  });
});
