/** Queries on `api_token`, which stores only the hash of a token. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '@/lib/shared/permissions';
import { NOW, type StoreDb } from './store';

/** Creates the token for `days`, or until revoked (null), and returns its id; null if a valid one has the name or the hash exists. */
export async function insertApiToken(
  db: StoreDb,
  { hash: tokenHash, days, ...token }: { name: string; role: Role; hash: string; prefix: string; days: number | null },
): Promise<string | null> {
  const id = uuidv7();
  // An expired token releases its name.
  await db
    .updateTable('api_token')
    .set((eb) => ({ revokedAt: eb.ref('expiresAt') }))
    .where('name', '=', token.name)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '<=', NOW)
    .execute();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('api_token')
    .values({ ...token, id, tokenHash, expiresAt: days === null ? null : sql<string>`now() + make_interval(days => ${days}::int)` })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? id : null;
}

const isValid = sql<boolean>`(revoked_at is null and (expires_at is null or expires_at > now()))`;

/** Served by the unique key on `token_hash`; null if unknown, revoked or expired. */
export async function findApiToken(db: StoreDb, hash: string): Promise<{ id: string; name: string; role: Role } | null> {
  const token = db.selectFrom('api_token').select(['id', 'name', 'role']).where('tokenHash', '=', hash);
  return (await token.where(isValid).executeTakeFirst()) ?? null;
}

/** The role of a token that is valid now; null if it is revoked or expired. By primary key. */
export const roleOfToken = async (db: StoreDb, id: string): Promise<Role | null> =>
  (await db.selectFrom('api_token').select('role').where('id', '=', id).where(isValid).executeTakeFirst())?.role ?? null;

/** Records the use, at most once a minute: a busy script must not write a row per call. */
export async function touchApiToken(db: StoreDb, id: string): Promise<void> {
  await db
    .updateTable('api_token')
    .set({ lastUsedAt: NOW })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('lastUsedAt', 'is', null), eb('lastUsedAt', '<', sql<string>`now() - interval '1 minute'`)]))
    .execute();
}

/** Returns its role; null if no valid token has the name. */
export async function revokeApiToken(db: StoreDb, name: string): Promise<Role | null> {
  const valid = db.updateTable('api_token').set({ revokedAt: NOW }).where('name', '=', name).where(isValid);
  return (await valid.returning('role').executeTakeFirst())?.role ?? null;
}

/** Tokens by name, newest first: valid ones, or with `ended` all. Without hash or prefix. */
export async function selectApiTokens(db: StoreDb, { ended }: { ended: boolean }) {
  const all = db.selectFrom('api_token').select(['id', 'name', 'role', 'createdAt', 'lastUsedAt', 'expiresAt', 'revokedAt']);
  return (ended ? all : all.where(isValid)).orderBy('name').orderBy('createdAt', 'desc').execute();
}
