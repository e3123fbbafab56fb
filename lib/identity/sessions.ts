/** Sessions: a signed cookie names one, the store says whether it may still be used. */
import type { Actor } from '@/lib/shared/permissions';
import { findLiveSession, insertSession, revokeSession } from '@/lib/store/sign-ins';
import type { Store } from '@/lib/store/store';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Begins a session for an account that has just proved its password; null when it may not sign in any more. */
export function beginSession(store: Pick<Store, 'db'>, accountId: string, hours: number): Promise<string | null> {
  return insertSession(store.db, accountId, hours);
}

/** Who a session belongs to; null when it was revoked, is over, or the account was disabled or changed since. */
export async function actorOfSession(store: Store, sid: unknown): Promise<Actor | null> {
  if (typeof sid !== 'string' || !UUID.test(sid)) return null;
  const session = await findLiveSession(store.db, sid);
  return session === null ? null : { id: `account:${session.accountId}`, name: session.email, role: session.role, kind: 'account' };
}

/** Ends a session at once, in every tab and replica. */
export async function endSession(store: Store, sid: unknown): Promise<void> {
  if (typeof sid === 'string' && UUID.test(sid)) await revokeSession(store.db, sid);
}
