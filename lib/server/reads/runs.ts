import 'server-only';
import { isGoing } from '@/lib/runs/run/going';
import { changeRunAs, runById, startRun, type RunDeed } from '@/lib/runs/run/start';
import { runOf } from '@/lib/runs/run/progress';
import type { MarkedSnapshot } from '@/lib/shared/figures/chart-view';
import type { PlanSource } from '@/lib/shared/runs/plans';
import { DEFAULT_PACE, type Pace, type Run } from '@/lib/shared/runs/runs';
import { listRuns, openRuns, type StoredRun } from '@/lib/store/runs';
import type { Context } from '../context';
import { onOutbox } from './outboxes';
import { orNothing } from './doctor';
import { seesAll, shownError } from './shown';

/** Newest first, at most this many. */
const RUNS_LISTED = 100;

/** Throws Problem `not_found`. */
export const readRun = async (context: Context, id: string): Promise<Run> => shownRun(context, await runById(context.console, id));

/** The newest runs of an outbox, or of all. Throws Problem `not_found`. */
export async function readRuns(context: Context, outbox: string | undefined): Promise<{ runs: Run[] }> {
  const { directory, store } = context.console;
  if (outbox !== undefined) directory.settings(outbox);
  const runs = await listRuns(store.db, outbox === undefined ? directory.ids : [outbox], RUNS_LISTED);
  return { runs: await Promise.all(runs.map((run) => shownRun(context, run))) };
}

/** Most runs told of a cause. */
const TRIED = 5;

/** What the newest runs of plans of a cause did; none for those who do not see its errors. Throws Problem `not_found`. */
export async function readTried(context: Context, outbox: string, cause: string): Promise<Run[]> {
  if (!seesAll(context)) return [];
  const { runs } = await readRuns(context, outbox);
  return runs.filter(({ source }) => 'cause' in source && source.cause === cause).slice(0, TRIED);
}

/** The run of an outbox that goes on now; null without one, and while the store is away. */
export async function runUnderWay({ console }: Context, outbox: string): Promise<MarkedSnapshot['run']> {
  const going = await orNothing(console, undefined, async () => (await openRuns(console.store.db, outbox)).find(isGoing));
  if (going === undefined) return null;
  const { id, maker, requested, remaining } = runOf(going).run;
  return { id, maker, requested, remaining };
}

/** Throws Problem as `startRun` does. */
export async function beginRun(context: Context, { plan, pace, key }: { plan: string; pace: Partial<Pace>; key: string }): Promise<Run> {
  const { console, actor } = context;
  const run = await startRun(console.planDeps, actor, plan, { ...DEFAULT_PACE, ...pace }, key);
  console.runs.wake();
  return shownRun(context, run);
}

/** Throws Problem `not_found`, `conflict`. */
export async function changeRun(context: Context, id: string, deed: RunDeed, pace?: Pace): Promise<Run> {
  const { console, actor } = context;
  const run = await changeRunAs(console, actor, id, deed, pace);
  console.runs.wake();
  return shownRun(context, run);
}

/** What a run came from; filters and causes may name what is hidden from those who do not see all. */
const shownSource = (source: PlanSource, all: boolean): PlanSource =>
  'ids' in source || 'run' in source || all ? source : 'filter' in source ? { filter: '' } : { cause: '' };

/** With source and error as this reader may see them: no error where that cannot be told now. */
async function shownRun(context: Context, stored: StoredRun): Promise<Run> {
  const { run: whole, failed } = runOf(stored);
  // What does not go on stands in the store as it is, but where events wait that nobody looks at any more.
  const wasLookedAt = whole.state === 'running' || (whole.fates.waiting > 0 && whole.followedUntil === null);
  const asOf = wasLookedAt ? whole.asOf : new Date().toISOString();
  const run = { ...whole, asOf, source: shownSource(whole.source, seesAll(context)) };
  if (seesAll(context) || run.error === null || failed === null) return run;
  const { error } = run;
  const masked = orNothing(context.console, null, () =>
    onOutbox(context, run.outbox, (outbox) => shownError(context, outbox, failed, error)),
  );
  return { ...run, error: await masked };
}
