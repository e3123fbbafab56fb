/** Queries on `plan` and `plan_chunk`. Neither ever changes. */
import { sql, type InferResult } from 'kysely';
import type { Position } from './pages';
import type { StoreDb } from './store';
import type { StoreTables } from './tables';

/**
 * A plan as stored, with the run that carries it out; `source`, `actor`, `facts` and `runProgress` are JSON. `expired`: by the store's
 * clock, now.
 */
export type PlanRow = InferResult<ReturnType<typeof plans>>[number];

export type NewPlan = Omit<StoreTables['plan'], 'createdAt' | 'expiresAt'>;

/** Adds the plan with its chunks; false if the actor has used the key before. To be called in a transaction. */
export async function insertPlan(db: StoreDb, plan: NewPlan, chunks: readonly Buffer[], hours: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('plan')
    .values({ ...plan, expiresAt: sql<string>`now() + make_interval(hours => ${hours}::int)` })
    .onConflict((conflict) => conflict.columns(['actorId', 'key']).doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return false;
  // One by one: a chunk has up to 100 kB.
  for (const [n, data] of chunks.entries()) await db.insertInto('plan_chunk').values({ planId: plan.id, n, data }).execute();
  return true;
}

const plans = (db: StoreDb) =>
  db
    .selectFrom('plan')
    .leftJoin('run', 'run.planId', 'plan.id')
    .selectAll('plan')
    .select(['run.id as runId', 'run.state as runState', 'run.because as runBecause', 'run.progress as runProgress'])
    .select(sql<boolean>`plan.expires_at <= clock_timestamp()`.as('expired'));

/** By primary key; null if there is none. */
export const findPlan = async (db: StoreDb, id: string): Promise<PlanRow | null> =>
  (await plans(db).where('plan.id', '=', id).executeTakeFirst()) ?? null;

/** The plan made with an actor's key; served by the unique key on both. */
export const findPlanByKey = async (db: StoreDb, actorId: string, key: string): Promise<PlanRow | null> =>
  (await plans(db).where('plan.actorId', '=', actorId).where('plan.key', '=', key).executeTakeFirst()) ?? null;

export const PLAN_FILTER_STATES = ['open', 'started', 'expired'] as const;
export interface PlanFilter {
  outbox?: string;
  /** `open`: neither started nor too old; some of them may be void. */
  state?: (typeof PLAN_FILTER_STATES)[number];
  ids?: readonly string[];
}

const STATE = {
  open: sql<boolean>`(run.id is null and plan.expires_at > clock_timestamp())`,
  started: sql<boolean>`run.id is not null`,
  expired: sql<boolean>`(run.id is null and plan.expires_at <= clock_timestamp())`,
};

/** Newest first, at most `limit`, after `position`; along the index on (created_at, id). */
export function selectPlans(db: StoreDb, filter: PlanFilter, position: Position | null, limit: number): Promise<PlanRow[]> {
  const { outbox, state, ids } = filter;
  let query = plans(db);
  if (outbox !== undefined) query = query.where('plan.outbox', '=', outbox);
  if (ids !== undefined) query = query.where('plan.id', 'in', ids);
  if (state !== undefined) query = query.where(STATE[state]);
  if (position !== null)
    query = query.where(sql<boolean>`(plan.created_at, plan.id) < (${position.at}::timestamptz, ${position.id}::uuid)`);
  return query.orderBy('plan.createdAt', 'desc').orderBy('plan.id', 'desc').limit(limit).execute();
}

/** Up to 1,000 events, packed; null if the plan has no such chunk. */
export async function readChunk(db: StoreDb, planId: string, n: number): Promise<Buffer | null> {
  const row = await db.selectFrom('plan_chunk').select('data').where('planId', '=', planId).where('n', '=', n).executeTakeFirst();
  return row === undefined ? null : Buffer.from(row.data.slice(2), 'hex');
}

/** By primary key; null if there is no such run. */
export async function outboxOfRun(db: StoreDb, runId: string): Promise<string | null> {
  const row = await db.selectFrom('run').select('outbox').where('id', '=', runId).executeTakeFirst();
  return row?.outbox ?? null;
}
