/** Runs over HTTP, in a whole console: who may what, the same answer to the same key, and where a run is told. */
import { expect, it } from 'vitest';
import type { AuditEntry } from '@/lib/shared/model';
import type { Plan } from '@/lib/shared/runs/plans';
import type { Run } from '@/lib/shared/runs/runs';
import { getConsole } from '@/lib/server/console';
import { runById } from '@/lib/runs/run/start';
import { chartMarks } from '@/lib/server/reads/marks';
import { deleteOldRows } from '@/lib/store/old-rows';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';
import { GET as audit } from '../audit/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { POST as makePlan } from '../outboxes/[outbox]/plans/route';
import { POST as start } from '../plans/[plan]/run/route';
import { POST as cancel } from './[run]/cancel/route';
import { POST as setPace } from './[run]/pace/route';
import { POST as pause } from './[run]/pause/route';
import { POST as resume } from './[run]/resume/route';
import { GET as read } from './[run]/route';
import { GET as list } from './route';

const { console, observed, store } = useInstalledEscrow();

const NAMES = ['id', 'plan', 'state', 'because', 'requested', 'changed', 'conflicted', 'locked', 'failed', 'unknown', 'remaining', 'fates'];

it('a plan is started once, followed, paused and cancelled by operators, and told in list, audit and charts', async () => {
  const headers = { 'idempotency-key': 'plan-1' };
  const body = { operation: 'requeue', reason: 'the node is back', source: { ids: [DEAD] } };
  const made = await console.callAs('operator', makePlan, { method: 'POST', params: { outbox: 'escrow' }, headers, body });
  expect(made.status).toBe(201);
  const plan = (await made.json()) as Plan;
  const begin = (key: string, more: object = {}, role: 'viewer' | 'operator' = 'operator') =>
    console.callAs(role, start, { method: 'POST', params: { plan: plan.id }, headers: { 'idempotency-key': key }, body: more });
  expect((await begin('run-1', {}, 'viewer')).status).toBe(403);
  expect((await begin('run-1', { share: 2 })).status).toBe(400);
  expect((await begin('run/of-mine/1')).status).toBe(400);

  const begun = await begin('run-1', { share: 0.25 });
  expect(begun.status).toBe(201);
  const run = (await begun.json()) as Run;
  expect(Object.keys(run)).toEqual(expect.arrayContaining(NAMES));
  expect(run).toMatchObject({ plan: plan.id, requested: 1, pace: { share: 0.25, ratePerSecond: null }, maker: 'operator bot' });
  expect(((await (await begin('run-1', { share: 0.25 })).json()) as Run).id).toBe(run.id);
  const otherwise = await begin('run-1', { share: 0.5 });
  expect([otherwise.status, await otherwise.json()]).toEqual([422, expect.objectContaining({ code: 'key_reused' })]);
  await expect(runById(await getConsole(), 'x')).rejects.toMatchObject({ code: 'not_found' });
  const second = await begin('run-2');
  expect(second.status).toBe(409);
  expect(await second.json()).toMatchObject({ code: 'conflict', detail: expect.stringContaining(run.id) });

  const asked = async (): Promise<Run> => (await console.callAs('viewer', read, { params: { run: run.id } })).json() as Promise<Run>;
  await expect.poll(async () => (await asked()).fates.waiting, { timeout: 10_000 }).toBe(1);
  const post = async (handler: typeof pause, role: 'viewer' | 'operator', more: object = {}): Promise<Response> =>
    console.callAs(role, handler, { method: 'POST', params: { run: run.id }, ...more });
  for (const handler of [pause, resume, cancel, setPace])
    expect((await post(handler, 'viewer', { body: { share: 1, ratePerSecond: null } })).status).toBe(403);
  expect(await (await post(pause, 'operator')).json()).toMatchObject({ state: 'paused', because: 'operator' });
  // While it is followed its figures are those of now; later they are of when they were last looked at.
  const stands = async (): Promise<boolean> => (await asked()).asOf === (await asked()).asOf;
  expect(await stands()).toBe(false);
  await store.query('update run set followed_until = null');
  expect(await stands()).toBe(true);
  expect(await (await post(resume, 'operator')).json()).toMatchObject({ because: null });
  const faster = { share: 1, ratePerSecond: 40 };
  expect(await (await post(setPace, 'operator', { body: faster })).json()).toMatchObject({ pace: faster });
  await observed.query(`UPDATE p2p.transaction_outbox SET status = 'processed', processed_time = now() WHERE id = '${DEAD}'`);
  await expect.poll(async () => (await asked()).state, { timeout: 10_000 }).toBe('done');
  expect(await asked()).toMatchObject({ changed: 1, fates: { published: 1 }, followedUntil: null });
  expect((await post(cancel, 'operator')).status).toBe(409);
  const listed = (await (await console.callAs('viewer', list, { path: '/?outbox=escrow' })).json()) as { runs: Run[] };
  expect(listed.runs).toMatchObject([{ id: run.id, state: 'done' }]);

  const { carrier, ...rest } = await getConsole();
  await carrier.carryAll();
  const entries = async (query: string): Promise<AuditEntry[]> =>
    ((await (await console.callAs('viewer', audit, { path: `/?${query}` })).json()) as { entries: AuditEntry[] }).entries;
  expect((await entries('')).map(({ operation, outcome }) => `${operation} ${outcome}`).sort()).toEqual(
    [
      'plan applied',
      'run applied',
      'run refused',
      'pause applied',
      'pause refused',
      'resume applied',
      'resume refused',
      'pace applied',
      'pace refused',
      'cancel refused',
      'requeue applied',
    ].sort(),
  );
  expect(await entries(`action=${run.id}`)).toMatchObject([
    { operation: 'requeue', eventId: DEAD, outcome: 'applied', reason: body.reason },
  ]);
  const actor = { id: 'x', name: 'x', role: 'viewer', kind: 'account' } as const;
  const context = { console: { carrier, ...rest }, actor, requestId: 'x', elapsedMs: () => 0, locale: 'en', timeZone: 'UTC' } as const;
  const [from, to] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const marks = await chartMarks(context, { outbox: 'escrow', from: from ?? '', to: to ?? '' });
  expect(marks).toMatchObject([{ kind: 'run', id: run.id, text: body.reason, operation: 'requeue', changed: 1, actor: 'operator bot' }]);

  const refused = await console.callAs('operator', intervene, {
    method: 'POST',
    params: { outbox: 'escrow' },
    headers: { 'idempotency-key': `run/${run.id}/1` },
    body: { operation: 'requeue', events: [{ id: DEAD, version: 'x' }], reason: 'mine' },
  });
  expect(refused.status).toBe(400);

  await store.query(`update run set ended_at = now() - interval '91 days'; update plan set created_at = now() - interval '91 days'`);
  await deleteOldRows(rest.store.db);
  expect(await store.query('select from plan_chunk')).toEqual([]);
  expect((await console.callAs('viewer', read, { params: { run: run.id } })).status).toBe(404);
});
