/** What a second person says of a plan. */
import { can, type Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { APPROVED_MINUTES } from '@/lib/shared/runs/approvals';
import { answerApproval, findApproval, voidApproval } from '@/lib/store/approvals';
import { recordDeed } from '@/lib/store/audit';
import { findPlan, type PlanRow } from '@/lib/store/plans';
import type { StoreDb } from '@/lib/store/store';
import { factsOf, verifyPlan, type PlanDeps } from './plan';
import { policyOf, whyVoid } from './void';

interface Said {
  answer: 'approve' | 'refuse';
  reason: string;
  /** What the approver saw; the plan's own if a script does not say. */
  hash: string | null;
}

/**
 * Approves or refuses a plan that somebody else made. Of several answers at once one counts. Throws Problem `forbidden` (one's own, a token, the
 * role), `conflict` (answered, too late, another hash, void), `not_found`.
 */
export async function answerPlan(deps: PlanDeps, actor: Actor, planId: string, { answer, reason, hash }: Said): Promise<PlanRow> {
  const { db } = deps.store;
  const plan = await findPlan(db, planId);
  if (plan === null) throw new Problem('not_found', 'There is no such plan');
  if (actor.kind !== 'account') throw new Problem('forbidden', 'A token cannot answer: sign in with an account that may approve');
  if (!can(actor.role, 'plan:approve'))
    throw new Problem('forbidden', `The role ${actor.role} may not answer: ask somebody who may approve`);
  if (plan.actorId === actor.id)
    throw new Problem('forbidden', 'You made this plan, so somebody else has to answer: send them its address');
  if (hash !== null && hash !== plan.hash)
    throw new Problem('conflict', 'This is not the hash of the plan: look at it again, and answer what you see then. Nothing was answered');
  if (answer === 'approve' && plan.runId === null) await requireWhole(deps, plan);
  const state = answer === 'approve' ? 'approved' : 'refused';
  return db.transaction().execute(async (transaction) => {
    const said = { planId, hash: plan.hash, state, actor, reason, minutes: APPROVED_MINUTES } as const;
    if (factsOf(plan).policy !== policyOf(deps, plan) || !(await answerApproval(transaction, said))) throw await whyNot(transaction, plan);
    const after = { plan: planId, hash: plan.hash, maker: plan.actorName };
    await recordDeed(transaction, actor, { operation: answer, outbox: plan.outbox, reason, after });
    return (await findPlan(transaction, planId)) ?? plan;
  });
}

/** What is approved is what was made, and could run now. A plan that is void stays so. */
async function requireWhole(deps: PlanDeps, plan: PlanRow): Promise<void> {
  const { db } = deps.store;
  const why = (await whyVoid(deps, plan)) ?? ((await verifyPlan(db, plan)) ? null : 'the store does not hold what it had when it was made');
  if (why === null) return;
  await voidApproval(db, plan.id);
  throw new Problem('conflict', `This plan is void, as ${why}: its maker has to make it again. Nothing was answered`);
}

async function whyNot(db: StoreDb, plan: PlanRow): Promise<Problem> {
  const refuse = (detail: string): Problem => new Problem('conflict', `${detail}. Nothing was answered`);
  const [now, approval] = [await findPlan(db, plan.id), await findApproval(db, plan.id)];
  if (approval === null) return refuse('Nobody is asked about this plan: it needs no approval');
  if (approval.state === 'approved' || approval.state === 'refused')
    return refuse(`${approval.actorName ?? 'Somebody'} has ${approval.state} it already`);
  if (approval.late || now?.expired === true) return refuse('It is too late: its maker has to make it again');
  return refuse('This plan is void: its maker has to make it again');
}
