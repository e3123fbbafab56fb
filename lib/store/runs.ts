/** Queries on `run` and `run_batch`. What a process writes while it carries a run out, it writes under its lease (`underLease`). */
import { sql } from 'kysely';
import type { Actor } from '@/lib/shared/permissions';
import type { PlanSource } from '@/lib/shared/runs/plans';
import type { Pace, PauseReason, RunState } from '@/lib/shared/runs/runs';
import type { Lease } from './collector-leases';
import type { StoreDb, StoreTransaction } from './store';

/** A run, with what its plan says, which never changes; `progress` is JSON. */
export type StoredRun = Awaited<ReturnType<typeof selectRuns>>[number];

const OWN = ['run.id', 'run.outbox', 'run.createdAt', 'run.key', 'run.requestHash'] as const;
const RUN = ['planId', 'updatedAt', 'state', 'because', 'pace', 'progress', 'beganAt', 'endedAt', 'followedUntil'] as const;
const PLAN = ['operation', 'reason', 'source', 'actor', 'count'] as const;
/** A batch was declared that has no answer. */
const isDeclared = sql<boolean>`exists (select from run_batch where run_id = run.id and answered_at is null)`;
/** Runs of the outbox that go first. */
const before = sql<number>`(select count(*)::int from run as o where o.outbox = run.outbox and o.ended_at is null and (o.created_at, o.id)
  < (run.created_at, run.id) and (o.state in ('queued', 'running') or o.because = 'unavailable'))`.as('before');

async function selectRuns(db: StoreDb, which: (query: ReturnType<typeof joined>) => ReturnType<typeof joined>) {
  const rows = await which(joined(db))
    .select([...OWN, ...RUN, ...PLAN, before, isDeclared.as('declared')])
    .execute();
  return rows.map(({ pace, source, actor, because, ...row }) => ({
    ...row,
    because: because as PauseReason | null,
    pace: JSON.parse(pace) as Pace,
    source: JSON.parse(source) as PlanSource,
    maker: JSON.parse(actor) as Actor,
  }));
}

const joined = (db: StoreDb) => db.selectFrom('run').innerJoin('plan', 'plan.id', 'run.planId');

/** Served by the primary key. */
export const findRun = async (db: StoreDb, id: string): Promise<StoredRun | null> =>
  (await selectRuns(db, (query) => query.where('run.id', '=', id)))[0] ?? null;

/** Served by the unique key on `plan_id`. */
export const findRunOfPlan = async (db: StoreDb, planId: string): Promise<StoredRun | null> =>
  (await selectRuns(db, (query) => query.where('planId', '=', planId)))[0] ?? null;

/** The newest runs of these outboxes, at most `limit`. Served by the index on (outbox, created_at). */
export const listRuns = (db: StoreDb, outboxes: readonly string[], limit: number): Promise<StoredRun[]> =>
  selectRuns(db, (query) =>
    query
      .where('run.outbox', 'in', ['', ...outboxes])
      .orderBy('run.createdAt', 'desc')
      .orderBy('run.id', 'desc')
      .limit(limit),
  );

/** Neither over nor forgotten: not ended, or their fates are looked at. */
const isOpen = sql<boolean>`(ended_at is null or followed_until is not null)`;
/** A paused one that nobody looks at any more has nothing to do, unless it goes on by itself or a batch of it was declared. */
const hasWork = sql<boolean>`(state in ('queued', 'running') or (state = 'paused' and because = 'unavailable') or (state = 'cancelled' and ended_at is null) or followed_until is not null
  or ${isDeclared})`;

/** Runs of an outbox with something to do, in the order in which they go. Served by the partial index on (outbox, created_at). */
export const openRuns = (db: StoreDb, outbox: string): Promise<StoredRun[]> =>
  selectRuns(db, (query) => query.where('run.outbox', '=', outbox).where(isOpen).where(hasWork).orderBy('run.createdAt').orderBy('run.id'));

/** Outboxes that have such runs. Served by the same index. */
export async function outboxesToRun(db: StoreDb): Promise<string[]> {
  const rows = await db.selectFrom('run').select('outbox').distinct().where(isOpen).where(hasWork).execute();
  return rows.map(({ outbox }) => outbox);
}

export type NewRun = Pick<StoredRun, 'id' | 'planId' | 'outbox' | 'progress' | 'key' | 'requestHash' | 'pace'>;

