/** Plans and approvals over HTTP and as screens read them, with a rule that lets one person change one event an hour. */
import { beforeAll, describe, expect, it } from 'vitest';
import { getConsole } from '@/lib/server/console';
import type { Context } from '@/lib/server/context';
import { readAudit } from '@/lib/server/reads/audit';
import { makePlan, readApprovals, readPlan, readPlanSnapshot, readPlansSnapshot, sayOfPlan } from '@/lib/server/reads/plans';
import { readFleet } from '@/lib/server/reads/figures';
import { readPreview, runIntervention } from '@/lib/server/reads/changes';
import type { Role } from '@/lib/shared/permissions';
import type { EventPage } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Plan } from '@/lib/shared/runs/plans';
import { insertAccount } from '@/lib/store/accounts';
import { contextOf } from '@/scripts/testing/console';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';
import { GET as events } from '../outboxes/[outbox]/events/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { POST as plan } from '../outboxes/[outbox]/plans/route';
import { GET as approvals } from '../approvals/route';
import { POST as approve } from './[plan]/approve/route';
import { POST as refuse } from './[plan]/refuse/route';
import { GET as byId } from './[plan]/route';
import { GET as list } from './route';

const { console, observed, store } = useInstalledEscrow('approvals: [{ rows: 1 }]\n');
const params = { outbox: 'escrow' };
let serial = 0;
const post = (body: object, key = `k${(serial += 1)}`, role: Role = 'operator') =>
  console.callAs(role, plan, { method: 'POST', params, headers: { 'idempotency-key': key }, body });
const request = (source: object) => ({ operation: 'requeue', reason: 'the node is back', source });
const answerOf = async (answer: Response): Promise<Record<string, unknown>> => ({
  status: answer.status,
  ...((await answer.json()) as object),
});

/** As somebody who has signed in, with an account of their own. */
async function signedIn(role: Role): Promise<Context> {
  const [context, { store: own }] = [await contextOf(role), await getConsole()];
  const name = `${role}-${(serial += 1)}@outbox.local`;
  const id = (await insertAccount(own.db, { email: name, passwordHash: '-', role })) ?? '';
  return { ...context, actor: { id: `account:${id}`, name, role, kind: 'account' } };
}

beforeAll(async () => {
  // A second dead event, so that two are over the limit.
  await observed.query(`insert into p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, retry_count, error_message)
    select '00000000-0000-4000-8000-000000000099', 'k99', 'refund', 'order-9', 'failed', '{}', now(), 5, 'node 4111 1111 1111 1111 down'`);
});

