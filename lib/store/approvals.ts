/** Queries on `approval`: what a second person says of a plan. Times are compared by the store's clock. */
import { sql, type InferResult } from 'kysely';
import type { StoreDb } from './store';
import type { Author, StoreTables } from './tables';

/** `late`: nobody answered, or nobody started it, in time. */
export type ApprovalRow = InferResult<ReturnType<typeof approvals>>[number];

const late = sql<boolean>`until <= clock_timestamp()`.as('late');
const approvals = (db: StoreDb) => db.selectFrom('approval').selectAll().select(late);

type NewApproval = Pick<StoreTables['approval'], 'planId' | 'hash' | 'because'> & { hours: number };

export async function insertApproval(db: StoreDb, { hours, ...approval }: NewApproval): Promise<void> {
  const until = sql<string>`clock_timestamp() + make_interval(hours => ${hours}::int)`;
  const row = { ...approval, state: 'requested' as const, until };
  await db.insertInto('approval').values(row).execute();
}

/** By primary key; null if nobody is asked. With `lock`, nothing changes it until the transaction ends. */
export async function findApproval(db: StoreDb, planId: string, lock = false): Promise<ApprovalRow | null> {
  const query = approvals(db).where('planId', '=', planId);
  return (await (lock ? query.forUpdate() : query).executeTakeFirst()) ?? null;
}

export async function approvalsOf(db: StoreDb, planIds: readonly string[]): Promise<Map<string, ApprovalRow>> {
  if (planIds.length === 0) return new Map();
  const rows = await approvals(db).where('planId', 'in', planIds).execute();
  return new Map(rows.map((row) => [row.planId, row]));
}

/** `hash`: of what the approver saw. */
export interface Answer extends Record<'planId' | 'hash' | 'reason', string> {
  state: 'approved' | 'refused';
  actor: Author;
  /** From an approval on, as long may the run be started. */
  minutes: number;
}

/**
 * Answers a request that is open, in time, of this hash, of somebody else's plan that is not started. One of several answers at once
 * gets true; false: look why not.
 */
export async function answerApproval(db: StoreDb, { planId, hash, state, actor, reason, minutes }: Answer): Promise<boolean> {
  const { numAffectedRows } = await sql`update approval
    set state = ${state}, answered_at = clock_timestamp(), actor_id = ${actor.id}, actor_name = ${actor.name}, reason = ${reason},
      until = least(clock_timestamp() + make_interval(mins => ${minutes}::int), plan.expires_at)
    from plan
    where plan.id = ${planId} and approval.plan_id = plan.id
      and approval.state = 'requested' and approval.until > clock_timestamp() and plan.expires_at > clock_timestamp()
      and approval.hash = ${hash} and plan.hash = ${hash}
      and plan.actor_id <> ${actor.id} and not exists (select from run where run.plan_id = plan.id)`.execute(db);
  return numAffectedRows === 1n;
}

/** What was agreed to is not what would run: nothing is started under it any more. */
export async function voidApproval(db: StoreDb, planId: string): Promise<void> {
  const changed = db.updateTable('approval').set({ state: 'void' }).where('planId', '=', planId);
  await changed.where('state', 'in', ['requested', 'approved']).execute();
}

/** Plans with an open request, oldest first, at most `limit`; along the index of open ones. */
export async function openRequests(db: StoreDb, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('approval')
    .innerJoin('plan', 'plan.id', 'approval.planId')
    .select('approval.planId')
    .where('approval.state', '=', 'requested')
    .where(sql<boolean>`approval.until > clock_timestamp() and plan.expires_at > clock_timestamp()`)
    .orderBy('approval.until')
    .limit(limit)
    .execute();
  return rows.map(({ planId }) => planId);
}
