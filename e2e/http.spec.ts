import { expect, test } from './fixtures';

const READS = [
  '/api/v1/outboxes',
  '/api/v1/fleet',
  '/api/v1/outboxes/escrow/summary',
  '/api/v1/outboxes/escrow/series',
  '/api/v1/outboxes/escrow/events',
  '/api/v1/outboxes/escrow/events/00000000-0000-4000-8000-000000000000',
  '/api/v1/audit',
  '/api/v1/marks',
  '/api/metrics',
];

interface Depth {
  count: number | null;
  known: string;
}
interface Summary {
  asOf: string;
  depth: Record<'pending' | 'retrying' | 'processing' | 'dead' | 'waiting', Depth>;
  latency: { p50Ms: number; p95Ms: number; p99Ms: number; count: number; known: string; touched: { count: number } };
}

test('health answers without a sign-in', async ({ playwright, world }) => {
  const anonymous = await playwright.request.newContext({ baseURL: world.url });
  for (const path of ['/api/health/live', '/api/health/ready']) expect((await anonymous.get(path)).status(), path).toBe(200);
  await anonymous.dispose();
});

test('nothing else is read without a sign-in, or with a wrong token', async ({ playwright, world }) => {
  const anonymous = await playwright.request.newContext({ baseURL: world.url });
  const forged = await playwright.request.newContext({ baseURL: world.url, extraHTTPHeaders: { authorization: 'Bearer obx_forged' } });
  for (const context of [anonymous, forged]) {
    for (const path of READS) {
      const answer = await context.get(path);
      expect(answer.status(), path).toBe(401);
      expect(answer.headers()['content-type'], path).toContain('application/problem+json');
      expect(((await answer.json()) as { code: string }).code, path).toBe('unauthenticated');
    }
    await context.dispose();
  }
});

test('an address that there is not is told like every other error', async ({ api }) => {
  for (const method of ['GET', 'POST'] as const) {
    const answer = await api.fetch('/api/v1/outboxes/escrow/nowhere', { method });
    expect(answer.status()).toBe(404);
    expect(answer.headers()['content-type']).toContain('application/problem+json');
    expect(((await answer.json()) as { code: string }).code).toBe('not_found');
  }
});

test('pages without a sign-in lead to the sign-in and back', async ({ page }) => {
  await page.goto('/outboxes/escrow?window=24h');
  await expect(page).toHaveURL(/\/login\?callbackUrl=/);
  expect(new URL(page.url()).searchParams.get('callbackUrl')).toBe('/outboxes/escrow?window=24h');
});

test('the five outboxes of record, writable, with what each can show', async ({ api }) => {
  const { outboxes } = (await (await api.get('/api/v1/outboxes')).json()) as {
    outboxes: { id: string; shape: string; writable: boolean; whyReadOnly: string | null }[];
  };
  expect(Object.fromEntries(outboxes.map(({ id, shape }) => [id, shape]))).toEqual({
    escrow: 'escrow-status',
    'orders-sqs': 'worker-status',
    'orders-kafka': 'published-at',
    'orders-redis': 'courier-status',
    notifications: 'listen-notify',
  });
  expect(outboxes.filter(({ writable }) => !writable)).toEqual([]);
});

test('a summary lies between what SQL counts before and after, and is at most 5 s old', async ({ api, database }) => {
  const escrow = database('escrow');
  const count = () =>
    escrow.one<{ dead: number; waiting: number; processing: number; now: Date }>(
      `SELECT count(*) FILTER (WHERE status = 'failed')::int AS dead, count(*) FILTER (WHERE status = 'pending')::int AS waiting,
              count(*) FILTER (WHERE status = 'processing')::int AS processing, clock_timestamp() AS now
         FROM p2p.transaction_outbox`,
    );
  const counts: Awaited<ReturnType<typeof count>>[] = [];
  // A reading may be five seconds old, so the counts begin that much earlier.
  for (let at = 0; at < 28; at++) {
    counts.push(await count());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const summary = (await (await api.get('/api/v1/outboxes/escrow/summary')).json()) as Summary;
  const last = await count();
  counts.push(last);
  const age = last.now.getTime() - new Date(summary.asOf).getTime();
  expect(age).toBeGreaterThanOrEqual(0);
  expect(age).toBeLessThanOrEqual(6000);
  for (const key of ['dead', 'waiting', 'processing'] as const) {
    const values = counts.map((row) => row[key]);
    expect(summary.depth[key].known, key).toBe('exact');
    expect(summary.depth[key].count, key).toBeGreaterThanOrEqual(Math.min(...values) - (key === 'dead' ? 0 : 3));
    expect(summary.depth[key].count, key).toBeLessThanOrEqual(Math.max(...values) + (key === 'dead' ? 0 : 3));
  }
  expect(summary.depth.waiting.count).toBe((summary.depth.pending.count ?? 0) + (summary.depth.retrying.count ?? 0));
});

test('latency agrees with percentile_cont within 2 %', async ({ api, database }) => {
  const summary = (await (await api.get('/api/v1/outboxes/escrow/summary?window=24h')).json()) as Summary;
  const exact = await database('escrow').one<{ p50: number; p95: number; p99: number; count: number }>(
    `SELECT count(*)::int AS count, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50,
            percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS p95, percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS p99
       FROM (SELECT extract(epoch FROM processed_time - create_time)::float8 * 1000 AS ms FROM p2p.transaction_outbox
              WHERE status = 'processed' AND id::text NOT IN (SELECT event_id FROM outbox_console.intervention_event WHERE code IS NULL)
                AND processed_time <= $1 AND processed_time > $1::timestamptz - interval '24 hours') AS published`,
    [summary.asOf],
  );
  expect(exact.count).toBeGreaterThan(100);
  expect(summary.latency.touched.count).toBeGreaterThanOrEqual(0);
  for (const [name, measured] of [
    ['p50', summary.latency.p50Ms],
    ['p95', summary.latency.p95Ms],
    ['p99', summary.latency.p99Ms],
  ] as const) {
    expect(Math.abs(measured - exact[name]) / exact[name], `${name}: ${String(measured)} against ${String(exact[name])}`).toBeLessThan(
      0.02,
    );
  }
});

test('input that makes no sense is 400 with the field, never 500', async ({ api }) => {
  for (const path of [
    '/api/v1/outboxes/escrow/summary?window=2h',
    '/api/v1/outboxes/escrow/events?limit=0',
    '/api/v1/outboxes/escrow/events?limit=201',
    '/api/v1/outboxes/escrow/events?state=asleep',
    '/api/v1/outboxes/escrow/events?cursor=nonsense',
    '/api/v1/outboxes/escrow/events?from=yesterday',
  ]) {
    const answer = await api.get(path);
    expect(answer.status(), path).toBe(400);
    expect(((await answer.json()) as { code: string }).code, path).toBe('invalid');
  }
  for (const path of ['/api/v1/outboxes/nobody/summary', '/api/v1/outboxes/escrow/events/not-a-key']) {
    expect((await api.get(path)).status(), path).toBe(404);
  }
});