/** False if the plan has a run already. */
export async function insertRun(db: StoreTransaction, { pace, ...run }: NewRun): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('run')
    .values({ ...run, pace: JSON.stringify(pace), state: 'queued' })
    .onConflict((conflict) => conflict.column('planId').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

type Change = Partial<{ state: RunState; because: PauseReason | null; pace: Pace; progress: string }> & {
  /** Now. */
  began?: boolean;
  ended?: boolean;
  /** Seconds from now; null for not any more. */
  followedFor?: number | null;
  /** Of the lease under which it is written. */
  epoch?: string;
};

const now = sql<string>`clock_timestamp()`;

/** Changes a run that is in one of these states; false if it is not. Served by the primary key. */
export async function changeRun(db: StoreDb, id: string, from: readonly RunState[], change: Change): Promise<boolean> {
  const { pace, began, ended, followedFor, ...rest } = change;
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({
      ...rest,
      updatedAt: now,
      ...(pace !== undefined && { pace: JSON.stringify(pace) }),
      ...(began === true && { beganAt: sql<string>`coalesce(began_at, ${now})` }),
      ...(ended === true && { endedAt: now }),
      ...(followedFor !== undefined && {
        followedUntil: followedFor === null ? null : sql<string>`${now} + make_interval(secs => ${followedFor})`,
      }),
    })
    .where('id', '=', id)
    .where('state', 'in', from)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The run's state as it is now, which stays so until the end of the transaction. */
export async function stateOfRun(db: StoreTransaction, id: string): Promise<Pick<StoredRun, 'state' | 'because'> | null> {
  const row = await db.selectFrom('run').select(['state', 'because']).where('id', '=', id).forUpdate().executeTakeFirst();
  return row === undefined ? null : { state: row.state, because: row.because as PauseReason | null };
}

/** `outcomes`, null until it is answered, and `fates`: one number per position, in their order. */
export type StoredBatch = Awaited<ReturnType<typeof batchesOfRun>>[number];

const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text.slice(2), 'hex'));

/** In their order. Served by the primary key. */
export async function batchesOfRun(db: StoreDb, runId: string) {
  const batches = db.selectFrom('run_batch').select(['n', 'positions', 'interventionId', 'outcomes', 'fates']);
  const rows = await batches.where('runId', '=', runId).orderBy('n').execute();
  return rows.map(({ positions, outcomes, fates, ...row }) => ({
    ...row,
    positions: positions.length === 2 ? [] : positions.slice(1, -1).split(',').map(Number),
    outcomes: bytes(outcomes),
    fates: bytes(fates),
  }));
}

/** Before it is sent; fails if the run has a batch of this number. */
export async function declareBatch(db: StoreTransaction, { epoch }: Lease, runId: string, batch: Pick<StoredBatch, 'n' | 'positions'>) {
  const unanswered = { interventionId: null, tookMs: null, outcomes: null, fates: null };
  const row = { ...unanswered, runId, n: batch.n, positions: `{${batch.positions.join()}}`, epoch };
  await db.insertInto('run_batch').values(row).execute();
}

export type BatchAnswer = Pick<StoredBatch, 'n' | 'interventionId' | 'outcomes'> & { tookMs: number | null };

const changedBatch = (db: StoreTransaction, runId: string, n: number) =>
  db.updateTable('run_batch').where('runId', '=', runId).where('n', '=', n);

export const answerBatch = (db: StoreTransaction, runId: string, { n, ...answer }: BatchAnswer) =>
  changedBatch(db, runId, n)
    .set({ ...answer, answeredAt: now })
    .execute();

/** Before it is sent once more: since then its time runs. */
export const declareBatchAgain = (db: StoreTransaction, { epoch }: Lease, runId: string, n: number) =>
  changedBatch(db, runId, n).set({ declaredAt: now, epoch }).execute();

/** Whether it was declared so many milliseconds ago. */
export async function isBatchOld(db: StoreDb, runId: string, n: number, ms: number): Promise<boolean> {
  const before = sql<string>`clock_timestamp() - make_interval(secs => ${ms / 1_000})`;
  const row = db.selectFrom('run_batch').select('n').where('runId', '=', runId).where('n', '=', n).where('declaredAt', '<', before);
  return (await row.executeTakeFirst()) !== undefined;
}

/** It was not committed, and never will be: its number stays taken. */
export const takeBatchBack = (db: StoreTransaction, runId: string, n: number) =>
  changedBatch(db, runId, n).set({ positions: '{}', outcomes: Buffer.of(), answeredAt: now }).execute();

/** The fates of whole batches, in one statement by primary key. */
export async function writeFates(db: StoreTransaction, runId: string, batches: readonly { n: number; fates: Buffer }[]): Promise<void> {
  if (batches.length === 0) return;
  await sql`update run_batch set fates = found.fates
    from unnest(${batches.map(({ n }) => n)}::int[], ${batches.map(({ fates }) => fates)}::bytea[]) as found (n, fates)
    where run_id = ${runId} and run_batch.n = found.n`.execute(db);
}

/** Runs that changed something of an outbox, or are about to, for its charts: newest first, at most 100. Served by (outbox, created_at). */
export const runsBetween = (db: StoreDb, { outbox, from, to }: Record<'outbox' | 'from' | 'to', string>): Promise<StoredRun[]> =>
  selectRuns(db, (query) =>
    query
      .where('run.outbox', '=', outbox)
      .where('run.createdAt', '>=', from)
      .where('run.createdAt', '<', to)
      .orderBy('run.createdAt', 'desc')
      .limit(100),
  );
