/** Queries on `api_token`. Only the hash of a token is kept. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '@/lib/shared/permissions';
import type { StoreDb } from './store';
import { iso } from './tables';

/** Creates the token, for `days` or until it is revoked; null when a live one has the name or the token itself exists. */
export async function insertApiToken(
  db: StoreDb,
  token: { name: string; role: Role; hash: string; prefix: string; days: number | null },
): Promise<string | null> {
  const id = uuidv7();
  // One that has ended by itself gives its name back.
  await db
    .updateTable('api_token')
    .set((eb) => ({ revoked_at: eb.ref('expires_at') }))
    .where('name', '=', token.name)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', sql<string>`now()`)
    .execute();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('api_token')
    .values({
      id,
      name: token.name,
      role: token.role,
      token_hash: token.hash,
      prefix: token.prefix,
      expires_at: token.days === null ? null : sql<string>`now() + make_interval(days => ${token.days}::int)`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? id : null;
}

const lives = sql<boolean>`(expires_at is null or expires_at > now())`;

/** By the unique key on `token_hash`; null for one that is unknown, revoked or over. */
export async function findApiToken(db: StoreDb, hash: string): Promise<{ id: string; name: string; role: Role } | null> {
  const row = await db
    .selectFrom('api_token')
    .select(['id', 'name', 'role'])
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where(lives)
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

/** Its role; null when no live token has the name. */
export async function revokeApiToken(db: StoreDb, name: string): Promise<Role | null> {
  const revoked = await db
    .updateTable('api_token')
    .set({ revoked_at: sql<string>`now()` })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .where(lives)
    .returning('role')
    .executeTakeFirst();
  return revoked?.role ?? null;
}

export interface ListedToken {
  id: string;
  name: string;
  role: Role;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** Tokens by name, newest first: those that work, or all there ever were. Nothing of the tokens themselves. */
export async function selectApiTokens(db: StoreDb, { ended }: { ended: boolean }): Promise<ListedToken[]> {
  const all = db.selectFrom('api_token').select(['id', 'name', 'role', 'created_at', 'last_used_at', 'expires_at', 'revoked_at']);
  const wanted = ended ? all : all.where('revoked_at', 'is', null).where(lives);
  const rows = await wanted.orderBy('name').orderBy('created_at', 'desc').execute();
  const time = (text: string | null): string | null => (text === null ? null : iso(text));
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    role: row.role,
    createdAt: iso(row.created_at),
    lastUsedAt: time(row.last_used_at),
    expiresAt: time(row.expires_at),
    revokedAt: time(row.revoked_at),
  }));
}
