/** Why a plan is not to be carried out any more, whoever agreed to it. */
import { changeable } from '@/lib/interventions/intervene';
import { statementsFor } from '@/lib/interventions/preview';
import type { Outbox } from '@/lib/outbox/outbox';
import { createOnce, type Once } from '@/lib/shared/async/once';
import { perObject } from '@/lib/shared/kept';
import { can, type Actor, type Permission } from '@/lib/shared/permissions';
import { roleOfAccount } from '@/lib/store/accounts';
import { roleOfToken } from '@/lib/store/api-tokens';
import { findApproval, type ApprovalRow } from '@/lib/store/approvals';
import type { PlanRow } from '@/lib/store/plans';
import type { StoreDb } from '@/lib/store/store';
import { policyDigest, rulesFor } from '../approvals/limits';
import { factsOf, makerOf, type PlanDeps } from './plan';

/** Whether the store still lets this account or token do it. */
export async function mayStill(db: StoreDb, { id, kind }: Pick<Actor, 'id' | 'kind'>, permission: Permission): Promise<boolean> {
  const own = id.slice(id.indexOf(':') + 1);
  const role = kind === 'account' ? await roleOfAccount(db, own) : kind === 'token' ? await roleOfToken(db, own) : null;
  return role !== null && can(role, permission);
}

type Rules = Pick<PlanDeps, 'approvals' | 'directory'>;

/** The rules that concern it, digested. */
export const policyOf = ({ approvals, directory }: Rules, { outbox, operation }: Pick<PlanRow, 'outbox' | 'operation'>): string =>
  policyDigest(rulesFor(approvals, outbox, operation), directory.settings(outbox));

/**
 * Why it is void, as the end of a sentence; null if it is not. Before the first event and before every batch. Throws Problem `read_only`,
 * `unavailable` and the like if its outbox takes no changes now: that may pass.
 */
export async function whyVoid(deps: PlanDeps, plan: PlanRow): Promise<string | null> {
  const { store, directory } = deps;
  if (!directory.ids.includes(plan.outbox)) return 'its outbox is not configured any more';
  if (!(await mayStill(store.db, makerOf(plan), 'event:operate'))) return `${plan.actorName}, who made it, may not change events any more`;
  const policy = voidByPolicy(deps, plan, await findApproval(store.db, plan.id));
  if (policy !== null) return policy;
  const outbox = await changeable(deps, plan.outbox);
  const texts = await textsOf(outbox, plan);
  return texts === JSON.stringify(factsOf(plan).sql) ? null : 'its table or mapping is not what it was';
}

/** The same without looking at the table. */
export function voidByPolicy(deps: Rules, plan: PlanRow, approval: ApprovalRow | null): string | null {
  const changed = 'the rules of approval are not what they were';
  if (approval?.state === 'void') return 'what was asked for, or the rules of approval, changed since';
  const same = factsOf(plan).policy === policyOf(deps, plan);
  if (approval !== null) return same && approval.hash === plan.hash ? null : changed;
  // Rules that are gone ask nobody.
  return same || rulesFor(deps.approvals, plan.outbox, plan.operation).length === 0 ? null : changed;
}

/** By binding, which never changes: nothing is compiled for every batch. */
const onceOf = perObject<Outbox['main'], Once>(createOnce);

const textsOf = (outbox: Outbox, { id, operation, facts }: PlanRow): Promise<string> =>
  onceOf(outbox.main)([id, outbox.refused], async () => JSON.stringify(await statementsFor(outbox, operation, factsOf({ facts }).samples)));
