/** What one person changes without a second one, through the door of single interventions. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { depsFor, freshKey } from '@/fixtures/interventions';
import type { ApprovalRule } from '@/lib/config/config';
import { getEvent } from '@/lib/outbox/rows/get-event';
import type { InterventionDeps } from '@/lib/interventions/intervene';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import type { InterventionResult } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { findApproval } from '@/lib/store/approvals';
import { idOf, refused, TABLE, usePlans } from '@/scripts/testing/plans';
import { approvalBefore, interveneWithinLimits } from './alone';

const { world, observed, storeDatabase, token, insertDead, depsOf, plan, start } = usePlans();

interface Sent {
  by?: Actor;
  key?: string;
  operation?: string;
  interventions?: Partial<InterventionDeps>;
}

/** Sends events as a screen or a script does; `ids` are as they are now unless their versions are given. */
async function send(
  rule: Partial<ApprovalRule>,
  ids: readonly number[],
  { by = world.maker, key = freshKey(), operation = 'requeue', interventions = {} }: Sent = {},
): Promise<InterventionResult> {
  const events = await Promise.all(
    ids.map(async (i) => ({ id: idOf(i), version: (await getEvent(world.open.outbox, idOf(i)))?.event.version ?? 'gone' })),
  );
  const deps = { ...depsOf(rule), interventions: { ...depsFor(world.open.outbox), ...interventions } };
  return interveneWithinLimits(deps, { outbox: 'sample', actor: by, key }, { operation, events, reason: 'the node is back' }, stopwatch());
}
const codeOf = async (work: Promise<unknown>): Promise<string> => (await refused(work)).code;
const spent = (): Promise<unknown[]> => storeDatabase.query('select count, sums from spending order by count');
const pendingRows = async (): Promise<number> =>
  (await observed.query<{ n: number }>(`select count(*)::int as n from ${TABLE} where status = 'pending'`))[0]?.n ?? 0;

beforeEach(() => insertDead(1, 30));

