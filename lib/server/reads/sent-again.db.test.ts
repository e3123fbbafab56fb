/** After a thousand dead events were sent again and three hundred died again: what each screen says, and that none of it blames the relay. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { batchesOf, freezeEvents } from '@/fixtures/batches';
import type { Diagnosis } from '@/lib/shared/figures/verdicts';
import { contextOf } from '@/scripts/testing/console';
import { useInstalledEscrow } from '@/scripts/testing/installed-escrow';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { readAuditPage } from './audit';
import { readFates, runIntervention } from './changes';
import { readDeadLettersSnapshot } from './dead-letters';
import { readFleet, readOutbox } from './figures';

const SENT = 1_000;
const DIES_AGAIN = `(payload->>'n')::int % 10 < 3`;
const HOURS_3_MS = 3 * 3_600_000;
const REASON = 'the node is back';

const { observed } = useInstalledEscrow();

let round: NodeJS.Timeout | undefined;
let underWay = Promise.resolve();

/** Every 200 ms two new orders, and a relay that takes the forty oldest: those that cannot succeed fail for good. */
async function work(): Promise<void> {
  await observed.query(`INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload)
    SELECT id, id, 'order_create', id, '{"n": 9}' FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 2)) AS fresh`);
  const taken = await observed.query<{ id: string }>(`UPDATE p2p.transaction_outbox
    SET status = 'processing', retry_count = retry_count + 1, last_attempt_time = now() WHERE id IN
      (SELECT id FROM p2p.transaction_outbox WHERE status = 'pending' ORDER BY create_time LIMIT 40 FOR UPDATE SKIP LOCKED) RETURNING id`);
  const ids = taken.map(({ id }) => id);
  await observed.query(
    `UPDATE p2p.transaction_outbox SET status = 'failed', error_message = 'node ' || (payload->>'n') || ' refused the order'
     WHERE id = ANY($1) AND ${DIES_AGAIN}`,
    [ids],
  );
  await observed.query(
    `UPDATE p2p.transaction_outbox SET status = 'processed', processed_time = now(), error_message = NULL WHERE id = ANY($1) AND NOT ${DIES_AGAIN}`,
    [ids],
  );
}

beforeAll(async () => {
  await observed.query('TRUNCATE p2p.transaction_outbox');
  await observed.query(
    `INSERT INTO p2p.transaction_outbox
       (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
     SELECT id, id, 'order_complete', id, 'failed', jsonb_build_object('n', n), now() - interval '3 h', now() - interval '2 h', 5,
            'node ' || n || ' refused the order'
     FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, $1::int) AS n) AS dead`,
    [SENT],
  );
  round = setInterval(() => {
    underWay = underWay.then(work);
  }, 200);
});
afterAll(async () => {
  clearInterval(round);
  await underWay;
});

const outbox = async () => readOutbox(await contextOf('operator'), 'escrow', '1h', { span: { window: '1h' } });
const BLAMES = [
  'relay_stopped',
  'poison_row',
  'dead_growing',
  'falling_behind',
  'broker_refusing',
  'stuck_processing',
  'blocked_on_key',
  'no_handler',
];
const blamed = ({ holds }: Diagnosis): string[] => holds.map(({ verdict }) => verdict).filter((verdict) => BLAMES.includes(verdict));

