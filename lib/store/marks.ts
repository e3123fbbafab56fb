/** Queries on `mark`, the notes on the charts' time axis. */
import { sql } from 'kysely';
import type { ActionMark, Mark } from '@/lib/shared/figures/marks';
import { NOW, type StoreDb } from './store';
import { byActor, type Author, type StoreTables } from './tables';

/** Most marks a chart shows. */
export const MARKS_MAX = 500;
/** Days to keep marks: enough to compare two of the longest windows a year apart. */
export const MARK_DAYS = 400;

/** `idempotencyKey` is the client's name for the request, if it has one. */
export interface NewMark extends Omit<Mark, 'at' | 'actor'>, Pick<StoreTables['mark'], 'idempotencyKey' | 'requestHash'> {
  /** ISO 8601; null for the current time. */
  at: string | null;
  actor: Author;
}

const MARK = ['id', 'at', 'kind', 'text', 'outbox', 'url', 'actorName as actor'] as const;

/** Adds the mark; null if the actor has used the key before. */
export async function insertMark(db: StoreDb, { actor, at, ...mark }: NewMark): Promise<Mark | null> {
  const added = await db
    .insertInto('mark')
    .values({ ...mark, ...byActor(actor), at: at ?? NOW, removedAt: null })
    .onConflict((conflict) => conflict.columns(['actorId', 'idempotencyKey']).doNothing())
    .returning(MARK)
    .executeTakeFirst();
  return added ?? null;
}

/** The mark made with an actor's key, even if removed since; served by the unique key on both. */
export async function findMarkByKey(db: StoreDb, actorId: string, key: string): Promise<{ mark: Mark; requestHash: string } | null> {
  const marks = db.selectFrom('mark').select([...MARK, 'requestHash']);
  const row = await marks.where('actorId', '=', actorId).where('idempotencyKey', '=', key).executeTakeFirst();
  if (row === undefined) return null;
  const { requestHash, ...mark } = row;
  return { mark, requestHash };
}

export async function removeMark(db: StoreDb, id: string): Promise<Mark | null> {
  const mark = db.updateTable('mark').set({ removedAt: NOW }).where('id', '=', id).where('removedAt', 'is', null);
  return (await mark.returning(MARK).executeTakeFirst()) ?? null;
}

export interface MarkFilter {
  /** Marks of this outbox and those of all outboxes; every mark if left out. */
  outbox?: string;
  /** ISO 8601, inclusive. */
  from?: string;
  /** ISO 8601, exclusive. */
  to?: string;
}

/** Newest first, at most 500. Served by the index on (at, id); bounded by LIMIT; locks nothing. */
export async function listMarks(db: StoreDb, { outbox, from, to }: MarkFilter): Promise<Mark[]> {
  let query = db.selectFrom('mark').select(MARK).where('removedAt', 'is', null);
  if (outbox !== undefined) query = query.where((eb) => eb.or([eb('outbox', '=', outbox), eb('outbox', 'is', null)]));
  if (from !== undefined) query = query.where('at', '>=', from);
  if (to !== undefined) query = query.where('at', '<', to);
  return query.orderBy('at', 'desc').orderBy('id', 'desc').limit(MARKS_MAX).execute();
}

/** The time of the last mark of a kind, of this outbox or of all; null if there is none. By the index on (at, id), past others. */
export async function lastMarkAt(db: StoreDb, kind: Mark['kind'], outbox: string): Promise<string | null> {
  const past = db.selectFrom('mark').select('at').where('kind', '=', kind).where('removedAt', 'is', null).where('at', '<=', NOW);
  const here = past.where((eb) => eb.or([eb('outbox', '=', outbox), eb('outbox', 'is', null)]));
  return (await here.orderBy('at', 'desc').limit(1).executeTakeFirst())?.at ?? null;
}

/** Records looked at for actions on a chart. */
const RECORDS_MAX = 100;

/**
 * What operators did to an outbox in a time, runs aside, from its newest records that were carried since and changed anything. Served by the index on
 * (outbox, carried_at), then for each record by that on its lines, at most 200; locks nothing.
 */
export async function listActions(db: StoreDb, { outbox, from, to }: Required<MarkFilter>): Promise<ActionMark[]> {
  const { rows } = await sql<Omit<ActionMark, 'kind' | 'url'>>`
    select min(line.intervention_id::text) as id, min(line.at) as at, min(line.reason) as text, ${outbox}::text as outbox,
      min(line.actor_name) as actor, min(line.operation) as operation, count(*)::int as changed
    from (select id from carried_record where outbox = ${outbox} and carried_at >= ${from} and carried_at < ${to}::timestamptz + interval '1 day'
      and not exists (select from run_batch where intervention_id = carried_record.id)
      order by carried_at desc limit ${sql.lit(RECORDS_MAX)}) as record
    join audit_entry as line on line.intervention_id = record.id and line.outcome = 'applied'
    where not exists (select from run where run.id = line.action)
    group by coalesce(line.action, line.intervention_id)
    having min(line.at) >= ${from} and min(line.at) < ${to} order by min(line.at) desc`.execute(db);
  return rows.map((row) => ({ ...row, kind: 'action', url: null }));
}
