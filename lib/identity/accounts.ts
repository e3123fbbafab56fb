import { isRole, ROLES, type Role, type Who } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { findAccount, insertAccount, updateAccount } from '@/lib/store/accounts';
import { forgetPlaces } from '@/lib/store/sign-ins';
import type { Store } from '@/lib/store/store';
import { recordDeed } from '@/lib/store/audit';
import { hashPassword } from './passwords';

/** The actor in the audit for the command line, whose users can read the configuration with its passwords anyway. */
export const COMMAND_LINE: Who = { id: 'command', name: 'command line', role: '' };
const ADDRESS = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** An e-mail address as stored; null if it is invalid or changed by Unicode normalisation (`＠` into `@`). */
export function normaliseEmail(input: string): string | null {
  if (input.length > 254) return null;
  const email = input.trim().toLowerCase();
  return email.normalize('NFKC') === email && ADDRESS.test(email) ? email : null;
}

function emailOf(input: string): string {
  const email = normaliseEmail(input);
  if (email === null)
    throw new Problem('invalid', 'The e-mail address cannot be read', { fields: { email: 'write an address such as mina@example.com' } });
  return email;
}

export function roleOf(input: string): Role {
  if (!isRole(input)) throw new Problem('invalid', `There is no role ${JSON.stringify(input)}; use one of ${ROLES.join(', ')}`);
  return input;
}

/** Creates an account and returns its id. Throws Problem `invalid`, or `conflict` if the address is taken. */
export async function createAccount(store: Store, account: { email: string; password: string; role: string }): Promise<string> {
  const email = emailOf(account.email);
  const role = roleOf(account.role);
  const passwordHash = await hashPassword(account.password);
  return store.db.transaction().execute(async (db) => {
    const id = await insertAccount(db, { email, passwordHash, role });
    if (id === null) throw new Problem('conflict', `There is already an account ${email}`);
    await recordDeed(db, COMMAND_LINE, { operation: 'account_created', after: { email, role } });
    return id;
  });
}

/** Changes role, password or `disabled`; ends all sessions, a new password forgets known places. Throws Problem `not_found`, `invalid`. */
export async function changeAccount(store: Store, address: string, change: { role?: string; password?: string; disabled?: boolean }) {
  const email = emailOf(address);
  const role = change.role === undefined ? undefined : roleOf(change.role);
  const passwordHash = change.password === undefined ? undefined : await hashPassword(change.password);
  await store.db.transaction().execute(async (db) => {
    const before = await findAccount(db, email);
    if (before === null || !(await updateAccount(db, email, { role, passwordHash, disabled: change.disabled })))
      throw new Problem('not_found', `There is no account ${email}`);
    if (passwordHash !== undefined) await forgetPlaces(db, before.id);
    const shown = (of: { role: string; disabled: boolean }) => ({ email, role: of.role, state: of.disabled ? 'disabled' : 'enabled' });
    const after = shown({ role: role ?? before.role, disabled: change.disabled ?? before.disabled });
    const password: Record<string, string> = passwordHash === undefined ? {} : { password: 'changed' };
    await recordDeed(db, COMMAND_LINE, { operation: 'account_changed', before: shown(before), after: { ...after, ...password } });
  });
}
