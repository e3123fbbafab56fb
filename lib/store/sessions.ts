/** Queries on `session`: what makes a signed cookie revocable. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '@/lib/shared/permissions';
import type { StoreDb } from './store';

/** Begins a session of `hours` for an account as it is now; null when the account is gone or disabled. */
export async function insertSession(db: StoreDb, accountId: string, hours: number): Promise<string | null> {
  const sid = uuidv7();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('session')
    .columns(['sid', 'account_id', 'role_version', 'expires_at'])
    .expression(
      db
        .selectFrom('account')
        .select((eb) => [
          eb.val(sid).$castTo<string>().as('sid'),
          'id',
          'role_version',
          sql<string>`now() + make_interval(secs => ${hours * 3_600}::float8)`.as('expires_at'),
        ])
        .where('id', '=', accountId)
        .where('disabled_at', 'is', null),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? sid : null;
}

export interface LiveSession {
  accountId: string;
  email: string;
  role: Role;
}

/**
 * Who a session belongs to, when it may still be used: not revoked, not over, its account enabled and unchanged since
 * sign-in. One lookup by two primary keys.
 */
export async function findLiveSession(db: StoreDb, sid: string): Promise<LiveSession | null> {
  const row = await db
    .selectFrom('session')
    .innerJoin('account', 'account.id', 'session.account_id')
    .select(['account.id as accountId', 'account.email', 'account.role'])
    .where('session.sid', '=', sid)
    .where('session.revoked_at', 'is', null)
    .where('session.expires_at', '>', sql<string>`now()`)
    .where('account.disabled_at', 'is', null)
    .whereRef('account.role_version', '=', 'session.role_version')
    .executeTakeFirst();
  return row ?? null;
}

export async function revokeSession(db: StoreDb, sid: string): Promise<void> {
  await db
    .updateTable('session')
    .set({ revoked_at: sql<string>`now()` })
    .where('sid', '=', sid)
    .where('revoked_at', 'is', null)
    .execute();
}

/** Removes sessions that ended more than a day ago; by the index on `expires_at`. */
export async function deleteEndedSessions(db: StoreDb): Promise<void> {
  await db
    .deleteFrom('session')
    .where('expires_at', '<', sql<string>`now() - interval '1 day'`)
    .execute();
}
