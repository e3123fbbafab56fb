/** A group larger than an intervention, frozen and carried out in batches while its table goes on living. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, type OpenOutbox } from '@/scripts/testing/outbox';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { batchesOf, freezeEvents, joinResults, type Batch } from '@/fixtures/batches';
import type { Cause, FrozenEvent, InterventionResult } from '@/lib/shared/model';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

const TABLE = 'p2p.transaction_outbox';
const GROUP = 1_150;
const CAUSE: Cause = { type: 'order_complete', error: 'order-…: node …' };
const FILTER = { state: ['dead' as const], type: ['order_complete'], error: ': node' };

describe('a group of more events than one intervention takes', () => {
  const database = useTestDatabase((db) => createSample(db, escrowStatus, { rows: false }));
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, escrowStatus);
  });
  afterAll(() => open.close());

  const insertDead = (from: number, to: number, error: string, type = 'order_complete', agoMinutes = 60) =>
    database.query(`INSERT INTO ${TABLE} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
      SELECT ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'k' || i, '${type}', 'order-' || i, 'failed', '{}', now() - interval '${agoMinutes} minutes' + i * interval '1 ms', now(), 5, ${error}
      FROM generate_series(${from}, ${to}) AS i`);
  beforeEach(async () => {
    await database.query(`TRUNCATE ${TABLE}, outbox_console.archive_sample, outbox_console.intervention CASCADE`);
    await insertDead(1, GROUP, `'order-' || i || ': node ' || i % 7`);
  });
  const idOf = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;

  /** Freezes the group step by step; `between` happens after the first step. */
  async function freeze(cause: Cause | null, between = async (): Promise<void> => undefined) {
    const events: FrozenEvent[] = [];
    let steps = 0;
    let looked = 0;
    for (let cursor: string | undefined; ;) {
      const page = await freezeEvents(open.outbox, FILTER, cause, cursor);
      steps += 1;
      looked += page.looked;
      events.push(...page.events);
      if (page.nextCursor === null) return { events, steps, looked, complete: page.complete };
      if (steps === 1) await between();
      cursor = page.nextCursor;
    }
  }

  /** Carries the decision out, batch by batch; `relay` does its work after each of them. */
  async function carryOut(batches: Batch[], relay = async (): Promise<void> => undefined): Promise<InterventionResult> {
    const results: InterventionResult[] = [];
    for (const { key, events } of batches) {
      const request = { operation: 'requeue', events, reason: 'the node is back' };
      results.push(await intervene(depsFor(open.outbox), ANNA, 'sample', request, key));
      await relay();
    }
    const [first, ...others] = results;
    if (first === undefined) throw new Error('no batch was carried out');
    return joinResults([first, ...others]);
  }

  it('is frozen whole, each event once, and without the rows that only share a text or a type with it', async () => {
    await insertDead(5_001, 5_040, `'order-' || i || ': node down for good'`);
    await insertDead(5_041, 5_050, `'order-' || i || ': node 3'`, 'order_create');
    const { events, complete, steps, looked } = await freeze(CAUSE);
    expect(steps).toBeGreaterThan(1);
    // Whoever bounds the reading counts what was looked at, and not only what was found.
    expect(looked).toBeGreaterThanOrEqual(GROUP + 40);
    expect(complete).toBe(true);
    expect(events.map(({ id }) => id).sort()).toEqual(Array.from({ length: GROUP }, (_, i) => idOf(i + 1)));
    // The list itself, as its filter has it, holds the other error too.
    expect((await freeze(null)).events).toHaveLength(GROUP + 40);
  });

  it('is the rows that were there when it was read: newer ones stay out, and one that left is told as such', async () => {
    const { events } = await freeze(CAUSE, () =>
      insertDead(6_001, 6_030, `'order-' || i || ': node 1'`, 'order_complete', 0).then(() => undefined),
    );
    expect(events).toHaveLength(GROUP);
    // Meanwhile the relay of another instance published one, and one died again: neither is what was seen.
    await database.query(`UPDATE ${TABLE} SET status = 'processed', processed_time = now() WHERE id = $1`, [idOf(10)]);
    await database.query(`UPDATE ${TABLE} SET retry_count = 6 WHERE id = $1`, [idOf(700)]);
    const result = await carryOut(batchesOf(freshKey(), events));
    expect(result).toMatchObject({ outcome: 'partly' });
    expect(result.changed).toHaveLength(GROUP - 2);
    expect(result.skipped.map(({ id, code }) => ({ id, code })).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: idOf(10), code: 'already_published' },
      { id: idOf(700), code: 'changed_since_seen' },
    ]);
    const untouched = await database.query(`SELECT count(*)::int AS n FROM ${TABLE} WHERE status = 'failed'`);
    expect(untouched).toEqual([{ n: 31 }]);
  });

  it('ends although its events die again at once: each is changed exactly once, with one record', async () => {
    const { events } = await freeze(CAUSE);
    const batches = batchesOf(freshKey(), events);
    const poison = () =>
      database.query(`UPDATE ${TABLE} SET status = 'failed', retry_count = 5, error_message = 'order-1: node 1' WHERE status = 'pending'`);
    const result = await carryOut(batches, () => poison().then(() => undefined));
    expect(result).toMatchObject({ outcome: 'applied' });
    expect(await database.query(`SELECT count(*)::int AS n FROM ${TABLE} WHERE status = 'failed'`)).toEqual([{ n: GROUP }]);
    expect(await database.query(`SELECT count(*)::int AS n FROM outbox_console.intervention`)).toEqual([{ n: batches.length }]);
    expect(
      await database.query(
        `SELECT count(*)::int AS events, count(DISTINCT event_id)::int AS distinct FROM outbox_console.intervention_event`,
      ),
    ).toEqual([{ events: GROUP, distinct: GROUP }]);
  });

  it('goes on after a failure without doing anything twice: a batch that is sent again is the same intervention', async () => {
    const { events } = await freeze(CAUSE);
    const batches = batchesOf(freshKey(), events);
    const first = await carryOut(batches.slice(0, 2));
    // The answer to the second was lost, say: everything is sent again from there on.
    const rest = await carryOut(batches.slice(1));
    expect(first.changed).toHaveLength(400);
    expect(rest.changed).toHaveLength(GROUP - 200);
    const records = await database.query<{ n: number; reasons: number }>(
      `SELECT count(*)::int AS n, count(DISTINCT reason)::int AS reasons FROM outbox_console.intervention`,
    );
    expect(records).toEqual([{ n: batches.length, reasons: 1 }]);
    expect(await database.query(`SELECT count(*)::int AS n FROM outbox_console.intervention_event`)).toEqual([{ n: GROUP }]);
  });
});
