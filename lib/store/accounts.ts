/** Queries on `account`. E-mail addresses are given normalised. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '@/lib/shared/permissions';
import type { StoreDb } from './store';
import { iso } from './tables';

export interface AccountRow {
  id: string;
  email: string;
  passwordHash: string;
  role: Role;
  roleVersion: number;
  disabled: boolean;
}

/** Creates the account; null when the address is taken. */
export async function insertAccount(db: StoreDb, account: { email: string; passwordHash: string; role: Role }): Promise<string | null> {
  const id = uuidv7();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('account')
    .values({ id, email: account.email, password_hash: account.passwordHash, role: account.role })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? id : null;
}

/** By the unique key on `email`. */
export async function findAccount(db: StoreDb, email: string): Promise<AccountRow | null> {
  const row = await db.selectFrom('account').selectAll().where('email', '=', email).executeTakeFirst();
  if (row === undefined) return null;
  return {
    id: row.id,
    email: row.email,
    passwordHash: row.password_hash,
    role: row.role,
    roleVersion: row.role_version,
    disabled: row.disabled_at !== null,
  };
}

export interface ListedAccount {
  id: string;
  email: string;
  role: Role;
  disabled: boolean;
  createdAt: string;
  lastSignInAt: string | null;
}

/** Every account, by address. */
export async function selectAccounts(db: StoreDb): Promise<ListedAccount[]> {
  const rows = await db.selectFrom('account').selectAll().orderBy('email').execute();
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    role: row.role,
    disabled: row.disabled_at !== null,
    createdAt: iso(row.created_at),
    lastSignInAt: row.last_sign_in_at === null ? null : iso(row.last_sign_in_at),
  }));
}

export async function noteSignIn(db: StoreDb, id: string): Promise<void> {
  await db
    .updateTable('account')
    .set({ last_sign_in_at: sql<string>`now()` })
    .where('id', '=', id)
    .execute();
}

/** Changes what is given; a new role, password or disabling ends the account's sessions. False when there is no such account. */
export async function updateAccount(
  db: StoreDb,
  email: string,
  change: { role?: Role; passwordHash?: string; disabled?: boolean },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('account')
    .set((eb) => ({
      role_version: eb('role_version', '+', 1),
      ...(change.role === undefined ? {} : { role: change.role }),
      ...(change.passwordHash === undefined ? {} : { password_hash: change.passwordHash }),
      ...(change.disabled === undefined ? {} : { disabled_at: change.disabled ? sql<string>`now()` : null }),
    }))
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
