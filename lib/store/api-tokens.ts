/** Queries on `api_token`. Only the hash of a token is kept. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '@/lib/shared/permissions';
import type { StoreDb } from './store';

/** Creates the token; null when a live one has the name or the token itself exists. */
export async function insertApiToken(
  db: StoreDb,
  token: { name: string; role: Role; hash: string; prefix: string },
): Promise<string | null> {
  const id = uuidv7();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('api_token')
    .values({ id, name: token.name, role: token.role, token_hash: token.hash, prefix: token.prefix })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? id : null;
}

/** By the unique key on `token_hash`. */
export async function findApiToken(db: StoreDb, hash: string): Promise<{ id: string; name: string; role: Role } | null> {
  const row = await db
    .selectFrom('api_token')
    .select(['id', 'name', 'role'])
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/** Notes the use, at most once a minute: a busy script must not write a row per call. */
export async function touchApiToken(db: StoreDb, id: string): Promise<void> {
  await db
    .updateTable('api_token')
    .set({ last_used_at: sql<string>`now()` })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', sql<string>`now() - interval '1 minute'`)]))
    .execute();
}

/** False when no live token has the name. */
export async function revokeApiToken(db: StoreDb, name: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_token')
    .set({ revoked_at: sql<string>`now()` })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
