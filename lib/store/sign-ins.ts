/** Queries on `session`, `login_attempt` and `sign_in_place`: they make a signed cookie revocable and guessing slow. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import { NOW, type StoreDb } from './store';

/** Starts a session of `hours` with the account's current role; null if the account does not exist or is disabled. */
export async function insertSession(db: StoreDb, accountId: string, hours: number): Promise<string | null> {
  const sid = uuidv7();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('session')
    .columns(['sid', 'accountId', 'roleVersion', 'expiresAt'])
    .expression(
      db
        .selectFrom('account')
        .select((eb) => [
          eb.val(sid).$castTo<string>().as('sid'),
          'id',
          'roleVersion',
          sql<string>`now() + make_interval(secs => ${hours * 3_600}::float8)`.as('expiresAt'),
        ])
        .where('id', '=', accountId)
        .where('disabledAt', 'is', null),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? sid : null;
}

/** The account of a valid session: not revoked, not expired, its account enabled and unchanged since sign-in; null otherwise. */
export async function findLiveSession(db: StoreDb, sid: string) {
  const row = await db
    .selectFrom('session')
    .innerJoin('account', 'account.id', 'session.accountId')
    .select(['account.id as accountId', 'account.email', 'account.role'])
    .where('session.sid', '=', sid)
    .where('session.revokedAt', 'is', null)
    .where('session.expiresAt', '>', NOW)
    .where('account.disabledAt', 'is', null)
    .whereRef('account.roleVersion', '=', 'session.roleVersion')
    .executeTakeFirst();
  return row ?? null;
}

export async function revokeSession(db: StoreDb, sid: string): Promise<void> {
  await db.updateTable('session').set({ revokedAt: NOW }).where('sid', '=', sid).where('revokedAt', 'is', null).execute();
}

/** Adds an attempt to each counter, anew after its window (`secondsLeft`). One statement, so that parallel guesses are all counted. */
export async function countAttempts(db: StoreDb, keys: readonly string[], windowSeconds: number) {
  const left = sql<number>`extract(epoch from login_attempt.window_started_at + make_interval(secs => ${windowSeconds}::float8) - now())::float8`;
  const over = sql<boolean>`${left} < 0`;
  // Sorted, so that sign-ins with the same counters lock them in one order.
  const values = [...keys].sort().map((key) => ({ key, attempts: 1 }));
  return db
    .insertInto('login_attempt')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        attempts: sql<number>`case when ${over} then 1 else login_attempt.attempts + 1 end`,
        windowStartedAt: sql<string>`case when ${over} then now() else login_attempt.window_started_at end`,
      }),
    )
    .returning(['key', 'attempts', left.as('secondsLeft')])
    .execute();
}

/** After a successful sign-in, deletes its own counters and subtracts one from the shared ones. */
export async function forgiveAttempts(db: StoreDb, own: readonly string[], shared: readonly string[]): Promise<void> {
  await db.deleteFrom('login_attempt').where('key', 'in', own).execute();
  if (shared.length === 0) return;
  await db
    .updateTable('login_attempt')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('key', 'in', shared)
    .where('attempts', '>', 0)
    .execute();
}

const PLACES_MAX = 20;

/** Those of `places` the account has signed in from; [] also if there is no such account. Served by two primary keys. */
export async function findKnownPlaces(db: StoreDb, email: string, places: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('sign_in_place')
    .innerJoin('account', 'account.id', 'sign_in_place.accountId')
    .select('sign_in_place.place')
    .where('account.email', '=', email)
    .where('sign_in_place.place', 'in', places)
    .execute();
  return rows.map(({ place }) => place);
}

/** Records the places of a sign-in, and deletes the account's oldest ones. */
export async function rememberPlaces(db: StoreDb, accountId: string, places: readonly string[]): Promise<void> {
  await db
    .insertInto('sign_in_place')
    .values(places.map((place) => ({ accountId, place })))
    .onConflict((conflict) => conflict.columns(['accountId', 'place']).doUpdateSet({ lastAt: NOW }))
    .execute();
  await db
    .deleteFrom('sign_in_place')
    .where('accountId', '=', accountId)
    .where('place', 'in', (eb) =>
      eb
        .selectFrom('sign_in_place')
        .select('place')
        .where('accountId', '=', accountId)
        .orderBy('lastAt', 'desc')
        .orderBy('place')
        .offset(PLACES_MAX),
    )
    .execute();
}

export async function forgetPlaces(db: StoreDb, accountId: string): Promise<void> {
  await db.deleteFrom('sign_in_place').where('accountId', '=', accountId).execute();
}
