import { randomBytes } from 'node:crypto';
import { createAccount } from '@/lib/identity/accounts';
import { createToken } from '@/lib/identity/tokens';
import { ROLES, type Role } from '@/lib/shared/permissions';
import { migrateStore, openStore } from '@/lib/store/store';

export interface Accounts {
  accounts: { email: string; role: Role }[];
  password: string;
  /** Of role operator. */
  token: string;
}

/** Brings the demo's store up to date and creates one account per role and a token. */
export async function prepareStore(url: string, given: { password?: string; token?: string }): Promise<Accounts> {
  const migrated = await migrateStore(url);
  if (!migrated.ok) throw new Error(`The store could not be migrated: ${migrated.detail}`, { cause: migrated.cause });
  const password = given.password ?? randomBytes(9).toString('base64url');
  const accounts = ROLES.map((role) => ({ email: `${role}@outbox.local`, role }));
  const store = openStore(url);
  try {
    for (const account of accounts) await createAccount(store, { ...account, password });
    const token = await createToken(store, { name: 'demo', role: 'operator', given: given.token });
    return { accounts, password, token };
  } finally {
    await store.close();
  }
}
