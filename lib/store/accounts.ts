/** Queries on `account`. E-mail addresses must be normalised. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Role } from '@/lib/shared/permissions';
import { NOW, type StoreDb } from './store';

export type AccountRow = NonNullable<Awaited<ReturnType<typeof findAccount>>>;

const ACCOUNT = ['id', 'email', 'role', sql<boolean>`disabled_at is not null`.as('disabled')] as const;

/** Creates the account and returns its id; null if the address is taken. */
export async function insertAccount(db: StoreDb, account: { email: string; passwordHash: string; role: Role }): Promise<string | null> {
  const id = uuidv7();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('account')
    .values({ id, ...account })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n ? id : null;
}

/** Served by the unique key on `email`. */
export async function findAccount(db: StoreDb, email: string) {
  const account = db.selectFrom('account').select([...ACCOUNT, 'passwordHash']);
  return (await account.where('email', '=', email).executeTakeFirst()) ?? null;
}

export function selectAccounts(db: StoreDb) {
  const accounts = db.selectFrom('account').select([...ACCOUNT, 'createdAt', 'lastSignInAt']);
  return accounts.orderBy('email').execute();
}

export async function noteSignIn(db: StoreDb, id: string): Promise<void> {
  await db.updateTable('account').set({ lastSignInAt: NOW }).where('id', '=', id).execute();
}

type AccountChange = Partial<Pick<AccountRow, 'role' | 'passwordHash' | 'disabled'>>;

/** Changes the given fields and ends the account's sessions, whatever changed. False if there is no such account. */
export async function updateAccount(db: StoreDb, email: string, { disabled, ...change }: AccountChange): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('account')
    .set((eb) => ({
      ...change,
      roleVersion: eb('roleVersion', '+', 1),
      ...(disabled === undefined ? {} : { disabledAt: disabled ? NOW : null }),
    }))
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** How many accounts that are not disabled have one of these roles, without one. */
export async function countAccounts(db: StoreDb, roles: readonly Role[], exceptId: string | null): Promise<number> {
  let query = db.selectFrom('account').where('disabledAt', 'is', null).where('role', 'in', roles);
  if (exceptId !== null) query = query.where('id', '<>', exceptId);
  const { n } = await query.select((eb) => eb.fn.countAll<string>().as('n')).executeTakeFirstOrThrow();
  return Number(n);
}

/** The role that an account has now; null if it is gone or disabled. By primary key. */
export async function roleOfAccount(db: StoreDb, id: string): Promise<Role | null> {
  const row = await db.selectFrom('account').select('role').where('id', '=', id).where('disabledAt', 'is', null).executeTakeFirst();
  return row?.role ?? null;
}
