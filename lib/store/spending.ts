/** Queries on `spending`: what actors changed without a second person. */
import { sql } from 'kysely';
import { getOrMake } from '@/lib/shared/group-by';
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

/**
 * Of the last hour by operation, without `except`. A run counts with all it may change until it is over, and an hour longer with what it did.
 * Served by the indexes on (outbox, actor, time) and, for the runs of an outbox, on (outbox, created).
 */
export async function spentOf(db: StoreDb, outbox: string, actorId: string, except: string): Promise<Spent[]> {
  const { rows } = await sql<{ operation: string; currency: string | null; total: string }>`with spent as (
      select operation, count, sums from spending as its
      where outbox = ${outbox} and actor_id = ${actorId} and at > clock_timestamp() - interval '1 hour' and id <> ${except}
        and not exists (select from run where run.plan_id = its.id)
      union all
      select its.operation, case when run.ended_at is null then its.count else least(its.count, run.changed) end,
        case when run.ended_at is not null and run.changed = 0 then '{}'::jsonb else its.sums end
      from (select plan_id, ended_at, (progress #>> '{counts,changed}')::integer as changed from run
        where outbox = ${outbox} and (ended_at is null or ended_at > clock_timestamp() - interval '1 hour')) as run
      join spending as its on its.id = run.plan_id where its.actor_id = ${actorId} and its.id <> ${except})
    select operation, null as currency, sum(count)::text as total from spent group by operation
    union all
    select operation, currency, sum(amount::numeric)::text from spent, jsonb_each_text(sums) as money (currency, amount)
    group by operation, currency`.execute(db);
  const found = new Map<string, Spent>();
  for (const { operation, currency, total } of rows) {
    const spent = getOrMake(found, operation, () => ({ operation, count: 0, sums: {} }));
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

/** Nothing was changed after all. */
export async function deleteSpending(db: StoreDb, id: string): Promise<void> {
  await db.deleteFrom('spending').where('id', '=', id).execute();
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
