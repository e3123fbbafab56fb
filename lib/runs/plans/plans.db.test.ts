/** Plans, on a real table and a real store. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { depsFor, freshKey } from '@/fixtures/interventions';
import { eventsById } from '@/lib/interventions/classify';
import { intervene } from '@/lib/interventions/intervene';
import { previewIntervention } from '@/lib/interventions/preview';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import type { Shape } from '@/lib/shape/shape';
import type { PlanRequest } from '@/lib/shared/runs/plans';
import { updateAccount } from '@/lib/store/accounts';
import { findPlan } from '@/lib/store/plans';
import { idOf, refused, TABLE, usePlans } from '@/scripts/testing/plans';
import { causeIds } from '@/lib/outbox/lists/causes';
import { createPlan } from './create';
import { factsOf, verifyPlan } from './plan';
import { whyVoid } from './void';

const { world, observed, storeDatabase, account, insertDead, depsOf, request, plan, eventsOf, idsOf, start } = usePlans();

describe('a plan', () => {
  it('is the list as it is now, oldest first, counted and priced, with what would run and a hash over all of it', async () => {
    await insertDead(1, 1_150);
    await insertDead(2_001, 2_003, { type: 'refund', currency: 'USD' });
    const row = await plan();
    expect(await idsOf(row)).toEqual([...Array.from({ length: 1_150 }, (_, i) => idOf(i + 1)), idOf(2_001), idOf(2_002), idOf(2_003)]);
    expect(row).toMatchObject({
      count: 1_153,
      operation: 'requeue',
      reason: 'the node is back',
      actorName: world.maker.name,
      expired: false,
      runId: null,
    });
    expect(factsOf(row)).toMatchObject({
      sums: { EUR: '12075.00', USD: '31.50' },
      withoutAmount: 0,
      types: [
        { type: 'order_complete', count: 1_150 },
        { type: 'refund', count: 3 },
      ],
      searched: { complete: true },
      warnings: { consumer_not_idempotent: 3 },
      spend: { count: 1_153, notIdempotent: 3, sums: { EUR: '12075.00', USD: '31.50' } },
      // 1,153 events at one a second, half of what is published.
      expectedSeconds: 1_153,
    });
    const texts = factsOf(row).sql.map(({ text }) => text);
    expect(texts.some((text) => text.startsWith('update'))).toBe(true);
    const stored = await getEvent(world.open.outbox, idOf(1));
    expect((await eventsOf(row))[0]).toMatchObject({ id: idOf(1), version: stored?.event.version, amount: '10.50', currency: 'EUR' });
    expect(await verifyPlan(world.store.db, row)).toBe(true);
    expect(await storeDatabase.query('select operation, outbox, actor_name, reason from audit_entry')).toEqual([
      { operation: 'plan', outbox: 'sample', actor_name: world.maker.name, reason: 'the node is back' },
    ]);
  });

  it('is oldest first where its list goes by keys that say nothing of age', async () => {
    await insertDead(1, 5);
    await observed.query(`UPDATE ${TABLE} SET create_time = now() - right(id::text, 12)::int * interval '1 minute'`);
    const { outbox } = world.open;
    const description = { ...outbox.main.description, estimatedRows: 1e6 };
    const indexes = description.indexes.filter(({ columns }) => columns.join() === 'id');
    const main = { ...outbox.main, description: { ...description, indexes } };
    const { directory } = depsFor({ ...outbox, main });
    expect(await idsOf(await plan({ ...depsOf(), directory }))).toEqual([5, 4, 3, 2, 1].map(idOf));
  });

  it('of one cause takes that cause alone', async () => {
    await insertDead(1, 30);
    await insertDead(31, 40, { error: "'timeout after ' || i || ' ms'" });
    const cause = causeIds()({ type: 'order_complete', error: 'timeout after 7 ms' });
    expect(await idsOf(await plan(depsOf(), { cause }))).toEqual(Array.from({ length: 10 }, (_, i) => idOf(31 + i)));
  });

  it('of ids is ordered by age, and names ids that are not there', async () => {
    await insertDead(1, 3);
    expect(await idsOf(await plan(depsOf(), { ids: [idOf(3), idOf(1), idOf(2), idOf(1)] }))).toEqual([idOf(1), idOf(2), idOf(3)]);
    expect(await refused(plan(depsOf(), { ids: [idOf(1), idOf(77), 'no-uuid'] }))).toMatchObject({
      code: 'invalid',
      detail: expect.stringContaining(`no event "${idOf(77)}", "no-uuid"`),
    });
  });

  it('of what a run left takes those that are still there, and only of a run of this outbox', async () => {
    await insertDead(1, 3);
    const run = await start(depsOf(), await plan());
    expect(await idsOf(await plan(depsOf(), { run, codes: ['failed_again'] }))).toEqual([idOf(2), idOf(1)]);
    expect(await refused(plan(depsOf(), { run: randomUUID(), codes: ['failed_again'] }))).toMatchObject({ code: 'invalid' });
  });

  it('leaves out what the operation never takes, and says how many', async () => {
    await insertDead(1, 3);
    await observed.query(`UPDATE ${TABLE} SET status = 'processed', processed_time = now() WHERE id = '${idOf(2)}'`);
    const row = await plan(depsOf(), { filter: 'state=dead&state=published' });
    expect([await idsOf(row), factsOf(row).warnings]).toEqual([[idOf(1), idOf(3)], { wrong_state: 1 }]);
    // Without a state, what is out is not even read.
    expect(factsOf(await plan(depsOf(), { filter: 'type=order_complete' })).warnings).toEqual({});
  });

  it('to restore warns of each event as it went into the archive: as dead, due or waiting', async () => {
    await insertDead(1, 4);
    const waits = (ids: number[], tries: number) =>
      observed.query(`UPDATE ${TABLE} SET status = 'pending', retry_count = ${tries} WHERE id = ANY($1)`, [ids.map(idOf)]);
    await waits([2], 0);
    await waits([3, 4], 3);
    const ids = [1, 2, 3, 4].map(idOf);
    const seen = [...(await eventsById(world.open.outbox, ids)).values()].map(({ id, version }) => ({ id, version }));
    const archive = { operation: 'archive', events: seen, reason: 'not now' };
    expect(await intervene(depsFor(world.open.outbox), world.maker, 'sample', archive, freshKey())).toMatchObject({ outcome: 'applied' });
    const asked = { operation: 'restore', reason: 'again', source: { ids } };
    const warnings = { comes_back_as_dead: 1, relay_will_send_it: 2 };
    expect(factsOf(await createPlan(depsOf(), world.maker, 'sample', asked, freshKey())).warnings).toEqual(warnings);
    const now = [...(await eventsById(world.open.outbox, ids)).values()].map(({ id, version }) => ({ id, version }));
    const preview = await previewIntervention(world.open.outbox, { operation: 'restore', events: now });
    expect(Object.fromEntries(preview.warnings.map(({ code, count }) => [code, count]))).toEqual(warnings);
  });

  it('says what to do where it cannot be made', async () => {
    await insertDead(1, 2);
    const asked = (body: Partial<PlanRequest>) =>
      refused(createPlan(depsOf(), world.maker, 'sample', { ...request(), ...body }, freshKey()));
    expect(await asked({ operation: 'explode' })).toMatchObject({ code: 'invalid', detail: expect.stringContaining('use one of') });
    expect(await asked({ source: { filter: 'state=dead&type=none' } })).toMatchObject({
      code: 'invalid',
      detail: expect.stringContaining('None of these'),
    });
    expect(await asked({ source: { filter: 'state=published' } })).toMatchObject({ code: 'invalid', fields: { source: 'finds no event' } });
    expect(await asked({ source: { filter: 'from=yesterday' } })).toMatchObject({ code: 'invalid', fields: { from: expect.any(String) } });
    expect(await storeDatabase.query('select from plan')).toEqual([]);
  });

  it('is made once per key, also by many at once, and a key is of one plan', async () => {
    await insertDead(1, 5);
    const key = freshKey();
    const made = await Promise.all(Array.from({ length: 5 }, () => plan(depsOf(), undefined, world.maker, key)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await storeDatabase.query("select count(*)::int as n from audit_entry where operation = 'plan'")).toEqual([{ n: 1 }]);
    expect(await refused(plan(depsOf(), { ids: [idOf(1)] }, world.maker, key))).toMatchObject({ code: 'key_reused' });
    // Another person's key is another key.
    expect((await plan(depsOf(), undefined, world.other, key)).id).not.toBe(made[0]?.id);
  });

  it('that was tampered with in the store is not started', async () => {
    await insertDead(1, 3);
    for (const change of [
      `update plan_chunk set data = (select data from plan_chunk where plan_id = '$2') where plan_id = '$1'`,
      `update plan set operation = 'archive' where id = '$1'`,
      `update plan set facts = jsonb_set(facts, '{sums,EUR}', '"1"') where id = '$1'`,
    ]) {
      const [row, another] = [await plan(), await plan(depsOf(), { ids: [idOf(1)] })];
      await storeDatabase.query(change.replace('$1', row.id).replace('$2', another.id));
      const now = await findPlan(world.store.db, row.id);
      expect(now !== null && (await verifyPlan(world.store.db, now))).toBe(false);
      expect(await refused(start(depsOf(), now ?? row))).toMatchObject({ code: 'conflict' });
    }
  });

  it('is void once other values would be written, or what it was measured by is another', async () => {
    await insertDead(1, 3);
    const rebound = async (over: Parameters<typeof world.open.rebind>[0]) => depsFor(await world.open.rebind(over)).directory;
    const [row, asking] = [await plan(), depsOf({ notIdempotent: true, amount: { EUR: '100' } })];
    const shape = JSON.parse(JSON.stringify(escrowStatus).replaceAll('"retry_count":{"value":0}', '"retry_count":{"value":4}')) as Shape;
    expect(shape).not.toEqual(escrowStatus);
    expect(await whyVoid({ ...depsOf(), directory: await rebound({ shape }) }, row)).toContain('table or mapping');

    const measured = await plan(asking);
    expect(await whyVoid(asking, measured)).toBeNull();
    for (const over of [{ consumers: { order_complete: 'not' as const } }, { amount: { value: 'payload.total' } }]) {
      const others = { ...asking, directory: await rebound(over) };
      expect(await whyVoid(others, measured)).toContain('rules of approval');
      expect(await refused(start(others, measured))).toMatchObject({ code: 'conflict' });
    }
  });

  it('is void once its table, its maker or a rule is another, and too old after a day', async () => {
    await insertDead(1, 3);
    const row = await plan();
    expect(await whyVoid(depsOf(), row)).toBeNull();
    expect(await whyVoid(depsOf({ rows: 2 }), row)).toContain('rules of approval');
    const gone = await account('operator');
    const theirs = await plan(depsOf(), undefined, gone);
    await updateAccount(world.store.db, gone.name, { role: 'viewer' });
    expect(await refused(start(depsOf(), theirs))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('may not change events any more'),
    });
    await updateAccount(world.store.db, gone.name, { role: 'operator', disabled: true });
    expect(await whyVoid(depsOf(), theirs)).toContain(gone.name);
    const altered = {
      ...depsOf(),
      directory: depsFor(
        await world.open.rebind({
          shape: {
            ...escrowStatus,
            operations: { ...escrowStatus.operations, requeue: [{ from: ['dead'], version: 'exact', set: {}, warnings: [] }] },
          },
        }),
      ).directory,
    };
    expect(await refused(start(altered, row))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('table or mapping') });
    await storeDatabase.query(`update plan set expires_at = now() where id = '${row.id}'`);
    const late = await findPlan(world.store.db, row.id);
    expect(await refused(start(depsOf(), late ?? row))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('too old') });
    expect(await storeDatabase.query('select from run')).toEqual([]);
  });
});