describe('a script', () => {
  it('makes a plan of what it may change alone, once per key, and reads it again', async () => {
    const one = await answerOf(await post(request({ ids: [DEAD] }), 'one'));
    expect(one).toMatchObject({
      status: 201,
      outbox: 'escrow',
      count: 1,
      approval: null,
      state: 'open',
      run: null,
      warnings: {},
      own: true,
    });
    expect(one.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await answerOf(await post(request({ ids: [DEAD] }), 'one'))).toMatchObject({ status: 201, id: one.id });
    expect(await answerOf(await post(request({ filter: 'state=dead' }), 'one'))).toMatchObject({ status: 422, code: 'key_reused' });
    const again = await answerOf(await console.callAs('operator', byId, { params: { plan: String(one.id) } }));
    expect(again).toEqual({ ...one, status: 200 });
    const { plans } = (await (await console.callAs('viewer', list, { path: '/?outbox=escrow&state=open' })).json()) as {
      plans: { id: string }[];
    };
    expect(plans.map(({ id }) => id)).toEqual([one.id]);
  });

  it('is told of every field that is wrong, and of a key that is empty', async () => {
    expect(await answerOf(await post(request({ filter: { state: 'dead', colour: 'red' } })))).toMatchObject({
      status: 400,
      fields: { colour: expect.stringContaining('unknown') },
    });
    for (const paged of [{ limit: '1' }, { cursor: 'x' }])
      expect(await answerOf(await post(request({ filter: { state: 'dead', ...paged } })))).toMatchObject({
        status: 400,
        fields: { filter: 'has cursor or limit' },
      });
    // JSON.parse makes a field of it, which an object literal would not.
    const proto = JSON.parse('{"__proto__": {"state": "dead"}}') as object;
    expect(await answerOf(await post(request({ filter: proto })))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('__proto__'),
    });
    await expect(readPlanSnapshot(await contextOf('viewer'), 'x')).rejects.toMatchObject({ code: 'not_found' });
    expect(await answerOf(await post(request({ all: true })))).toMatchObject({
      status: 400,
      fields: { source: expect.stringContaining('write one of') },
    });
    expect(await answerOf(await post({ ...request({ ids: [DEAD] }), reason: 'x' }))).toMatchObject({
      status: 400,
      fields: { reason: expect.any(String) },
    });
    expect(await answerOf(await post(request({ ids: [DEAD] }), ''))).toMatchObject({
      status: 400,
      fields: { 'Idempotency-Key': expect.any(String) },
    });
    expect(await answerOf(await console.callAs('viewer', list, { path: '/?cursor=x' }))).toMatchObject({ status: 400 });
    expect(
      await answerOf(await console.callAs('viewer', byId, { params: { plan: '0199a0c0-0000-7000-8000-000000000001' } })),
    ).toMatchObject({ status: 404 });
    expect((await post(request({ ids: [DEAD] }), 'viewer', 'viewer')).status).toBe(403);
  });

  it('is stopped at both doors by what needs a second person, which the audit tells', async () => {
    const over = await answerOf(await post(request({ filter: { state: ['dead'] } })));
    expect(over).toMatchObject({ status: 403, code: 'approval_required', detail: expect.stringContaining('a token cannot ask') });
    const { events: dead } = (await (await console.callAs('operator', events, { params, path: '/e?state=dead' })).json()) as EventPage;
    expect(dead).toHaveLength(2);
    const body = { operation: 'requeue', reason: 'all at once', events: dead.map(({ id, version }) => ({ id, version })) };
    const answer = await console.callAs('operator', intervene, { method: 'POST', params, headers: { 'idempotency-key': 'two' }, body });
    expect(await answerOf(answer)).toMatchObject({ status: 403, code: 'approval_required' });
    expect(await observed.query("select from p2p.transaction_outbox where status = 'failed'")).toHaveLength(2);
    expect(
      await store.query("select operation, outcome, code from audit_entry where code = 'approval_required' order by operation"),
    ).toEqual([
      { operation: 'plan', outcome: 'refused', code: 'approval_required' },
      { operation: 'requeue', outcome: 'refused', code: 'approval_required' },
    ]);
  });
});

