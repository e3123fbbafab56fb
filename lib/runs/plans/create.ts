/** Makes a plan: freezes its events, asks a second person where the rules say so, and keeps all of it in one transaction. */
import { uuidv7 } from 'uuidv7';
import { digestOf } from '@/lib/database/digest';
import { changeable } from '@/lib/interventions/intervene';
import { asProblem } from '@/lib/outbox/directory';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { APPROVAL_HOURS } from '@/lib/shared/runs/approvals';
import { PLAN_HOURS, PLAN_SHOWN, type PlanRequest } from '@/lib/shared/runs/plans';
import { insertApproval } from '@/lib/store/approvals';
import { recordDeed } from '@/lib/store/audit';
import { findPlan, findPlanByKey, insertPlan, type PlanRow } from '@/lib/store/plans';
import { byActor } from '@/lib/store/tables';
import { approvalRequired, passedNow } from '../approvals/policy';
import { freeze } from './freeze';
import { planHash, type PlanDeps, type PlanFacts } from './plan';
import { policyOf } from './void';

/** Types and currencies may have what the store's JSON cannot: NUL, and halves of surrogate pairs. */
const asStored = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\\ufffd')) as T;

/** The plan; the same for the same actor, key and body. Throws Problem `invalid`, `read_only`, `approval_required`, `key_reused` and the like. */
export async function createPlan(deps: PlanDeps, actor: Actor, outboxId: string, asked: PlanRequest, key: string): Promise<PlanRow> {
  const request = { ...asked, reason: asked.reason.trim() };
  const requestHash = digestOf([outboxId, request.operation, request.reason, request.source]);
  const { db } = deps.store;
  const same = async (): Promise<PlanRow | null> => {
    const found = await findPlanByKey(db, actor.id, key);
    if (found !== null && found.requestHash !== requestHash)
      throw new Problem('key_reused', 'This Idempotency-Key was used for another plan: send a new key for a new plan');
    return found;
  };
  const earlier = await same();
  if (earlier !== null) return earlier;

  const outbox = await changeable(deps, outboxId);
  const { facts: frozen, chunks, count, events } = await freeze(deps, outbox, request).catch(asProblem(outbox));
  const { operation, reason, source } = request;
  const facts: PlanFacts = asStored({ ...frozen, policy: policyOf(deps, { outbox: outboxId, operation }) });
  const hash = planHash({ outbox: outboxId, operation, reason, count, facts }, events);
  const id = uuidv7();
  const intended = { actor, outbox: outboxId, operation, spend: facts.spend };
  const because = await passedNow(deps, intended, id);
  if (because.length > 0 && actor.kind !== 'account') throw await approvalRequired(db, intended, because);
  const row = { id, outbox: outboxId, operation, reason, ...byActor(actor), actor: JSON.stringify(actor), count, hash };
  // Ten thousand ids are in its chunks.
  const told = 'ids' in source ? { ids: source.ids.slice(0, PLAN_SHOWN) } : source;
  const texts = { source: JSON.stringify(told), facts: JSON.stringify(facts), key, requestHash };
  await db.transaction().execute(async (transaction) => {
    // Another process may have been faster with the same key.
    if (!(await insertPlan(transaction, { ...row, ...texts }, chunks, PLAN_HOURS))) return;
    if (because.length > 0)
      await insertApproval(transaction, { planId: id, hash, because: JSON.stringify(because), hours: APPROVAL_HOURS });
    const after = { plan: id, operation, events: String(count), hash, approval: because.length > 0 ? 'requested' : null };
    await recordDeed(transaction, actor, { operation: 'plan', outbox: outboxId, reason, after });
  });
  const made = (await findPlan(db, id)) ?? (await same());
  if (made === null) throw new Error(`plan ${id} is not there after it was made`);
  return made;
}
