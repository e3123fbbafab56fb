/** Queries on `spending`: what actors changed without a second person. */
import { sql } from 'kysely';
import type { StoreDb } from './store';
import type { StoreTables } from './tables';

/** Count and sums (currency, '' without one → decimal text) of what was changed by an operation. */
export interface Spent {
  operation: string;
  count: number;
  sums: Record<string, string>;
}

export interface Spending extends Spent, Pick<StoreTables['spending'], 'id' | 'outbox' | 'actorId'> {}

/** Until the transaction ends, nobody else counts or adds what this actor spends there. */
export async function lockSpending(db: StoreDb, outbox: string, actorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`spending ${outbox} ${actorId}`}, 0))`.execute(db);
}

/** Of the last hour, and of runs that are not over, by operation; without `except`. Served by the index on (outbox, actor, time). */
export async function spentOf(db: StoreDb, outbox: string, actorId: string, except: string): Promise<Spent[]> {
  const { rows } = await sql<{ operation: string; currency: string | null; total: string }>`with spent as (
      select operation, count, sums from spending
      where outbox = ${outbox} and actor_id = ${actorId} and at > clock_timestamp() - interval '1 hour' and id <> ${except}
      union all
      select its.operation, its.count, its.sums from run join spending as its on its.id = run.plan_id
      where run.outbox = ${outbox} and run.ended_at is null and its.actor_id = ${actorId}
        and its.at <= clock_timestamp() - interval '1 hour' and its.id <> ${except})
    select operation, null as currency, sum(count)::text as total from spent group by operation
    union all
    select operation, currency, sum(amount::numeric)::text from spent, jsonb_each_text(sums) as money (currency, amount)
    group by operation, currency`.execute(db);
  const found = new Map<string, Spent>();
  for (const { operation, currency, total } of rows) {
    const spent = found.get(operation) ?? { operation, count: 0, sums: {} };
    found.set(operation, spent);
    if (currency === null) spent.count = Number(total);
    else spent.sums[currency] = total;
  }
  return [...found.values()];
}

/** Adds what may be changed; of one id once. */
export async function insertSpending(db: StoreDb, { sums, ...spending }: Spending): Promise<void> {
  await db
    .insertInto('spending')
    .values({ ...spending, sums: JSON.stringify(sums) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Puts what was changed, now, in the place of what might have been; nothing is left of what changed nothing. */
export async function settleSpending(db: StoreDb, id: string, { count, sums }: Pick<Spent, 'count' | 'sums'>): Promise<void> {
  if (count === 0) await db.deleteFrom('spending').where('id', '=', id).execute();
  else
    await db
      .updateTable('spending')
      .set({ count, sums: JSON.stringify(sums), at: sql<string>`clock_timestamp()` })
      .where('id', '=', id)
      .execute();
}

/** Takes a reservation away, and puts what was changed in its place, under an id that repeats of the same change share. */
export async function replaceSpending(db: StoreDb, reserved: string, { sums, ...spending }: Spending): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('spending').where('id', '=', reserved).execute();
    if (spending.count === 0) {
      await transaction.deleteFrom('spending').where('id', '=', spending.id).execute();
      return;
    }
    const changed = { count: spending.count, sums: JSON.stringify(sums) };
    await transaction
      .insertInto('spending')
      .values({ ...spending, ...changed })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
      .execute();
  });
}
