/** Sign-in with a password: counts, checks and records the attempt, and stores its place as known. */
import { findAccount, noteSignIn, type AccountRow } from '@/lib/store/accounts';
import { forgiveAttempts, insertSession, rememberPlaces } from '@/lib/store/sign-ins';
import type { Store } from '@/lib/store/store';
import type { Who } from '@/lib/shared/permissions';
import { recordDeed, recordOfAccount } from '@/lib/store/audit';
import { entryId } from '@/lib/audit/records-keeper';
import { normaliseEmail } from './accounts';
import { admit, placesOf, type Place } from './limiter';
import { verifyPassword } from './passwords';

export type SignIn =
  | { ok: true; accountId: string; email: string; sid: string }
  /** `disabled` is returned only if the password is right. */
  | { ok: false; why: 'wrong' | 'disabled' }
  | { ok: false; why: 'too_many'; retryAfterSeconds: number };

/** Starts a session of `hours` if the password is right. An unknown address is as a wrong password, in statements, hash and result. */
export async function signIn(store: Store, input: Place & { email: string; password: string }, hours: number): Promise<SignIn> {
  const email = normaliseEmail(input.email);
  if (email === null) return { ok: false, why: 'wrong' };
  const admitted = await admit(store, { ...input, email });
  const account = await findAccount(store.db, email);
  const after = { address: input.address };
  /** Only the first in each quarter of an hour per account, and none of an address that no account has. */
  const recordFailure = (code: 'wrong' | 'disabled' | 'too_many'): Promise<void> => {
    // Not authenticated, so without a role.
    const { id: actorId, name: actor } = account === null ? { id: '', name: '' } : whoOf(account);
    const id = entryId(`sign_in_failed/${actorId}`, Math.floor(Date.now() / QUARTER_MS));
    const entry = { id, actorId, actor, operation: 'sign_in_failed', outcome: 'refused', code, after } as const;
    return recordOfAccount(store.db, account?.id ?? null, admitted.own, entry);
  };
  if (!admitted.ok) {
    await recordFailure('too_many');
    return { ok: false, why: 'too_many', retryAfterSeconds: admitted.waitSeconds };
  }
  const right = await verifyPassword(input.password, account?.passwordHash ?? null, { first: admitted.known });
  const sid = right && account !== null ? await begin(store, account, input, hours) : null;
  if (account === null || sid === null) {
    const why = right ? 'disabled' : 'wrong';
    await recordFailure(why);
    return { ok: false, why };
  }
  await forgiveAttempts(store.db, [admitted.own], admitted.shared);
  return { ok: true, accountId: account.id, email, sid };
}

const whoOf = ({ id, email, role }: AccountRow): Who => ({ id: `account:${id}`, name: email, role });

const QUARTER_MS = 15 * 60_000;

/** Creates session, audit entry and known place, or none of them; null if the account is disabled or gone. */
function begin({ db }: Store, account: AccountRow, place: Place, hours: number): Promise<string | null> {
  return db.transaction().execute(async (transaction) => {
    const sid = await insertSession(transaction, account.id, hours);
    if (sid === null) return null;
    await noteSignIn(transaction, account.id);
    await recordDeed(transaction, whoOf(account), { operation: 'sign_in', after: { address: place.address } });
    await rememberPlaces(transaction, account.id, placesOf(place));
    return sid;
  });
}
