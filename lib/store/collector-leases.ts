/**
 * Queries on `collector_lease` and `collector_state`: who collects an outbox, and its progress. A lease expires by the store's clock, so
 * that replicas need not agree on theirs; each new owner gets a higher epoch, and writes of an older one are refused.
 */
import { sql } from 'kysely';
import { actedOf, type Acted } from './acted';
import type { Store, StoreDb, StoreTransaction } from './store';

export interface Lease extends Record<'outbox' | 'owner' | 'epoch', string> {
  /** As of when it was taken; null where no operator ever changed the outbox. */
  acted: Acted | null;
}

/** Another process has taken over the outbox: discard the current work on it. */
export class LeaseLost extends Error {
  constructor(readonly lease: Lease) {
    super(`The lease of ${lease.outbox} has passed to another process`);
    this.name = 'LeaseLost';
  }
}

/** Takes a lease that is free, expired, or already ours (it then keeps its epoch); null if another owner holds it. */
export async function takeLease(db: StoreDb, outbox: string, owner: string, seconds: number): Promise<Lease | null> {
  const until = sql<string>`clock_timestamp() + make_interval(secs => ${seconds})`;
  const isOurs = sql<boolean>`collector_lease.owner = excluded.owner`;
  const epoch = sql<string>`case when ${isOurs} then collector_lease.epoch else collector_lease.epoch + 1 end`;
  const isFree = sql<boolean>`(${isOurs} or collector_lease.expires_at < clock_timestamp())`;
  const row = await db
    .insertInto('collector_lease')
    .values({ outbox, owner, epoch: '1', expiresAt: until })
    .onConflict((conflict) => conflict.column('outbox').doUpdateSet({ owner, expiresAt: until, epoch }).where(isFree))
    .returning((eb) => {
      const acted = eb.selectFrom('acted').whereRef('acted.outbox', '=', 'collector_lease.outbox');
      return ['epoch', acted.select('firstAt').as('firstAt'), acted.select('lastAt').as('lastAt')];
    })
    .executeTakeFirst();
  return row === undefined ? null : { outbox, owner, epoch: row.epoch, acted: actedOf(row) };
}

const isHeld = ({ outbox, owner, epoch }: Lease) => sql<boolean>`(outbox, owner, epoch) = (${outbox}, ${owner}, ${epoch})`;

/** Releases a lease now, so that another process need not wait for its expiry. */
export async function releaseLease(db: StoreDb, lease: Lease): Promise<void> {
  const over = { expiresAt: sql<string>`clock_timestamp() - interval '1 second'` };
  await db.updateTable('collector_lease').set(over).where(isHeld(lease)).execute();
}

/** Writes under a lease, whose row stays locked until the commit. Throws LeaseLost, with nothing written, if it is no longer ours. */
export async function underLease<T>(store: Store, lease: Lease, work: (db: StoreTransaction) => Promise<T>): Promise<T> {
  return store.db.transaction().execute(async (db) => {
    const held = db.selectFrom('collector_lease').select('epoch').where(isHeld(lease)).forShare();
    if ((await held.executeTakeFirst()) === undefined) throw new LeaseLost(lease);
    return work(db);
  });
}

/** JSON texts: of the collector's progress, small and written with every tick, and of what it remembers of single events. */
export async function readCollectorState(db: StoreDb, outbox: string): Promise<{ state: string; memory: string | null } | null> {
  const state = db.selectFrom('collector_state').select(['state', 'memory']).where('outbox', '=', outbox);
  return (await state.executeTakeFirst()) ?? null;
}

/** Progress of these outboxes, and when operators acted on them, in one statement; those without progress are left out. */
export async function findCollectorStates(db: StoreDb, outboxes: readonly string[]) {
  if (outboxes.length === 0) return new Map<string, { state: string; acted: Acted | null }>();
  const rows = await db
    .selectFrom('collector_state')
    .leftJoin('acted', 'acted.outbox', 'collector_state.outbox')
    .select(['collector_state.outbox', 'state', 'firstAt', 'lastAt'])
    .where('collector_state.outbox', 'in', outboxes)
    .execute();
  return new Map(rows.map(({ outbox, state, ...acted }) => [outbox, { state, acted: actedOf(acted) }]));
}

/** Keeps the stored `memory` if it is left out. */
export async function writeCollectorState(db: StoreTransaction, { outbox, epoch }: Lease, state: string, memory?: string): Promise<void> {
  const changed = { epoch, state, updatedAt: sql<string>`clock_timestamp()`, ...(memory === undefined ? {} : { memory }) };
  await db
    .insertInto('collector_state')
    .values({ outbox, memory: null, ...changed })
    .onConflict((conflict) => conflict.column('outbox').doUpdateSet(changed))
    .execute();
}
