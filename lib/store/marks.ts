/** Queries on `mark`: what charts show beside the figures. */
import { sql, type Transaction } from 'kysely';
import type { Mark } from '@/lib/shared/figures/marks';
import type { StoreDb } from './store';
import { iso, type MarkTable, type StoreTables } from './tables';

type Db = StoreDb | Transaction<StoreTables>;

/** More marks than this no chart can show. */
export const MARKS_MAX = 500;
/** Marks are kept this long: two of the longest windows, a year apart. */
export const MARK_DAYS = 400;

export interface NewMark {
  id: string;
  /** ISO 8601; now when null. */
  at: string | null;
  kind: Mark['kind'];
  text: string;
  outbox: string | null;
  url: string | null;
  actor: { id: string; name: string };
  /** The client's own name for the request; null when it has none. */
  idempotencyKey: string | null;
  /** Of everything the client asked for. */
  requestHash: string;
}

/** Adds the mark; null when the actor has used the key before. */
export async function insertMark(db: Db, mark: NewMark): Promise<Mark | null> {
  const row = await db
    .insertInto('mark')
    .values({
      id: mark.id,
      at: mark.at ?? sql<string>`now()`,
      kind: mark.kind,
      text: mark.text,
      outbox: mark.outbox,
      url: mark.url,
      actor_id: mark.actor.id,
      actor_name: mark.actor.name,
      idempotency_key: mark.idempotencyKey,
      request_hash: mark.requestHash,
      removed_at: null,
    })
    .onConflict((conflict) => conflict.columns(['actor_id', 'idempotency_key']).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : toMark(row);
}

/** What an actor's key has made, taken off since or not; by the unique key on both. */
export async function findMarkByKey(db: Db, actorId: string, key: string): Promise<{ mark: Mark; requestHash: string } | null> {
  const row = await db.selectFrom('mark').selectAll().where('actor_id', '=', actorId).where('idempotency_key', '=', key).executeTakeFirst();
  return row === undefined ? null : { mark: toMark(row), requestHash: row.request_hash };
}

/** Takes a mark off; null when it is not there. */
export async function removeMark(db: Db, id: string): Promise<Mark | null> {
  const row = await db
    .updateTable('mark')
    .set({ removed_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : toMark(row);
}

export interface MarkFilter {
  /** Marks of this outbox and those of all; every mark when left out. */
  outbox?: string;
  /** ISO 8601, inclusive. */
  from?: string;
  /** ISO 8601, exclusive. */
  to?: string;
}

/** Newest first, at most 500. Served by the index on (at, id); bounded by LIMIT; locks nothing. */
export async function listMarks(db: Db, { outbox, from, to }: MarkFilter): Promise<Mark[]> {
  let query = db.selectFrom('mark').selectAll().where('removed_at', 'is', null);
  if (outbox !== undefined) query = query.where((eb) => eb.or([eb('outbox', '=', outbox), eb('outbox', 'is', null)]));
  if (from !== undefined) query = query.where('at', '>=', from);
  if (to !== undefined) query = query.where('at', '<', to);
  const rows = await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(MARKS_MAX).execute();
  return rows.map(toMark);
}

/** Forgets marks older than MARK_DAYS; by the index on (at, id). */
export async function deleteOldMarks(db: Db): Promise<void> {
  await db
    .deleteFrom('mark')
    .where('at', '<', sql<string>`now() - make_interval(days => ${MARK_DAYS}::int)`)
    .execute();
}

function toMark(row: Pick<MarkTable, 'id' | 'at' | 'kind' | 'text' | 'outbox' | 'url' | 'actor_name'>): Mark {
  return { id: row.id, at: iso(row.at), kind: row.kind, text: row.text, outbox: row.outbox, url: row.url, actor: row.actor_name };
}
