import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Relay, RelayOptions } from '@/demo/relays/relay';
import { startRelay as startEscrow } from '@/demo/relays/escrow-status';
import { startRelay as startListener } from '@/demo/relays/listen-notify';
import { startRelay as startPublisher } from '@/demo/relays/published-at';
import { escrowStatusTable } from '@/demo/schema/escrow-status';
import { LISTEN_CHANNEL, listenNotifyTable } from '@/demo/schema/listen-notify';
import { publishedAtTable } from '@/demo/schema/published-at';
import type { OutboxTable } from '@/demo/schema/table';
import type { SinkClient } from '@/demo/sink/client';
import { sleep, useRelayStage } from '@/demo/testing/relay-stage';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { shapeCalled, testOutbox } from '@/fixtures/outboxes';
import { attemptsObserver } from './attempts';
import { attemptsMemory } from './attempts-count';
import { watch, type Watch } from '@/fixtures/collector/watch';

interface Case {
  shape: string;
  table: OutboxTable;
  schema: string;
  empty: string;
  /** Two types of the shape. */
  types: [string, string];
  start: (options: RelayOptions) => Relay;
  /** What makes the relay try failed rows again. */
  nudge: string | null;
  /** Puts dead and failing rows back to zero, as the console does. */
  requeue: string[];
  dead: string;
}

const CASES: Case[] = [
  {
    shape: 'escrow-status',
    table: escrowStatusTable,
    schema: 'p2p',
    empty: 'TRUNCATE p2p.transaction_outbox',
    types: ['order_create', 'ad_create'],
    start: (options) => startEscrow({ ...options, intervalMs: 20 }),
    nudge: null,
    requeue: ["UPDATE p2p.transaction_outbox SET status = 'pending', retry_count = 0, error_message = NULL WHERE status = 'failed'"],
    dead: "SELECT 1 FROM p2p.transaction_outbox WHERE status = 'failed'",
  },
  {
    shape: 'published-at',
    table: publishedAtTable,
    schema: 'public',
    empty: 'TRUNCATE outbox_events, outbox_dead',
    types: ['order.created', 'order.paid'],
    start: (options) => startPublisher({ ...options, idleMs: 20 }),
    nudge: null,
    requeue: [
      `WITH gone AS (DELETE FROM outbox_dead RETURNING *) INSERT INTO outbox_events
       SELECT id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, NULL, 0 FROM gone`,
    ],
    dead: 'SELECT 1 FROM outbox_dead',
  },
  {
    shape: 'listen-notify',
    table: listenNotifyTable,
    schema: 'public',
    empty: 'TRUNCATE outbox, outbox_dead',
    types: ['order.created', 'order.paid'],
    start: (options) => startListener(options),
    nudge: `SELECT pg_notify('${LISTEN_CHANNEL}', id::text) FROM outbox WHERE processed_at IS NULL AND retry_count > 0`,
    requeue: [
      `WITH gone AS (DELETE FROM outbox_dead RETURNING *) INSERT INTO outbox
       SELECT id, aggregate_type, aggregate_id, event_type, payload, created_at, NULL, 0, NULL FROM gone`,
    ],
    dead: 'SELECT 1 FROM outbox_dead',
  },
];

describe.each(CASES)('attempts of $shape', ({ shape, table, schema, empty, types, start, nudge, requeue, dead }) => {
  const stage = useRelayStage(table, empty);
  let directory: OutboxDirectory;
  let ticks: Watch;
  let underWay = 0;
  const tries = new Map<string, { failed: number; sent: number }>();

  beforeAll(() => {
    directory = createDirectory({
      databases: [{ id: 'test', url: stage.database.url }],
      outboxes: [testOutbox(shapeCalled(shape), schema, { id: 'tested' })],
    });
  });
  beforeEach(() => {
    tries.clear();
    ticks = watch(directory, 'tested', attemptsObserver);
  });
  afterAll(() => directory.close());

  /** What the relay really did: every message it gave to the sink, and whether it was refused. */
  function counting(sink: SinkClient): SinkClient {
    return {
      async publish(message, signal) {
        const one = tries.get(message.eventId) ?? { failed: 0, sent: 0 };
        tries.set(message.eventId, one);
        underWay += 1;
        try {
          await sink.publish(message, signal);
          one.sent += 1;
        } catch (error) {
          one.failed += 1;
          throw error;
        } finally {
          underWay -= 1;
        }
      },
    };
  }
  const failures = (): number => [...tries.values()].reduce((sum, { failed }) => sum + failed, 0);
  const attempts = (): number => [...tries.values()].reduce((sum, { failed, sent }) => sum + failed + sent, 0);

  /** Waits until the relay has nothing left to try. A nudge while it works on a row would have it work on it twice at once. */
  async function settle(): Promise<void> {
    const quiet = async (): Promise<void> => {
      for (let before = -1; before !== attempts() || underWay > 0;) {
        before = attempts();
        await sleep(250);
      }
    };
    for (let before = -1; before !== attempts();) {
      before = attempts();
      await quiet();
      if (nudge === null) continue;
      await stage.database.query(nudge);
      await quiet();
    }
  }

  it('are those that the relay really made, by type, requeued ones again', async () => {
    await stage.sink.setFault({ outbox: 'tested', type: types[0], mode: 'error', times: 2 });
    await stage.sink.setFault({ outbox: 'tested', type: types[1], mode: 'error', message: 'never' });
    const before = await stage.add({ type: types[1] });
    const relay = stage.play(start({ ...stage.options, sink: counting(stage.sink) }));
    await settle();
    // What was there before the first look is not counted.
    await ticks.tick();
    const earlier = { failures: failures(), retries: attempts() - tries.size };
    expect(earlier.failures).toBeGreaterThan(3);

    const done = ticks.keepTicking(70);
    const ids: string[] = [];
    for (let index = 0; index < 30; index += 1) ids.push(await stage.add({ type: types[index % 5 === 0 ? 1 : 0] }));
    await settle();
    const deaths = (await stage.database.query(dead)).length;
    expect(deaths).toBe(7);
    await ticks.tick();
    for (const statement of requeue) await stage.database.query(statement);
    await ticks.tick();
    // A requeued event begins anew: its next attempt is a first one.
    const restarted = deaths;
    await settle();
    await done();
    await relay.stop();
    // Published rows are read once, ten seconds late.
    await ticks.tick(11_000);
    await ticks.tick(22_000);

    const sum = ticks.sum();
    expect({ failures: sum.failures, retries: sum.retries, died: sum.died }).toEqual({
      failures: failures() - earlier.failures,
      retries: attempts() - tries.size - restarted - earlier.retries,
      died: deaths - 1 + restarted,
    });
    const first = ids.filter((_, index) => index % 5 !== 0);
    expect(ticks.sum(`=${types[0]}`)).toMatchObject({ failures: 2 * first.length, retries: 2 * first.length, died: 0 });
    expect(tries.get(before)?.failed).toBeGreaterThan(5);
    expect(attemptsMemory(ticks.memory)?.reach).toBe('complete');
  });

  it('of events that failed and went out between two looks are counted as well', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error', times: 3 });
    await ticks.tick();
    stage.play(start({ ...stage.options, sink: counting(stage.sink) }));
    for (let index = 0; index < 10; index += 1) await stage.add({ type: types[0] });
    await settle();
    await ticks.tick();
    await ticks.tick(11_000);
    await ticks.tick(16_000);
    expect(failures()).toBe(30);
    expect(ticks.sum()).toMatchObject({ failures: 30, retries: 30, died: 0 });
  });
});
