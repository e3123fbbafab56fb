/** Password accounts. */
import { isRole, ROLES, type Role } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { findAccount, insertAccount, updateAccount } from '@/lib/store/accounts';
import type { Store } from '@/lib/store/store';
import { normaliseEmail } from './email';
import { admit, forgive } from './limiter';
import { hashPassword, verifyPassword } from './passwords';

function emailOf(input: string): string {
  const email = normaliseEmail(input);
  if (email === null)
    throw new Problem('invalid', 'The e-mail address cannot be read', { fields: { email: 'write an address such as mina@example.com' } });
  return email;
}

function roleOf(input: string): Role {
  if (!isRole(input)) throw new Problem('invalid', `There is no role ${JSON.stringify(input)}; use one of ${ROLES.join(', ')}`);
  return input;
}

/** Creates an account and answers its id. Throws Problem `invalid`, or `conflict` when the address is taken. */
export async function createAccount(store: Store, account: { email: string; password: string; role: string }): Promise<string> {
  const email = emailOf(account.email);
  const role = roleOf(account.role);
  const id = await insertAccount(store.db, { email, passwordHash: await hashPassword(account.password), role });
  if (id === null) throw new Problem('conflict', `There is already an account ${email}`);
  return id;
}

/** Changes role, password or whether the account may sign in; its sessions end. Throws Problem `not_found`, `invalid`. */
export async function changeAccount(
  store: Store,
  email: string,
  change: { role?: string; password?: string; disabled?: boolean },
): Promise<void> {
  const found = await updateAccount(store.db, emailOf(email), {
    role: change.role === undefined ? undefined : roleOf(change.role),
    passwordHash: change.password === undefined ? undefined : await hashPassword(change.password),
    disabled: change.disabled,
  });
  if (!found) throw new Problem('not_found', `There is no account ${email}`);
}

export type SignIn =
  | { ok: true; accountId: string; email: string }
  /** `disabled` is only ever said to who knows the password. */
  | { ok: false; why: 'wrong' | 'disabled' }
  | { ok: false; why: 'too_many'; retryAfterSeconds: number };

/** Checks a password, counting every attempt. An unknown address takes as long as a wrong password. */
export async function checkPassword(store: Store, input: { email: string; password: string; address: string }): Promise<SignIn> {
  const email = normaliseEmail(input.email);
  if (email === null) return { ok: false, why: 'wrong' };
  const attempt = { email, address: input.address };
  const wait = await admit(store, attempt);
  if (wait !== null) return { ok: false, why: 'too_many', retryAfterSeconds: wait };
  const account = await findAccount(store.db, email);
  const right = await verifyPassword(input.password, account?.passwordHash ?? null);
  if (!right || account === null) return { ok: false, why: 'wrong' };
  if (account.disabled) return { ok: false, why: 'disabled' };
  await forgive(store, attempt);
  return { ok: true, accountId: account.id, email: account.email };
}
