/** Queries on `mapping_proof` and `changes_switch`. */
import { sql, type Transaction } from 'kysely';
import type { ProofOutcome } from '@/lib/shared/changes/proofs';
import type { StoreDb } from './store';
import { iso, type StoreTables } from './tables';

type Db = StoreDb | Transaction<StoreTables>;

export interface StoredProof {
  id: string;
  outbox: string;
  /** ISO 8601. */
  at: string;
  actor: string;
  fingerprint: string;
  outcome: ProofOutcome;
  /** JSON. */
  facts: string;
  /** JSON. */
  document: string;
}

export interface NewProof extends Omit<StoredProof, 'at' | 'actor'> {
  actor: { id: string; name: string };
}

export async function insertProof(db: Db, proof: NewProof): Promise<void> {
  const { actor, ...columns } = proof;
  await db
    .insertInto('mapping_proof')
    .values({ ...columns, actor_id: actor.id, actor_name: actor.name })
    .execute();
}

/** The newest proof of an outbox; by the index on outbox and time. null when there is none. */
export async function newestProof(db: Db, outbox: string): Promise<StoredProof | null> {
  const query = db.selectFrom('mapping_proof').selectAll().where('outbox', '=', outbox);
  const row = await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
  if (row === undefined) return null;
  const { actor_name: actor, at, id, fingerprint, outcome, facts, document } = row;
  return { id, outbox, at: iso(at), actor, fingerprint, outcome, facts, document };
}

export interface ChangesSwitch {
  on: boolean;
  /** ISO 8601. */
  at: string;
  actor: string;
  reason: string;
  /** JSON of the facts that were proven when it was turned on; null when none had to be, or when it is off. */
  facts: string | null;
}

/** Who turned changes of an outbox on or off last; by the primary key. null when nobody has. */
export async function changesSwitch(db: Db, outbox: string): Promise<ChangesSwitch | null> {
  const row = await db
    .selectFrom('changes_switch as s')
    .leftJoin('mapping_proof as p', 'p.id', 's.proof_id')
    .select(['s.turned_on', 's.at', 's.actor_name', 's.reason', 'p.facts'])
    .where('s.outbox', '=', outbox)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { on: row.turned_on, at: iso(row.at), actor: row.actor_name, reason: row.reason, facts: row.facts };
}

export interface NewSwitch {
  outbox: string;
  on: boolean;
  proofId: string | null;
  actor: { id: string; name: string };
  reason: string;
}

/** Turns changes of an outbox on or off. */
export async function setChangesSwitch(db: Db, { outbox, on, proofId, actor, reason }: NewSwitch): Promise<void> {
  const values = {
    turned_on: on,
    proof_id: proofId,
    at: sql<string>`now()`,
    actor_id: actor.id,
    actor_name: actor.name,
    reason,
  };
  await db
    .insertInto('changes_switch')
    .values({ outbox, ...values })
    .onConflict((conflict) => conflict.column('outbox').doUpdateSet(values))
    .execute();
}

/** Proofs beyond the newest so many of an outbox are forgotten, except the one changes were turned on with. */
const PROOFS_KEPT = 20;

/** Forgets old proofs of one outbox. */
export async function deleteOldProofs(db: Db, outbox: string): Promise<void> {
  const kept = db.selectFrom('mapping_proof').select('id').where('outbox', '=', outbox).orderBy('at', 'desc').orderBy('id', 'desc');
  const used = db.selectFrom('changes_switch').select('proof_id').where('outbox', '=', outbox).where('proof_id', 'is not', null);
  await db
    .deleteFrom('mapping_proof')
    .where('outbox', '=', outbox)
    .where('id', 'not in', kept.limit(PROOFS_KEPT))
    .where('id', 'not in', used.$castTo<{ proof_id: string }>())
    .execute();
}
