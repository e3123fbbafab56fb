/** Whether a plan may be started, by whom it was made and by what a second person said. */
import { Problem } from '@/lib/shared/problems';
import type { ApprovalLimit } from '@/lib/shared/runs/approvals';
import { findApproval } from '@/lib/store/approvals';
import { findPlan, type PlanRow } from '@/lib/store/plans';
import type { StoreDb } from '@/lib/store/store';
import { approvalRequired, reserve } from '../approvals/policy';
import { factsOf, makerOf, verifyPlan, type PlanDeps } from './plan';
import { whyVoid } from './void';

/**
 * Checks all that takes time: the hash over its events, the table, its maker. What it answers is called in the transaction that inserts the run,
 * and checks and reserves there what another process may change. Both throw Problem `conflict` (too old, started, void), `approval_required`,
 * `read_only`, `forbidden`.
 */
export async function requireStartable(deps: PlanDeps, plan: PlanRow): Promise<(db: StoreDb) => Promise<void>> {
  const refuse = (detail: string): Problem => new Problem('conflict', `${detail}. Nothing was started`);
  if (plan.expired) throw refuse('This plan is too old: make it again');
  const why = await whyVoid(deps, plan);
  if (why !== null) throw refuse(`This plan is void, as ${why}: make it again`);
  if (!(await verifyPlan(deps.store.db, plan))) throw refuse('The store does not hold what this plan had when it was made: make it again');
  return async (db) => {
    const now = await findPlan(db, plan.id);
    if (now === null || now.expired) throw refuse('This plan is too old: make it again');
    if (now.runId !== null) throw refuse('This plan is started already');
    const maker = makerOf(plan);
    const intended = { actor: maker, outbox: plan.outbox, operation: plan.operation, spend: factsOf(plan).spend };
    const approval = await findApproval(db, plan.id, true);
    if (approval === null) {
      await reserve(deps, db, intended, plan.id);
      return;
    }
    if (approval.state === 'refused')
      throw new Problem('forbidden', `${approval.actorName ?? 'Somebody'} refused this plan. Nothing was started`);
    if (approval.state === 'void' || approval.hash !== plan.hash)
      throw refuse('What was agreed to is not what would run: make the plan again');
    if (approval.late)
      throw refuse(
        approval.state === 'approved'
          ? 'It was not started in time after it was approved: make the plan again'
          : 'Nobody answered in time: make the plan again',
      );
    if (approval.state !== 'approved') throw await approvalRequired(db, intended, JSON.parse(approval.because) as ApprovalLimit[], true);
  };
}
