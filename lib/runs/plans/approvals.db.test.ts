/** What a second person says of a plan, on a real table and a real store. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { PlanSource } from '@/lib/shared/runs/plans';
import { findApproval } from '@/lib/store/approvals';
import type { PlanRow } from '@/lib/store/plans';
import { idOf, refused, usePlans } from '@/scripts/testing/plans';
import { answerPlan } from './answer';
import type { PlanDeps } from './plan';

const { world, storeDatabase, account, token, insertDead, depsOf, plan, start } = usePlans();
const approve = (deps: PlanDeps, row: PlanRow, by = world.approver, hash: string | null = row.hash) =>
  answerPlan(deps, by, row.id, { answer: 'approve', reason: 'seen', hash });

describe('a second person', () => {
  const limits = { rows: 2 };
  const asking = async (deps = depsOf(limits)): Promise<PlanRow> => plan(deps);
  beforeEach(() => insertDead(1, 3));

  it('is asked one event over the limit, and not at it', async () => {
    expect(await findApproval(world.store.db, (await plan(depsOf({ rows: 3 }))).id)).toBeNull();
    const row = await asking();
    expect(await findApproval(world.store.db, row.id)).toMatchObject({ state: 'requested', because: '["rows"]', hash: row.hash });
    expect(await refused(start(depsOf(limits), row))).toMatchObject({
      code: 'approval_required',
      detail: expect.stringMatching(/more events.*the answer is waited for/),
    });
  });

  it('agrees with a reason, and then it can be started, once, without counting as the maker’s own', async () => {
    const [deps, row] = [depsOf(limits), await asking()];
    await approve(deps, row);
    expect(await findApproval(world.store.db, row.id)).toMatchObject({ state: 'approved', actorName: world.approver.name, reason: 'seen' });
    const started = await Promise.allSettled(Array.from({ length: 5 }, () => start(deps, row)));
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await storeDatabase.query('select from spending')).toEqual([]);
    expect(await storeDatabase.query("select operation, actor_name, reason from audit_entry where operation <> 'plan'")).toEqual([
      { operation: 'approve', actor_name: world.approver.name, reason: 'seen' },
    ]);
    expect(await refused(approve(deps, row, world.other))).toMatchObject({ code: 'conflict' });
  });

  it('is never its maker, nor a token, nor somebody without the right', async () => {
    const [deps, row] = [depsOf(limits), await asking()];
    expect(await refused(approve(deps, row, world.maker))).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('You made this plan'),
    });
    expect(await refused(approve(deps, row, { ...world.maker, name: 'another name', role: 'admin' }))).toMatchObject({ code: 'forbidden' });
    expect(await refused(approve(deps, row, await token('admin')))).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('token'),
    });
    expect(await refused(approve(deps, row, await account('operator')))).toMatchObject({ code: 'forbidden' });
    expect(await findApproval(world.store.db, row.id)).toMatchObject({ state: 'requested' });
  });

  it('answers once: of many at the same time one counts, and the audit has one', async () => {
    const [deps, row] = [depsOf(limits), await asking()];
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) =>
        answerPlan(deps, i % 2 === 0 ? world.approver : world.other, row.id, {
          answer: i % 3 === 0 ? 'approve' : 'refuse',
          reason: `answer ${i}`,
          hash: row.hash,
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await storeDatabase.query("select from audit_entry where operation in ('approve', 'refuse')")).toHaveLength(1);
  });

  it('refuses for good: it is not started, even when the limit would admit it later', async () => {
    const [deps, row] = [depsOf(limits), await asking()];
    await answerPlan(deps, world.approver, row.id, { answer: 'refuse', reason: 'not today', hash: null });
    expect(await refused(approve(deps, row, world.other))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('refused it already'),
    });
    expect(await refused(start(deps, row))).toMatchObject({ code: 'forbidden', detail: expect.stringContaining(world.approver.name) });
    expect(await refused(start(depsOf(), row))).toMatchObject({ code: 'conflict' });
  });

  it('agrees to what was seen: another hash is a conflict', async () => {
    const [deps, row, another] = [depsOf(limits), await asking(), await asking()];
    expect(another.hash).toBe(row.hash);
    const more = await plan(deps, { filter: 'state=dead' }, world.maker);
    expect(more.hash).toBe(row.hash);
    await insertDead(4, 4);
    const larger = await asking();
    expect(await refused(approve(deps, larger, world.approver, row.hash))).toMatchObject({ code: 'conflict' });
    expect(await findApproval(world.store.db, larger.id)).toMatchObject({ state: 'requested' });
  });

  it('is asked anew where the rules changed: before the answer, and between answer and start', async () => {
    const [asked, agreed] = [await asking(), await asking()];
    await approve(depsOf(limits), agreed);
    const stricter = depsOf(limits, { notIdempotent: true });
    expect(await refused(approve(stricter, asked))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('void') });
    expect(await findApproval(world.store.db, asked.id)).toMatchObject({ state: 'void' });
    expect(await refused(start(stricter, agreed))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('rules of approval'),
    });
    // Void stays void, whatever the rules are then.
    expect(await refused(approve(depsOf(limits), asked))).toMatchObject({ code: 'conflict' });
    expect(await refused(start(depsOf(limits), asked))).toMatchObject({ code: 'conflict' });
  });

  it('has four hours, and the start a quarter of one after the answer', async () => {
    const deps = depsOf(limits);
    const minutesLeft = async (row: PlanRow): Promise<number> =>
      Math.round((Date.parse((await findApproval(world.store.db, row.id))?.until ?? '') - Date.now()) / 60_000);
    const [unanswered, agreed, ending] = [await asking(), await asking(), await asking()];
    expect(await minutesLeft(unanswered)).toBe(240);
    await approve(deps, agreed);
    expect(await minutesLeft(agreed)).toBe(15);
    await storeDatabase.query(`update plan set expires_at = now() + interval '5 minutes' where id = '${ending.id}'`);
    await approve(deps, ending);
    expect(await minutesLeft(ending)).toBe(5);

    await storeDatabase.query(`update approval set until = now() where plan_id in ('${unanswered.id}', '${agreed.id}')`);
    expect(await refused(approve(deps, unanswered))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('too late') });
    expect(await refused(start(deps, unanswered))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('Nobody answered') });
    expect(await refused(start(deps, agreed))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('not started in time') });
  });

  it('cannot be asked by a token, which says so, and who could answer is told where nobody can', async () => {
    const bot = await token('operator');
    expect(await refused(plan(depsOf(limits), undefined, bot))).toMatchObject({
      code: 'approval_required',
      detail: expect.stringContaining('a token cannot ask'),
    });
    expect(await storeDatabase.query('select from plan')).toEqual([]);
    expect((await plan(depsOf({ rows: 3 }), undefined, bot)).count).toBe(3);
    await storeDatabase.query("update account set disabled_at = now() where role in ('approver', 'admin') and id <> $1", [
      world.maker.id.slice(8),
    ]);
    onTestFinished(async () => {
      await storeDatabase.query('update account set disabled_at = null');
    });
    const row = await asking();
    expect(await refused(start(depsOf(limits), row))).toMatchObject({ detail: expect.stringContaining('No other account may approve') });
  });
});

describe('the last hour', () => {
  beforeEach(() => insertDead(1, 10));
  const some = (...ids: number[]): PlanSource => ({ ids: ids.map(idOf) });

  it('counts runs: those that were started together go no further than one', async () => {
    const deps = depsOf({ rows: 5 });
    const plans = await Promise.all([some(1, 2), some(3, 4), some(5, 6), some(7, 8)].map((source) => plan(deps, source)));
    const started = await Promise.all(plans.map((row) => refused(start(deps, row))));
    expect(started.map(({ code }) => code).sort()).toEqual(['approval_required', 'approval_required', 'no refusal', 'no refusal']);
    // Planned now, it asks; another person has an hour of their own.
    expect(await findApproval(world.store.db, (await plan(deps, some(9, 10))).id)).toMatchObject({ state: 'requested' });
    expect(await findApproval(world.store.db, (await plan(deps, some(9, 10), world.other)).id)).toBeNull();
  });

  it('counts a run as long as it is not over, and an hour longer what it changed', async () => {
    const deps = depsOf({ rows: 5 });
    const row = await plan(deps, some(1, 2, 3, 4));
    const run = await start(deps, row);
    const asks = async (): Promise<boolean> => (await findApproval(world.store.db, (await plan(deps, some(8, 9))).id)) !== null;
    await storeDatabase.query("update spending set at = now() - interval '3 hours'");
    expect(await asks()).toBe(true);
    const over = (changed: number, ago: string) =>
      storeDatabase.query(
        `update run set state = 'done', ended_at = now() - interval '${ago}', progress = '{"counts": {"changed": ${changed}}}' where id = '${run}'`,
      );
    await over(4, '59 minutes');
    expect(await asks()).toBe(true);
    await over(4, '61 minutes');
    expect(await asks()).toBe(false);
    await over(3, '1 minute');
    expect(await asks()).toBe(false);
  });

  it('counts amounts exactly, in the currency they are of', async () => {
    const deps = depsOf({ amount: { EUR: '42.00' } });
    await start(deps, await plan(deps, some(1, 2)));
    expect(await findApproval(world.store.db, (await plan(deps, some(3, 4))).id)).toBeNull();
    expect(await findApproval(world.store.db, (await plan(deps, some(3, 4, 5))).id)).toMatchObject({ because: '["amount"]' });
    await insertDead(20, 20, { currency: 'USD' });
    expect(await findApproval(world.store.db, (await plan(deps, some(20))).id)).toMatchObject({ because: '["amount"]' });
  });

  it('is nothing that is read or written where no rule is about it', async () => {
    const deps = depsOf({ outboxes: ['elsewhere'] }, { operations: ['archive'] });
    await start(deps, await plan(deps));
    expect(await storeDatabase.query('select from spending')).toEqual([]);
  });
});
