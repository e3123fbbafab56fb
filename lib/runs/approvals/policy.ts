/** The policy at the doors: whether a second person is asked, and what an actor may still change without one. */
import { entryId } from '@/lib/audit/records-keeper';
import type { OutboxSettings } from '@/lib/outbox/outbox';
import type { ApprovalRule } from '@/lib/config/config';
import { can, ROLES, type Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { ApprovalLimit } from '@/lib/shared/runs/approvals';
import { countAccounts } from '@/lib/store/accounts';
import { insertSpending, lockSpending, spentOf } from '@/lib/store/spending';
import type { Store, StoreDb } from '@/lib/store/store';
import { limitsPassed, rulesFor, type Spend } from './limits';

export interface PolicyDeps {
  store: Store;
  /** Rules of the configuration. */
  approvals: readonly ApprovalRule[];
  directory: { settings(outbox: string): Pick<OutboxSettings, 'consumers'> };
}

export interface WantedChange {
  actor: Actor;
  outbox: string;
  operation: string;
  spend: Spend;
}

const APPROVERS = ROLES.filter((role) => can(role, 'plan:approve'));

/** Whether no account but this actor's could approve. */
export const hasNoApprover = async (db: StoreDb, actorId: string): Promise<boolean> =>
  (await countAccounts(db, APPROVERS, actorId.startsWith('account:') ? actorId.slice('account:'.length) : null)) === 0;

/** Outboxes with a rule for which no account at all may approve; [] while nobody knows. */
export async function blockedOutboxes(db: StoreDb, rules: readonly ApprovalRule[], ids: readonly string[]): Promise<string[]> {
  const ruled = ids.filter((id) => rules.some(({ outboxes }) => outboxes === null || outboxes.includes(id)));
  return ruled.length > 0 && (await hasNoApprover(db, '')) ? ruled : [];
}

const WHY: Record<ApprovalLimit, string> = {
  rows: 'more events than one person may change within an hour',
  amount: 'a larger amount than one person may change within an hour, or an amount that is not known',
  notIdempotent: 'events whose consumers may not take one twice',
  always: 'this operation always asks one',
};

/** `asked`: one is asked already. In a transaction with its `db`: many who wait for the lock may hold all other connections. */
export async function approvalRequired(db: StoreDb, { actor, outbox }: WantedChange, passed: readonly ApprovalLimit[], asked = false) {
  const plan = 'make a plan of it and ask for approval';
  const who = asked ? 'the answer is waited for' : actor.kind === 'account' ? plan : `a token cannot ask: sign in, ${plan}`;
  const none = '. No other account may approve: an administrator has to give somebody the role approver';
  const nobody = (await hasNoApprover(db, actor.id)) ? none : '';
  const why = passed.map((limit) => WHY[limit]).join('; ');
  const detail = `A second person has to agree to this on ${outbox} (${why}): ${who}${nobody}`;
  return new Problem('approval_required', `${detail}. This try changed nothing`);
}

/** Limits that would be passed now; nothing is read where no rule is about this operation there. `except`: what stands for the same already. */
export async function passedNow(deps: PolicyDeps, wanted: WantedChange, except: string, db: StoreDb = deps.store.db) {
  const { actor, outbox, operation, spend } = wanted;
  const rules = rulesFor(deps.approvals, outbox, operation);
  return rules.length === 0 ? [] : limitsPassed(rules, spend, await spentOf(db, outbox, actor.id, except));
}

/**
 * Reserves what may be changed without a second person under this id, in the caller's transaction: of many at once as many get through as the
 * limits admit. False where no rule is about it. Throws Problem `approval_required`.
 */
export async function reserve(deps: PolicyDeps, db: StoreDb, intended: WantedChange, id: string, except = id): Promise<boolean> {
  const { actor, outbox, operation, spend } = intended;
  if (rulesFor(deps.approvals, outbox, operation).length === 0) return false;
  await lockSpending(db, outbox, actor.id);
  const passed = await passedNow(deps, intended, except, db);
  if (passed.length > 0) throw await approvalRequired(db, intended, passed);
  await insertSpending(db, { id, outbox, actorId: actor.id, operation, count: spend.count, sums: spend.sums });
  return true;
}

/** Of a run its plan's id; of an intervention one that its actor's key always has: sent again, it is not counted twice. */
export const spendingId = (outbox: string, actor: Actor, key: string): string => entryId(JSON.stringify([outbox, actor.id, key]), 0);
