/** Queries on `unsettled_intervention`: attempts whose commit is unknown, and those known never to have been committed. */
import { sql, type Selectable } from 'kysely';
import type { InterventionRequest } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { NOW, type StoreDb } from './store';
import type { StoreTables } from './tables';

export interface UnsettledIntervention extends Pick<StoreTables['unsettled_intervention'], 'id' | 'outbox' | 'key' | 'at'> {
  actor: Actor;
  request: InterventionRequest;
}

/** Records it; a repeat changes nothing. */
export async function insertUnsettled(db: StoreDb, entry: UnsettledIntervention): Promise<void> {
  await db
    .insertInto('unsettled_intervention')
    .values({ ...entry, actor: JSON.stringify(entry.actor), request: JSON.stringify(entry.request) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

const attempts = (db: StoreDb) => db.selectFrom('unsettled_intervention').selectAll();

/** Attempts of these outboxes with an unknown outcome: oldest first, at most `limit`. */
export async function selectUnsettled(db: StoreDb, outboxes: readonly string[], limit: number): Promise<UnsettledIntervention[]> {
  if (outboxes.length === 0) return [];
  const unknown = attempts(db).where('notAppliedAt', 'is', null).where('outbox', 'in', outboxes);
  const rows = await unknown.orderBy('at').limit(limit).execute();
  return rows.map((row) => toRemembered(row).entry);
}

/** null if it was never unsettled, or its record has the outcome. */
export async function findUnsettled(db: StoreDb, id: string) {
  const row = await attempts(db).where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toRemembered(row);
}

/** The latest attempt of a key, those with an unknown outcome first. Served by the index on (outbox, key). */
export async function findUnsettledOfKey(db: StoreDb, { outbox, actorId, key }: Record<'outbox' | 'actorId' | 'key', string>) {
  const row = await attempts(db)
    .where('outbox', '=', outbox)
    .where('key', '=', key)
    .where(sql<string>`actor ->> 'id'`, '=', actorId)
    .orderBy(sql`not_applied_at is null`, 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : toRemembered(row);
}

function toRemembered({ notAppliedAt, actor, request, ...row }: Selectable<StoreTables['unsettled_intervention']>) {
  const entry = { ...row, actor: JSON.parse(actor) as Actor, request: JSON.parse(request) as InterventionRequest };
  return { entry, notApplied: notAppliedAt !== null };
}

export async function deleteUnsettled(db: StoreDb, id: string): Promise<void> {
  await db.deleteFrom('unsettled_intervention').where('id', '=', id).execute();
}

/** Marks it as never committed; kept for clients that ask. */
export async function markNotApplied(db: StoreDb, id: string): Promise<void> {
  await db.updateTable('unsettled_intervention').set({ notAppliedAt: NOW }).where('id', '=', id).execute();
}
