/** Whether a run goes on: by its state, and after a failure. */
import { DatabaseFailure } from '@/lib/database/failure';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import { Problem } from '@/lib/shared/problems';
import type { PauseReason, RunState } from '@/lib/shared/runs/runs';
import { LeaseLost } from '@/lib/store/collector-leases';
import type { PlanRow } from '@/lib/store/plans';
import type { StoredRun } from '@/lib/store/runs';
import { mayStill, whyVoid } from '../plans/void';
import type { RunDeps } from './deps';

/** It may be carried out; `unavailable` ends by itself. */
export const isGoing = ({ state, because }: { state: RunState; because: PauseReason | null }): boolean =>
  state === 'running' || (state === 'paused' && because === 'unavailable');

/** The store did not take or tell something: what this process remembers may differ from it. */
export class StoreAway extends Error {}

export const ofStore = <T>(work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw cause instanceof LeaseLost ? cause : new StoreAway('the store does not answer', { cause });
  });

/** Reasons that pass by themselves; a server that takes no writes, such as after a failover, gives none. */
const PASSING: readonly (ReadOnlyReason | undefined)[] = [undefined, 'proof_unknown', 'source_down', 'source_slow'];

const isRefused = ({ code, because }: Problem): boolean => code === 'forbidden' || (code === 'read_only' && !PASSING.includes(because));

/** Why a failure stops a run until somebody resumes it; null if it passes by itself. */
export function stopsFor(error: unknown, tries: number): PauseReason | null {
  if (!(error instanceof Problem)) return null;
  if (error.code === 'invalid' || error.code === 'key_reused') return 'plan_void';
  return isRefused(error) && (error.because !== 'table_changed' || tries > 0) ? 'read_only' : null;
}

/** A statement was cancelled, as it took too long: for fewer rows it may not. */
export const isTooSlow = (error: unknown): boolean =>
  error instanceof Problem && error.cause instanceof DatabaseFailure && error.cause.code === 'timeout';

/** Why no further batch may be sent; null if it may. Throws Problem if that cannot be told. */
export async function stopBefore(deps: RunDeps, { maker }: StoredRun, plan: PlanRow): Promise<PauseReason | null> {
  if (!(await ofStore(mayStill(deps.store.db, maker, 'event:operate')))) return 'not_allowed';
  try {
    return (await whyVoid(deps, plan)) === null ? null : 'plan_void';
  } catch (error) {
    const stop = stopsFor(error, 1);
    if (stop === null) throw error;
    return stop;
  }
}
