/** What people do to runs: start, pause, resume, cancel, and how fast. Each in one transaction of the store, with an audit entry. */
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { digestOf } from '@/lib/database/digest';
import { goneIsOut } from '@/lib/interventions/fates';
import { isFollowed } from '@/lib/shared/changes/fates';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { hasWarnings } from '@/lib/shared/runs/plans';
import type { Pace, RunState } from '@/lib/shared/runs/runs';
import { recordDeed } from '@/lib/store/audit';
import { findPlan } from '@/lib/store/plans';
import { batchesOfRun, changeRun, findRun, findRunOfPlan, insertRun, stateOfRun, type StoredRun } from '@/lib/store/runs';
import type { StoreDb } from '@/lib/store/store';
import { factsOf, type PlanDeps } from '../plans/plan';
import { requireStartable } from '../plans/startable';
import { FOLLOWED_SECONDS, progressAtStart } from './progress';

/**
 * Starts a plan's only run. One actor, key and body always give the same run. Throws Problem `not_found`, `conflict` or, for the same key,
 * `key_reused` (naming the run of a plan that was started), and as `requireStartable` does.
 */
export async function startRun(deps: PlanDeps, actor: Actor, planId: string, pace: Pace, key: string): Promise<StoredRun> {
  const { db } = deps.store;
  const requestHash = digestOf([actor.id, planId, pace.share, pace.ratePerSecond]);
  const earlier = async (): Promise<StoredRun | null> => {
    const run = await findRunOfPlan(db, planId);
    if (run === null || (run.key === key && run.requestHash === requestHash)) return run;
    throw new Problem(run.key === key ? 'key_reused' : 'conflict', `This plan is started already, as run ${run.id}. Nothing was started`);
  };
  const before = await earlier();
  if (before !== null) return before;
  const plan = await findPlan(db, planId);
  if (plan === null) throw new Problem('not_found', 'There is no such plan');
  const check = await requireStartable(deps, plan);
  const asks = isFollowed(plan.operation) && hasWarnings(factsOf(plan));
  const progress = JSON.stringify(progressAtStart(plan.count, goneIsOut(await deps.directory.get(plan.outbox)), asks));
  const id = uuidv7();
  try {
    await db.transaction().execute(async (tx) => {
      await check(tx);
      const run = { id, planId, outbox: plan.outbox, pace, progress, key, requestHash };
      if (!(await insertRun(tx, run))) throw new Problem('conflict', 'This plan is started already');
      const after = { run: id, plan: planId, operation: plan.operation, events: String(plan.count), hash: plan.hash };
      await recordDeed(tx, actor, { operation: 'run', outbox: plan.outbox, reason: plan.reason, after });
    });
  } catch (error) {
    // Somebody was faster: perhaps this request, sent again.
    const started = error instanceof Problem && error.code === 'conflict' ? await earlier() : null;
    if (started === null) throw error;
    return started;
  }
  return runById(deps, id);
}

/** Throws Problem `not_found`. */
export async function runById({ store }: Pick<PlanDeps, 'store'>, id: string): Promise<StoredRun> {
  const run = z.uuid().safeParse(id).success ? await findRun(store.db, id) : null;
  if (run === null) throw new Problem('not_found', 'There is no such run');
  return run;
}

export type RunDeed = 'pause' | 'resume' | 'cancel' | 'pace';

/** States in which it changes something, and those in which it is done already. */
const DEEDS: Record<RunDeed, { from: readonly RunState[]; done: readonly RunState[] }> = {
  pause: { from: ['queued', 'running', 'paused'], done: [] },
  resume: { from: ['paused'], done: ['queued', 'running'] },
  cancel: { from: ['queued', 'running', 'paused'], done: ['cancelled'] },
  pace: { from: ['queued', 'running', 'paused'], done: [] },
};

/** Of an outbox that left the configuration nobody carries it out; what was sent of it last is not known until it is back. */
const isOver = async (db: StoreDb, { ids }: PlanDeps['directory'], { id, outbox }: StoredRun): Promise<boolean> =>
  !ids.includes(outbox) && (await batchesOfRun(db, id)).every(({ outcomes }) => outcomes !== null);

/** Throws Problem `not_found`, or `conflict` if it is over. */
export async function changeRunAs(
  deps: Pick<PlanDeps, 'store' | 'directory'>,
  actor: Actor,
  id: string,
  deed: RunDeed,
  pace?: Pace,
): Promise<StoredRun> {
  const run = await runById(deps, id);
  const followedFor = isFollowed(run.operation) ? FOLLOWED_SECONDS : null;
  const change = {
    pause: { state: 'paused', because: 'operator', followedFor } as const,
    resume: { state: 'queued', because: null } as const,
    cancel: { state: 'cancelled', because: null } as const,
    pace: { ...(pace !== undefined && { pace }) },
  }[deed];
  await deps.store.db.transaction().execute(async (tx) => {
    const now = await stateOfRun(tx, id);
    const { from, done } = DEEDS[deed];
    if (now === null || !from.includes(now.state)) {
      if (now !== null && done.includes(now.state)) return;
      throw new Problem('conflict', `This run is ${now?.state ?? 'gone'}: nothing was changed. Make a plan of what it left`);
    }
    // What stopped it by itself stays told; what goes on by itself needs nobody.
    if (deed === 'pause' && now.state === 'paused' && now.because !== 'unavailable') return;
    if (deed === 'resume' && now.because === 'unavailable') return;
    await changeRun(tx, id, from, { ...change, ...(deed === 'cancel' && { ended: await isOver(tx, deps.directory, run) }) });
    const told: Record<string, string | null> =
      pace === undefined
        ? {}
        : { share: String(pace.share), ratePerSecond: pace.ratePerSecond === null ? null : String(pace.ratePerSecond) };
    await recordDeed(tx, actor, { operation: deed, outbox: run.outbox, reason: run.reason, after: { run: id, ...told } });
  });
  return runById(deps, id);
}
