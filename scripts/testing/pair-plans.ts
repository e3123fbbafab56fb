/** A plan and a run of each table of a pair, as an operator would have left them, and what a viewer reads of them. */
import { getConsole } from '@/lib/server/console';
import type { Context } from '@/lib/server/context';
import { readPlans, readPlanSnapshot } from '@/lib/server/reads/plans';
import { readRun, readRuns } from '@/lib/server/reads/runs';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { addSums, spendOf } from '@/lib/runs/approvals/limits';
import { packChunk } from '@/lib/runs/plans/chunk';
import { progressAtStart } from '@/lib/runs/run/progress';
import { PAGE_LIMIT_MAX } from '@/lib/shared/model';
import { DEFAULT_PACE } from '@/lib/shared/runs/runs';
import { insertPlan } from '@/lib/store/plans';
import { insertRun } from '@/lib/store/runs';

const ACTOR = { id: 'account:2', name: 'an operator', role: 'operator', kind: 'account' };
/** Of outbox `pair-0007-a`; told apart by its first digits alone, as all ids of these tests are. */
const idOf = (outbox: string, kind: number): string =>
  `0190000${outbox.endsWith('a') ? 0 : 1}-0000-7000-800${kind}-${outbox.slice(5, 9)}00000000`;
const planOf = (outbox: string): string => idOf(outbox, 1);
const runOfPair = (outbox: string): string => idOf(outbox, 2);

export async function writePlan(id: string): Promise<void> {
  const { directory, store } = await getConsole();
  const outbox = await directory.get(id);
  const { events, searched } = await listEvents(outbox, { order: 'oldest' }, { limit: PAGE_LIMIT_MAX });
  const [first] = events;
  const failed = events.find(({ error }) => error !== null);
  const facts = {
    ...{ sums: addSums(events), withoutAmount: 0, oldestAt: first?.createdAt ?? null, expectedSeconds: null, orderNotLooked: 0 },
    types: events.map(({ type }) => ({ type, count: 1 })),
    warnings: { consumer_not_idempotent: events.filter(({ type }) => type === 'sold').length },
    searched: { rows: events.length, complete: searched.complete },
    sql: [{ text: 'update', parameters: events.map(({ version }) => version) }],
    ...{ spend: spendOf(events, outbox.settings), samples: events.slice(0, 1) },
  };
  const source = {
    filter: new URLSearchParams({ q: first?.aggregateId ?? '', error: failed?.error ?? '', type: first?.type ?? '' }).toString(),
  };
  const texts = { reason: 'again', source: JSON.stringify(source), actor: JSON.stringify(ACTOR), facts: JSON.stringify(facts) };
  const plan = {
    id: planOf(id),
    outbox: id,
    operation: 'requeue',
    actorId: ACTOR.id,
    actorName: ACTOR.name,
    count: events.length,
    ...texts,
  };
  const chunk = packChunk(events.map((event) => ({ ...event, aggregate: null })));
  const hash = events.map(({ version }) => version).join('');
  const run = { id: runOfPair(id), planId: planOf(id), outbox: id, pace: DEFAULT_PACE, key: id, requestHash: '-' };
  const error = failed === undefined ? null : { id: failed.id, error: failed.error ?? '' };
  await store.db.transaction().execute(async (db) => {
    if (!(await insertPlan(db, { ...plan, hash, key: id, requestHash: '-' }, [chunk], 24))) return;
    await insertRun(db, { ...run, progress: JSON.stringify({ ...progressAtStart(events.length, false, false), error }) });
    // Over, or the console would carry it out.
    await db.updateTable('run').set({ state: 'done', endedAt: '2026-01-01T00:00:09Z' }).where('id', '=', run.id).execute();
  });
}

export const planQuestions = (id: string): { handler: string; path?: string; params?: Record<string, string> }[] => [
  ...['plans', 'runs'].map((list) => ({ handler: `GET v1/${list}`, path: `/l?outbox=${id}` })),
  { handler: 'GET v1/plans/[plan]', params: { plan: planOf(id) } },
  { handler: 'GET v1/runs/[run]', params: { run: runOfPair(id) } },
  { handler: 'GET v1/approvals' },
];

const plansTold = async (context: Context, id: string): Promise<unknown> => [
  await readPlanSnapshot(context, planOf(id)),
  (await readPlans(context, { outbox: id, limit: 10 })).plans,
  await readRun(context, runOfPair(id)),
  await readRuns(context, id),
];
const byRoute = (): string => 'asked by route';

/** By the id of the page or action that reads it. */
export const PLAN_READINGS = {
  ...Object.fromEntries(
    ['plan.snapshot', 'plans.snapshot', 'run.snapshot', 'page.plan', 'page.plans', 'page.run'].map((id) => [id, plansTold]),
  ),
  ...Object.fromEntries(['approvals.snapshot', 'page.approvals'].map((id) => [id, byRoute])),
};
