import 'server-only';
import type { PlanDeps } from '@/lib/runs/plans/plan';
import { leftoverIds } from '@/lib/runs/run/job';
import type { Console } from '../console';

/** What plans and approvals need of the running console. */
export const planDeps = ({ config, directory, snapshots, store }: Console): PlanDeps => ({
  store,
  directory,
  approvals: config.approvals,
  leftovers: leftoverIds,
  publishedPerMinute: async (outbox) => {
    const summary = await snapshots.summary(outbox, '1h').catch(() => null);
    return summary?.throughput.publishedPerMinute ?? null;
  },
});
