/** A store that can be read and not written: a full disk, a replica, a right that was taken away. */
import { expect, test } from 'vitest';
import { GET as audit } from '../../v1/audit/route';
import { GET as event } from '../../v1/outboxes/[outbox]/events/[event]/route';
import { GET as events } from '../../v1/outboxes/[outbox]/events/route';
import { POST as intervene } from '../../v1/outboxes/[outbox]/interventions/route';
import { GET as summary } from '../../v1/outboxes/[outbox]/summary/route';
import { publishedAt } from '@/lib/shape/catalog/published-at';
import { useTestConsole } from '@/scripts/testing/console';
import type { EventPage } from '@/lib/shared/model';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { GET as ready } from './route';

const store = useTestDatabase();
const database = useTestDatabase((db) => createSample(db, publishedAt));
const { call, callAs } = useTestConsole(
  () => store.url,
  () =>
    `databases: {d: {url: '${database.url}', operatorUrl: '${database.url}'}}\noutboxes: [{id: orders, database: d, table: public.outbox_events, shape: published-at}]\n`,
);
const params = { outbox: 'orders' };

const says = async (): Promise<unknown> => {
  const answer = await call(ready);
  expect(answer.status).toBe(200);
  return answer.json();
};

test('everything can be read, nothing changed, and readiness says so', async () => {
  for (const role of ['viewer', 'operator'] as const) expect((await callAs(role, summary, { params })).status).toBe(200);
  expect(await says()).toEqual({ status: 'ready', store: 'ok' });

  await store.query(`ALTER DATABASE ${store.name} SET default_transaction_read_only = on`);
  await store.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${store.name}' AND pid <> pg_backend_pid()`);
  await expect.poll(says).toEqual({ status: 'ready', store: 'takes_no_writes' });

  expect((await callAs('viewer', summary, { params })).status).toBe(200);
  const list = await callAs('viewer', events, { params });
  expect(list.status).toBe(200);
  const [first] = ((await list.json()) as EventPage).events;
  expect((await callAs('viewer', event, { params: { ...params, event: first?.id ?? '' } })).status).toBe(200);
  expect((await callAs('viewer', audit)).status).toBe(200);
  const refused = await callAs('operator', intervene, {
    method: 'POST',
    params,
    headers: { 'idempotency-key': 'one' },
    body: { operation: 'archive', events: [{ id: first?.id, version: first?.version ?? 'seen' }], reason: 'it cannot be recorded' },
  });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: 'unavailable' });
});