it(
  'is told as it is by the fleet, the overview, the charts, the dead letters and the audit',
  async () => {
    const before = await vi.waitFor(
      async () => {
        const { summary } = await outbox();
        expect(summary).toMatchObject({ backfill: null, depth: { dead: { count: SENT, known: 'exact' } } });
        expect(summary.latency.count).toBeGreaterThan(20);
        return summary;
      },
      { timeout: PATIENCE_MS / 3, interval: 1_000 },
    );
    expect(blamed(before.diagnosis)).toEqual([]);

    const context = await contextOf('operator');
    const escrow = await context.console.directory.get('escrow');
    const frozen = await freezeEvents(escrow, { state: ['dead'] }, null);
    const rest = await freezeEvents(escrow, { state: ['dead'] }, null, frozen.nextCursor ?? undefined);
    const all = [...frozen.events, ...rest.events];
    expect(all).toHaveLength(SENT);
    const results = [];
    for (const { key, events } of batchesOf(randomUUID(), all))
      results.push(
        await runIntervention(context, {
          outbox: 'escrow',
          key,
          request: { operation: 'requeue', reason: REASON, events: events.map(({ id, version }) => ({ id, version })) },
        }),
      );
    expect(results.map(({ outcome, changed }) => [outcome, changed.length])).toEqual(Array.from({ length: 5 }, () => ['applied', 200]));

    // All the while, too, as it drains.
    const told = new Set<string>();
    const after = await vi.waitFor(
      async () => {
        const snapshot = await outbox();
        for (const verdict of blamed(snapshot.summary.diagnosis)) told.add(verdict);
        expect(snapshot.summary).toMatchObject({
          depth: { dead: { count: 300, known: 'exact' } },
          latency: { touched: { count: 700 } },
        });
        expect(snapshot.summary.depth.waiting.count).toBeLessThan(20);
        return snapshot;
      },
      { timeout: PATIENCE_MS / 3, interval: 500 },
    );
    expect([...told]).toEqual([]);

    const { summary, series } = after;
    expect(summary.diagnosis.evidence).toEqual(
      expect.arrayContaining([
        { code: 'operator_acted', values: expect.objectContaining({ actor: 'somebody', operation: 'requeue', count: SENT }) as unknown },
        { code: 'died_again', values: { count: 300, atLeast: 'no' } },
      ]),
    );
    // What the relay does, without what waited for an operator.
    expect(summary.latency.p95Ms).toBeLessThan(60_000);
    expect(summary.latency.touched.p95Ms).toBeGreaterThan(HOURS_3_MS * 0.98);
    expect(summary.byType.find(({ type }) => type === 'order_complete')).toMatchObject({ dead: 300 });

    const sumOf = (line: 'created' | 'published' | 'latencyCount') => series.points.reduce((sum, point) => sum + (point[line] ?? 0), 0);
    const [counted] = await observed.query<{ made: number }>(
      `SELECT count(*)::int AS made FROM p2p.transaction_outbox WHERE create_time > now() - interval '1 h'`,
    );
    expect(sumOf('created')).toBeLessThanOrEqual(counted?.made ?? 0);
    expect(sumOf('published')).toBeGreaterThanOrEqual(700);
    expect(sumOf('latencyCount')).toBeLessThanOrEqual(counted?.made ?? 0);
    expect(Math.max(...series.points.map(({ p95Ms }) => p95Ms ?? 0))).toBeLessThan(60_000);
    expect(series.points.at(-1)?.dead).toBeLessThanOrEqual(SENT);
    // Records come to the audit within ten seconds.
    const mark = { kind: 'action', actor: 'somebody', operation: 'requeue', text: REASON, changed: SENT };
    await expect.poll(async () => (await outbox()).marks, { timeout: PATIENCE_MS / 10 }).toMatchObject([mark]);

    const fleet = await readFleet(context);
    const [line] = fleet.entries;
    expect(line).toMatchObject({ summary: { depth: { dead: { count: 300 } } } });
    expect(fleet.news.actions).toMatchObject([
      { actor: 'somebody', operation: 'requeue', reason: REASON, events: { changed: SENT, left: 0 } },
    ]);

    const letters = await readDeadLettersSnapshot(context, null, new URLSearchParams());
    expect(letters.groups).toMatchObject([{ type: 'order_complete', count: 300 }]);

    expect((await readAuditPage(context, new URLSearchParams('operation=requeue'))).entries).toMatchObject([
      { actor: 'somebody', events: { changed: SENT, left: 0 } },
    ]);
    const fates = await Promise.all(results.map(({ interventionId }) => readFates(context, 'escrow', interventionId)));
    const total = (of: (one: (typeof fates)[number]) => number | null) => fates.reduce((sum, one) => sum + (of(one) ?? 0), 0);
    expect([total((one) => one.fates.published), total((one) => one.fates.failedAgain), total((one) => one.sameError)]).toEqual([
      700, 300, 300,
    ]);
  },
  PATIENCE_MS,
);