describe('two persons', () => {
  const ask = (maker: Context): Promise<Plan> =>
    makePlan(maker, 'escrow', request({ filter: 'state=dead&cursor=x&limit=5' }) as never, `a${(serial += 1)}`);

  it('make and approve it on screens, each with what they may see', async () => {
    const [maker, approver] = [await signedIn('approver'), await signedIn('approver')];
    const made = await ask(maker);
    expect(made).toMatchObject({
      count: 2,
      own: true,
      source: { filter: 'state=dead' },
      approval: { state: 'requested', because: ['rows'], nobody: false },
    });
    expect([(await readApprovals(maker)).count, (await readApprovals(await signedIn('operator'))).count]).toEqual([0, 0]);
    expect(await readApprovals(approver)).toMatchObject({ count: 1, plans: [{ id: made.id, own: false }] });
    await expect(sayOfPlan(maker, made.id, 'approve', { reason: 'mine', hash: made.hash })).rejects.toMatchObject({ code: 'forbidden' });
    const said = await sayOfPlan(approver, made.id, 'approve', { reason: 'checked', hash: made.hash });
    expect(said.approval).toMatchObject({ state: 'approved', answer: { by: approver.actor.name, reason: 'checked' } });
    expect((await readApprovals(approver)).count).toBe(0);
    expect((await readPlansSnapshot(maker)).plans[0]).toMatchObject({
      id: made.id,
      state: 'open',
      approval: { state: 'approved' },
      progress: null,
    });
  });

  it('are not one with a token: it neither answers nor is asked', async () => {
    const made = await ask(await signedIn('operator'));
    for (const [handler, role] of [
      [approve, 'admin'],
      [refuse, 'approver'],
      [approve, 'operator'],
    ] as const) {
      const answer = await console.callAs(role, handler, {
        method: 'POST',
        params: { plan: made.id },
        body: { reason: 'by token', hash: made.hash },
      });
      expect(answer.status).toBe(403);
    }
    expect(await answerOf(await console.callAs('admin', approvals))).toMatchObject({ count: 0, plans: [] });
    expect((await readPlan(await signedIn('viewer'), made.id)).approval).toMatchObject({ state: 'requested' });
  });

  it('see it, and can refuse it, while its database does not answer', async () => {
    const made = await ask(await signedIn('operator'));
    const approver = await signedIn('approver');
    const { directory } = approver.console;
    const get = () => Promise.reject(new Problem('unavailable', 'away'));
    const away = { ...approver, console: { ...approver.console, directory: { ...directory, get } } };
    expect(await readPlanSnapshot(away, made.id)).toMatchObject({ plan: { id: made.id }, events: [], unread: 'unavailable' });
    expect(await sayOfPlan(away, made.id, 'refuse', { reason: 'not now' })).toMatchObject({ approval: { state: 'refused' } });
    expect(await readPlanSnapshot(approver, made.id)).toMatchObject({ events: [{ id: DEAD }, {}], unread: null });
  });

  it('show a viewer no version, no value and no hash, and errors masked', async () => {
    const made = await ask(await signedIn('operator'));
    const snapshot = await readPlanSnapshot(await signedIn('viewer'), made.id);
    expect(snapshot.plan).toMatchObject({ hash: '', own: false, sql: made.sql.map(({ text }) => ({ text, parameters: [] })) });
    expect(snapshot.events.map(({ id, version }) => [id, version])).toEqual([
      [DEAD, null],
      ['00000000-0000-4000-8000-000000000099', null],
    ]);
    expect(JSON.stringify(snapshot)).not.toContain('4111');
    const audit = await readAudit(await signedIn('viewer'), { operation: 'plan' }, { limit: 1 });
    expect(audit.entries[0]).toMatchObject({ after: { plan: made.id } });
    expect(JSON.stringify(audit)).not.toContain(made.hash);
    expect(JSON.stringify(await readAudit(await signedIn('operator'), { operation: 'plan' }, { limit: 1 }))).toContain(made.hash);
  });
});

describe('a screen', () => {
  it('is told before that a second person is asked, and by whom that is answered', async () => {
    const operator = await signedIn('operator');
    const { events: shown } = await readPlanSnapshot(
      operator,
      (await makePlan(operator, 'escrow', request({ ids: [DEAD] }) as never, 'p')).id,
    );
    const seen = shown.map(({ id, version }) => ({ id, version: version ?? '' }));
    const both = [...seen, { id: '00000000-0000-4000-8000-000000000099', version: '' }];
    const preview = (of: typeof seen) => readPreview(operator, 'escrow', { operation: 'requeue', events: of });
    expect((await preview(seen)).approval).toBeNull();
    const dead = await makePlan(await signedIn('operator'), 'escrow', request({ filter: 'state=dead' }) as never, 'q');
    const { events: all } = await readPlanSnapshot(operator, dead.id);
    expect((await preview(all.map(({ id, version }) => ({ id, version: version ?? '' })))).approval).toEqual({
      because: ['rows'],
      nobody: false,
    });
    await expect(
      runIntervention(operator, { outbox: 'escrow', request: { operation: 'requeue', reason: 'both', events: both }, key: 'both' }),
    ).rejects.toMatchObject({
      code: 'approval_required',
    });
    await store.query("update account set disabled_at = now() where role in ('approver', 'admin')");
    expect((await preview(all.map(({ id, version }) => ({ id, version: version ?? '' })))).approval).toEqual({
      because: ['rows'],
      nobody: true,
    });
    expect((await readFleet(operator)).approvalsBlocked).toEqual(['escrow']);
    expect((await readPlan(operator, dead.id)).approval).toMatchObject({ nobody: true });
  });
});