describe('one person', () => {
  it('changes as much as the limit says within an hour, and not one event more', async () => {
    expect(await send({ rows: 3 }, [1, 2])).toMatchObject({ outcome: 'applied' });
    expect(await codeOf(send({ rows: 3 }, [3, 4]))).toBe('approval_required');
    expect(await send({ rows: 3 }, [3])).toMatchObject({ outcome: 'applied' });
    expect(await codeOf(send({ rows: 3 }, [4]))).toBe('approval_required');
    expect(await pendingRows()).toBe(3);
    await storeDatabase.query("update spending set at = now() - interval '1 hour'");
    expect(await send({ rows: 3 }, [4])).toMatchObject({ outcome: 'applied' });
  });

  it('gets no further by sending twenty at once', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, (_, i) => codeOf(send({ rows: 10 }, [i + 1]))));
    expect(sent.filter((code) => code === 'approval_required')).toHaveLength(10);
    expect(await pendingRows()).toBe(10);
    expect(await spent()).toHaveLength(10);
  });

  it('gets no further with amounts, exactly to the cent, nor with an operation of the same rule', async () => {
    // Each event is of 10.50 EUR.
    const rule = { amount: { EUR: '31.50' } };
    expect(await send(rule, [1, 2])).toMatchObject({ outcome: 'applied' });
    expect(await codeOf(send(rule, [3, 4], { operation: 'retry' }))).toBe('approval_required');
    expect(await send(rule, [3], { operation: 'retry' })).toMatchObject({ outcome: 'applied' });
    expect(await codeOf(send({ amount: { EUR: '41.99' } }, [4]))).toBe('approval_required');
    expect(await send({ amount: { EUR: '42.00' } }, [4])).toMatchObject({ outcome: 'applied' });
  });

  it('changes nothing whose amount or currency the rule cannot count, nor what a consumer may not take twice', async () => {
    await insertDead(40, 40, { currency: 'USD' });
    await insertDead(41, 41, { type: 'refund' });
    await observed.query(`update ${TABLE} set payload = '{"amount": "1e309", "currency": "EUR"}' where id = '${idOf(1)}'`);
    await observed.query(`update ${TABLE} set payload = '{}' where id = '${idOf(2)}'`);
    for (const i of [1, 2, 40]) expect(await codeOf(send({ amount: { EUR: '1000000' } }, [i]))).toBe('approval_required');
    // One that is not there has no amount either.
    expect(await codeOf(send({ amount: { EUR: '1000000' } }, [99]))).toBe('approval_required');
    expect(await codeOf(send({ notIdempotent: true }, [41]))).toBe('approval_required');
    expect(await send({ notIdempotent: true }, [3])).toMatchObject({ outcome: 'applied' });
  });

  it('is charged what was changed, once per key, and nothing for what was not', async () => {
    await observed.query(`update ${TABLE} set status = 'processed' where id = '${idOf(2)}'`);
    const key = freshKey();
    const events = [1, 2];
    const first = await send({ rows: 2 }, events, { key });
    expect(first).toMatchObject({ changed: [idOf(1)], skipped: [{ code: 'already_published' }] });
    expect(await spent()).toEqual([{ count: 1, sums: {} }]);
    expect(await send({ rows: 2 }, [2])).toMatchObject({ outcome: 'none' });
    expect(await spent()).toEqual([{ count: 1, sums: {} }]);
    const failing = { requireStore: () => Promise.reject(new Problem('unavailable', 'away')) };
    expect(await codeOf(send({ rows: 2 }, [3], { interventions: failing }))).toBe('unavailable');
    expect(await spent()).toEqual([{ count: 1, sums: {} }]);
  });

  it('gets the same answer for the same key when the limit is used up, and no second change by it', async () => {
    const key = freshKey();
    const deps = { ...depsOf({ rows: 2 }), interventions: depsFor(world.open.outbox) };
    const seen = (i: number) =>
      getEvent(world.open.outbox, idOf(i)).then((found) => ({ id: idOf(i), version: found?.event.version ?? '' }));
    const ask = (events: { id: string; version: string }[]) =>
      interveneWithinLimits(
        deps,
        { outbox: 'sample', actor: world.maker, key },
        { operation: 'requeue', events, reason: 'the node is back' },
        stopwatch(),
      );
    const events = [await seen(1), await seen(2)];
    const [one, same] = await Promise.all([ask(events), ask(events)]);
    expect(same).toEqual(one);
    expect(await ask(events)).toMatchObject({ interventionId: one.interventionId });
    expect(await spent()).toEqual([{ count: 2, sums: {} }]);
    // Counted twice, this repeat would be over.
    expect(await codeOf(ask([await seen(3)]))).toBe('key_reused');
    expect(await codeOf(ask([await seen(3), await seen(4), await seen(5)]))).toBe('key_reused');
    expect(await pendingRows()).toBe(2);
  });

  it('is charged all of what may have been changed while that is not known', async () => {
    const result = { outcome: 'unknown', changed: [], skipped: [] };
    const interventions = {
      unsettled: {
        ...depsFor(world.open.outbox).unsettled,
        ofKey: () => Promise.reject(new Error('the process ends here')),
      },
    };
    await send({ rows: 2 }, [1, 2], { interventions }).catch(() => undefined);
    expect(result.outcome).toBe('unknown');
    expect(await spent()).toEqual([{ count: 2, sums: {} }]);
    expect(await codeOf(send({ rows: 2 }, [3]))).toBe('approval_required');
  });

  it('is one actor: another one, and another outbox’s rules, are not counted', async () => {
    const bot = await token('operator');
    expect(await send({ rows: 1 }, [1])).toMatchObject({ outcome: 'applied' });
    expect(await refused(send({ rows: 1 }, [2], { by: bot }).then(() => send({ rows: 1 }, [3], { by: bot })))).toMatchObject({
      code: 'approval_required',
      detail: expect.stringContaining('a token cannot ask'),
    });
    expect(await send({ rows: 0, outboxes: ['elsewhere'] }, [4])).toMatchObject({ outcome: 'applied' });
    expect(await send({ rows: 0, operations: ['archive'] }, [5])).toMatchObject({ outcome: 'applied' });
    expect(await spent()).toHaveLength(2);
  });

  it('is counted over both ways: plans and single changes share the hour', async () => {
    const rule = { rows: 3 };
    await start(depsOf(rule), await plan(depsOf(rule), { ids: [idOf(1), idOf(2)] }));
    expect(await codeOf(send(rule, [3, 4]))).toBe('approval_required');
    expect(await send(rule, [3])).toMatchObject({ outcome: 'applied' });
    expect(await findApproval(world.store.db, (await plan(depsOf(rule), { ids: [idOf(4)] })).id)).toMatchObject({ state: 'requested' });
  });

  it('changes nothing while that cannot be counted', async () => {
    const key = `spending sample ${world.maker.id}`;
    await storeDatabase.query('select pg_advisory_lock(hashtextextended($1, 0))', [key]);
    onTestFinished(async () => {
      await storeDatabase.query('select pg_advisory_unlock_all()');
    });
    expect(await refused(send({ rows: 3 }, [1]))).toMatchObject({ code: 'unavailable', ofStore: true });
    expect(await pendingRows()).toBe(0);
  });

  it('is told before', async () => {
    const events = [{ id: '1', type: 'order_complete', amount: '5', currency: 'EUR' }];
    const before = (rule: Partial<ApprovalRule>) => approvalBefore(depsOf(rule), world.maker, world.open.outbox, 'requeue', events);
    expect(await before({ rows: 1 })).toBeNull();
    expect(await before({ rows: 0, amount: { EUR: '4.99' } })).toEqual({ because: ['rows', 'amount'], nobody: false });
  });
});
