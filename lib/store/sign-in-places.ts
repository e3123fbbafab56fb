/** Queries on `sign_in_place`: where each account has signed in from, so that guessing elsewhere does not lock it out there. */
import { sql } from 'kysely';
import type { StoreDb } from './store';

/** Of each account the newest are kept. */
const PLACES_MAX = 20;

/** Those of `places` that the account has signed in from; [] also when there is no such account. By two primary keys. */
export async function findKnownPlaces(db: StoreDb, email: string, places: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('sign_in_place')
    .innerJoin('account', 'account.id', 'sign_in_place.account_id')
    .select('sign_in_place.place')
    .where('account.email', '=', email)
    .where('sign_in_place.place', 'in', places)
    .execute();
  return rows.map(({ place }) => place);
}

/** Notes that the account signs in from these places now, and forgets its oldest ones. */
export async function rememberPlaces(db: StoreDb, accountId: string, places: readonly string[]): Promise<void> {
  await db
    .insertInto('sign_in_place')
    .values(places.map((place) => ({ account_id: accountId, place })))
    .onConflict((conflict) => conflict.columns(['account_id', 'place']).doUpdateSet({ last_at: sql<string>`now()` }))
    .execute();
  await db
    .deleteFrom('sign_in_place')
    .where('account_id', '=', accountId)
    .where('place', 'in', (eb) =>
      eb
        .selectFrom('sign_in_place')
        .select('place')
        .where('account_id', '=', accountId)
        .orderBy('last_at', 'desc')
        .orderBy('place')
        .offset(PLACES_MAX),
    )
    .execute();
}

export async function forgetPlaces(db: StoreDb, accountId: string): Promise<void> {
  await db.deleteFrom('sign_in_place').where('account_id', '=', accountId).execute();
}

/** Forgets places nobody has signed in from for half a year; by the index on `last_at`. */
export async function deleteOldPlaces(db: StoreDb): Promise<void> {
  await db
    .deleteFrom('sign_in_place')
    .where('last_at', '<', sql<string>`now() - interval '180 days'`)
    .execute();
}
