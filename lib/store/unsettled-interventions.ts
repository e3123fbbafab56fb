/** Queries on `unsettled_intervention`: interventions whose commit nobody has heard of yet. */
import type { InterventionRequest } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import type { StoreDb } from './store';
import { iso, type UnsettledInterventionTable } from './tables';

export interface UnsettledIntervention {
  id: string;
  outbox: string;
  actor: Actor;
  /** The client's idempotency key. */
  key: string;
  request: InterventionRequest;
  at: string;
}

/** Notes it down; a repeat changes nothing. */
export async function insertUnsettled(db: StoreDb, entry: UnsettledIntervention): Promise<void> {
  await db
    .insertInto('unsettled_intervention')
    .values({ ...entry, actor: JSON.stringify(entry.actor), request: JSON.stringify(entry.request) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Oldest first, at most `limit`. */
export async function selectUnsettled(db: StoreDb, limit: number): Promise<UnsettledIntervention[]> {
  const rows = await db.selectFrom('unsettled_intervention').selectAll().orderBy('at').limit(limit).execute();
  return rows.map(toEntry);
}

/** null when it was never unsettled, or is settled by now. */
export async function findUnsettled(db: StoreDb, id: string): Promise<UnsettledIntervention | null> {
  const row = await db.selectFrom('unsettled_intervention').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toEntry(row);
}

function toEntry(row: UnsettledInterventionTable): UnsettledIntervention {
  return {
    id: row.id,
    outbox: row.outbox,
    actor: JSON.parse(row.actor) as Actor,
    key: row.key,
    request: JSON.parse(row.request) as InterventionRequest,
    at: iso(row.at),
  };
}

export async function deleteUnsettled(db: StoreDb, id: string): Promise<void> {
  await db.deleteFrom('unsettled_intervention').where('id', '=', id).execute();
}
