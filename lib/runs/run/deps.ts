import type { InterventionDeps } from '@/lib/interventions/intervene';
import type { PlanDeps } from '../plans/plan';

/** In milliseconds, but for the lease. Tests cannot wait for minutes. */
export const RUN_TIMING = {
  leaseSeconds: 15,
  /** Between two looks for runs. */
  pollMs: 1_000,
  /** Between two looks at fates. */
  lookMs: 500,
  /** Without a new fate a run stops. */
  noFateMs: 60_000,
  /** Fresh events may wait so much longer than any did before. */
  freshMs: 10_000,
  /** Between two questions how long they wait. */
  freshEveryMs: 5_000,
  /** Before the first repeat, and before a locked event is tried again. */
  retryMs: 1_000,
  followMs: 60_000,
};

export interface RunDeps extends InterventionDeps, PlanDeps {
  timing: typeof RUN_TIMING;
  /** Called once per kind of failure in a row: the run goes on by itself. */
  onError(outbox: string, error: unknown): void;
}

/** Measures how long the transaction of one intervention took, in whole milliseconds; null if it ran before. */
export function timing(deps: InterventionDeps): { deps: InterventionDeps; tookMs: () => number | null } {
  let [from, to] = [0, 0];
  return {
    tookMs: () => (from === 0 ? null : Math.max(0, Math.round(to - from))),
    deps: {
      ...deps,
      requireStore: async (outbox) => {
        await deps.requireStore(outbox);
        from = performance.now();
      },
      onRecord: (outbox) => {
        to = performance.now();
        deps.onRecord(outbox);
      },
    },
  };
}
