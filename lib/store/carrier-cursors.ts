/** Queries on `carrier_cursor`: how far each outbox's records have been carried into the audit. */
import { sql } from 'kysely';
import type { StoreDb } from './store';
import { iso } from './tables';

/** ISO 8601 UTC of the last record carried; null when none has been. */
export async function findCarriedTo(db: StoreDb, outbox: string): Promise<string | null> {
  const row = await db.selectFrom('carrier_cursor').select('carried_to').where('outbox', '=', outbox).executeTakeFirst();
  return row === undefined ? null : iso(row.carried_to);
}

/** Moves the cursor forward; an older time leaves it where it is. */
export async function advanceCarriedTo(db: StoreDb, outbox: string, carriedTo: string): Promise<void> {
  await db
    .insertInto('carrier_cursor')
    .values({ outbox, carried_to: carriedTo })
    .onConflict((conflict) =>
      conflict.column('outbox').doUpdateSet({ carried_to: sql<string>`greatest(carrier_cursor.carried_to, excluded.carried_to)` }),
    )
    .execute();
}
