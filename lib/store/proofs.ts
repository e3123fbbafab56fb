/** Queries on `mapping_proof` and `changes_switch`. */
import type { Selectable } from 'kysely';
import { NOW, type StoreDb } from './store';
import { byActor, type Author, type StoreTables } from './tables';

export type StoredProof = Omit<Selectable<StoreTables['mapping_proof']>, 'actorId' | 'actorName'> & { actor: string };

export async function insertProof(db: StoreDb, proof: Omit<StoredProof, 'at' | 'actor'> & { actor: Author }): Promise<void> {
  const { actor, ...columns } = proof;
  const row = { ...columns, ...byActor(actor) };
  await db.insertInto('mapping_proof').values(row).execute();
}

/** The newest proof of an outbox, served by the index on outbox and time; null if there is none. */
export async function newestProof(db: StoreDb, outbox: string): Promise<StoredProof | null> {
  const columns = ['id', 'outbox', 'at', 'actorName as actor', 'fingerprint', 'outcome', 'facts', 'document'] as const;
  const query = db.selectFrom('mapping_proof').select(columns).where('outbox', '=', outbox);
  return (await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst()) ?? null;
}

/**
 * Who last turned changes of an outbox on or off, served by the primary key; null if never. `facts`: JSON of what was proven when it was
 * turned on; null if no proof was needed, or if it is off.
 */
export async function changesSwitch(db: StoreDb, outbox: string) {
  const row = await db
    .selectFrom('changes_switch as s')
    .leftJoin('mapping_proof as p', 'p.id', 's.proofId')
    .select(['s.turnedOn as on', 's.at', 's.actorName as actor', 's.reason', 'p.facts'])
    .where('s.outbox', '=', outbox)
    .executeTakeFirst();
  return row ?? null;
}

export type NewSwitch = Pick<StoreTables['changes_switch'], 'outbox' | 'proofId' | 'reason'> & { on: boolean; actor: Author };

export async function setChangesSwitch(db: StoreDb, { outbox, on, proofId, actor, reason }: NewSwitch): Promise<void> {
  const values = { turnedOn: on, proofId, reason, ...byActor(actor), at: NOW };
  await db
    .insertInto('changes_switch')
    .values({ outbox, ...values })
    .onConflict((conflict) => conflict.column('outbox').doUpdateSet(values))
    .execute();
}

/** Newest proofs kept per outbox, besides the one changes were turned on with. */
const PROOFS_KEPT = 20;

export async function deleteOldProofs(db: StoreDb, outbox: string): Promise<void> {
  const kept = db.selectFrom('mapping_proof').select('id').where('outbox', '=', outbox).orderBy('at', 'desc').orderBy('id', 'desc');
  const used = db.selectFrom('changes_switch').select('proofId').where('outbox', '=', outbox).where('proofId', 'is not', null);
  await db
    .deleteFrom('mapping_proof')
    .where('outbox', '=', outbox)
    .where('id', 'not in', kept.limit(PROOFS_KEPT))
    .where('id', 'not in', used.$castTo<{ proofId: string }>())
    .execute();
}
