import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseExposition, valueOf, type Parsed } from '@/fixtures/exposition';
import { addTo, bucketOf } from '@/lib/rollup/histogram';
import { emptyCell, encodeCell, type Cell } from '@/lib/rollup/cell';
import { sampleTables, shapeCalled } from '@/fixtures/outboxes';
import { getConsole, stopConsole } from '@/lib/server/console';
import { useTestConsole } from '@/scripts/testing/console';
import { freePort } from '@/lib/store/embedded/processes';
import { putRollups } from '@/lib/store/rollups';
import { useTestDatabase } from '@/scripts/testing/database';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { GET } from './route';

const database = useTestDatabase();
/** Takes connections and says nothing. */
const silent = net.createServer();
let closedPort: number;

const outbox = (id: string, on = 'live', table = 'shop.outbox_events'): string =>
  `{id: ${id}, database: ${on}, table: ${table}, shape: published-at}`;
const at = (port: number): string => {
  const url = new URL(database.url);
  url.host = `127.0.0.1:${String(port)}`;
  return url.href;
};
const configuration = (outboxes: string[], more = ''): string =>
  `databases: {live: {url: '${database.url}'}, refused: {url: '${at(closedPort)}'}, silent: {url: '${at((silent.address() as net.AddressInfo).port)}'}}\noutboxes: [${outboxes.join(', ')}]\n${more}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  closedPort = await freePort();
});
const { call, callAs, restart } = useTestConsole(
  () => database.url,
  () => configuration([outbox('orders')]),
);
beforeAll(async () => {
  await database.query(sampleTables(shapeCalled('published-at'), 'shop').join(';\n'));
  await database.query(
    `insert into shop.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at)
      select gen_random_uuid(), 'order', n::text, 'order "paid"', '{}', now() - interval '90 s' from generate_series(1, 3) as n`,
  );
});
afterAll(() => {
  silent.close();
});

const scrape = async (): Promise<Parsed> => {
  const answer = await callAs('viewer', GET);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseExposition(await answer.text());
};
/** Writes what was ever collected of an outbox, once the console's own collector has begun: what that adds at first is added before. */
const ever = async (id: string, cells: Record<string, Partial<Cell>>): Promise<void> => {
  const { store, collector } = await getConsole();
  await vi.waitFor(
    () => expect(collector.status(id)).toMatchObject({ foldedTo: expect.any(String) as string, backfill: null }),
    PATIENCE_MS,
  );
  const rollups = Object.entries(cells).map(([series, cell]) => ({
    series,
    atMinute: 0,
    data: encodeCell({ ...emptyCell(), ...cell }),
    provisional: false,
  }));
  await store.db.transaction().execute((db) => putRollups(db, id, 'ever', rollups));
};

describe('who may scrape', () => {
  it('anybody with a viewer’s token, and nobody without one', async () => {
    expect((await call(GET)).status).toBe(401);
    expect((await call(GET, { headers: { authorization: 'Bearer obx_unknown-token' } })).status).toBe(401);
    expect(valueOf(await scrape(), 'outbox_console_up', { outbox: 'orders' })).toBe(1);
    expect(GET.entry).toEqual({ id: 'api.metrics', permission: 'outbox:read' });
  });

  it('everybody where the configuration says metrics.anonymous, and only there', async () => {
    await restart(configuration([outbox('orders')], 'metrics: {anonymous: true}\n'));
    for (const headers of [{}, { authorization: 'Bearer obx_unknown-token' }] as Record<string, string>[]) {
      const answer = await call(GET, { headers });
      expect(answer.status).toBe(200);
      expect(valueOf(parseExposition(await answer.text()), 'outbox_console_up', { outbox: 'orders' })).toBe(1);
    }
    await restart(configuration([outbox('orders')], 'metrics: {anonymous: false}\n'));
    expect((await call(GET)).status).toBe(401);
  });

  it('without parameters', async () => {
    expect((await callAs('viewer', GET, { path: '/?outbox=orders' })).status).toBe(400);
  });
});

describe('a scrape', () => {
  it('tells what waits, since when and of which type', async () => {
    await restart(configuration([outbox('orders')]));
    const parsed = await scrape();
    expect(valueOf(parsed, 'outbox_console_depth_events', { outbox: 'orders', state: 'pending' })).toBe(3);
    expect(valueOf(parsed, 'outbox_console_oldest_pending_age_seconds', { outbox: 'orders' })).toBeGreaterThanOrEqual(90);
    expect(valueOf(parsed, 'outbox_console_type_waiting_events', { outbox: 'orders', type: 'order "paid"' })).toBe(3);
    expect(valueOf(parsed, 'outbox_console_type_waiting_events', { outbox: 'orders', type: 'other' })).toBe(0);
  });

  it('shares its reading with the screens and with other scrapes', async () => {
    const readings = (parsed: Parsed) => valueOf(parsed, 'outbox_console_reading_queries_total', { outbox: 'orders' });
    const before = readings(await scrape());
    const { snapshots } = await getConsole();
    const all = await Promise.all([...Array.from({ length: 20 }, scrape), snapshots.fleet()]);
    const counted = all.slice(0, 20).map((parsed) => (readings(parsed as Parsed) ?? Infinity) - (before ?? 0));
    // A slice of five seconds may end meanwhile: then there is one reading more, whoever asks.
    expect(Math.max(...counted)).toBeLessThanOrEqual(1);
    expect(readings(await scrape())).toBeGreaterThanOrEqual(before ?? Infinity);
  });

  it('of a database that refuses or never answers tells that it is down, and waits for it no second time', async () => {
    await restart(
      configuration([outbox('orders'), outbox('refused', 'refused'), outbox('silent', 'silent'), outbox('lost', 'live', 'shop.nowhere')]),
    );
    const timed = async (): Promise<{ tookMs: number; parsed: Parsed }> => {
      const begun = performance.now();
      const parsed = await scrape();
      return { parsed, tookMs: performance.now() - begun };
    };
    const first = await timed();
    // Each of the three takes three seconds to fail: they are waited for together, and by the first scrape alone.
    expect(first.tookMs).toBeLessThan(8_000);
    // The attempt under way ends in failure; then the next scrape knows.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const second = await timed();
    expect(second.tookMs).toBeLessThan(2_400);
    for (const { parsed } of [first, second]) {
      const up = (id: string) => valueOf(parsed, 'outbox_console_up', { outbox: id });
      expect([up('orders'), up('refused'), up('silent'), up('lost')]).toEqual([1, 0, 0, 0]);
      expect(valueOf(parsed, 'outbox_console_waiting_events', { outbox: 'orders' })).toBe(3);
      for (const id of ['refused', 'silent', 'lost']) {
        expect(parsed.series.filter((one) => one.labels.outbox === id && /depth|waiting|age/.test(one.name))).toEqual([]);
        const verdict = id === 'lost' ? 'cannot_see' : 'source_down';
        expect(valueOf(parsed, 'outbox_console_verdict', { outbox: id, verdict })).toBe(1);
      }
    }
  });

  it('of two hundred outboxes is answered within Prometheus’s ten seconds', async () => {
    await restart(configuration(Array.from({ length: 200 }, (_, n) => outbox(`outbox-${String(n)}`))));
    // Each table is held against its shape before anybody is answered.
    await getConsole();
    const up = (parsed: Parsed): number => parsed.series.filter((one) => one.name === 'outbox_console_up' && one.value === 1).length;
    const timed = async (): Promise<number> => {
      const begun = performance.now();
      const parsed = await scrape();
      expect(performance.now() - begun).toBeLessThan(10_000);
      return up(parsed);
    };
    await timed();
    // All of one database, each with a table to get to know first: that takes a while, and no scrape waits for it.
    await expect.poll(timed, { interval: 4_100 }).toBe(200);
  });
});

describe('totals', () => {
  const latency = new Map<number, number>();
  for (const milliseconds of [0, 0.4, 1.5, 3, 700, 1e9]) addTo(latency, bucketOf(milliseconds));

  beforeAll(async () => {
    await restart(configuration([outbox('orders'), outbox('new')]));
    await ever('orders', {
      '*': { created: 90, published: 80, latency, latencySumMs: 1_500, retries: 7, failures: 9 },
      '=paid': { published: 50, retries: 4, failures: 3 },
      '=sent': { published: 20, retries: 1, failures: 1 },
      '~': { published: 10, retries: 2, failures: 5 },
    });
  });
  const total = (parsed: Parsed, name: string, labels = {}) => valueOf(parsed, `outbox_console_${name}`, { outbox: 'orders', ...labels });

  it('are what has been collected since the beginning', async () => {
    const parsed = await scrape();
    expect([total(parsed, 'created_total'), total(parsed, 'published_total')]).toEqual([0, 80]);
    expect(total(parsed, 'retries_total', { type: 'paid' })).toBe(4);
    expect(total(parsed, 'errors_total', { type: 'sent' })).toBe(1);
    const bucket = (le: string) => total(parsed, 'publish_latency_seconds_bucket', { le });
    expect(['0.001', '0.002', '0.004', '0.512', '1.024', '16777.216', '+Inf'].map(bucket)).toEqual([2, 3, 4, 4, 5, 5, 6]);
    expect([total(parsed, 'publish_latency_seconds_sum'), total(parsed, 'publish_latency_seconds_count')]).toEqual([1.5, 6]);
  });

  it('go on where they were after a restart; other begins again, so that it never falls from one scrape to the next', async () => {
    expect(total(await scrape(), 'errors_total', { type: 'other' })).toBe(0);
    const told = async (): Promise<unknown> => {
      await ever('orders', {
        '*': { created: 95, published: 85, retries: 7, failures: 11 },
        '~': { published: 12, retries: 2, failures: 7 },
      });
      return total(await scrape(), 'errors_total', { type: 'other' });
    };
    await expect.poll(told).toBe(2);
    // Of the five published since, the creation is known now.
    expect(total(await scrape(), 'created_total')).toBe(5);
    await stopConsole();
    const parsed = await scrape();
    expect([total(parsed, 'published_total'), total(parsed, 'retries_total', { type: 'paid' })]).toEqual([85, 4]);
    expect(total(parsed, 'errors_total', { type: 'other' })).toBe(0);
  });

  it('by type have 50 labels and other, the busiest first, whatever the table holds', async () => {
    const types = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`=type-${String(n)}`, { published: n, retries: 1, failures: 0 }]),
    );
    await restart(configuration([outbox('busy')]));
    await ever('busy', { '*': { published: 20_000, retries: 1_000 }, ...types, '~': { published: 100, retries: 800 } });
    const of = (parsed: Parsed) =>
      new Map(
        parsed.series
          .filter((one) => one.name === 'outbox_console_retries_total' && one.labels.outbox === 'busy')
          .map((one) => [one.labels.type ?? '', one.value]),
      );
    const first = of(await scrape());
    expect(first.size).toBe(51);
    expect(first.has('type-199') && first.has('type-150') && !first.has('type-149')).toBe(true);
    // One that was quiet becomes the busiest: it stays in other, and nothing falls.
    let second = first;
    // The collector may have read what was there before, and write that with what it adds.
    const told = async (): Promise<unknown> => {
      await ever('busy', { '*': { published: 40_000, retries: 1_500 }, '=type-3': { published: 20_000, retries: 501 } });
      second = of(await scrape());
      return [first.get('other'), second.get('other')];
    };
    await expect.poll(told).toEqual([0, 500]);
    expect([...second.keys()].sort()).toEqual([...first.keys()].sort());
    for (const [type, value] of first) expect(second.get(type)).toBeGreaterThanOrEqual(value);
  });

  it('are left out when the store does not answer; what waits is told all the same', async () => {
    await restart(configuration([outbox('orders')], 'metrics: {anonymous: true}\n'));
    await call(GET);
    await database.query('alter table rollup rename to rollup_away');
    try {
      const answer = await call(GET);
      expect(answer.status).toBe(200);
      const parsed = parseExposition(await answer.text());
      expect(total(parsed, 'published_total')).toBeUndefined();
      expect(total(parsed, 'waiting_events')).toBe(3);
    } finally {
      await database.query('alter table rollup_away rename to rollup');
    }
  });
});
