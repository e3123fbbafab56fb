/** Slows guessing down: per account, per address it comes from, and for the two together. Shared by all replicas. */
import { countAttempts, forgiveAttempts } from '@/lib/store/login-attempts';
import type { Store } from '@/lib/store/store';

const WINDOW_SECONDS = 15 * 60;
/** One person at one place mistyping; many places after one account; one place after many accounts. */
const LIMITS = { pair: 10, account: 50, address: 200 };

export interface Attempt {
  email: string;
  /** IP address as far as known. */
  address: string;
}

const keysOf = ({ email, address }: Attempt) => ({
  pair: `pair:${email} ${address}`,
  account: `account:${email}`,
  address: `address:${address}`,
});

/** Counts an attempt before it is checked. Null when it may be checked, else the seconds to wait. */
export async function admit(store: Store, attempt: Attempt): Promise<number | null> {
  const keys = keysOf(attempt);
  const counts = await countAttempts(store.db, Object.values(keys), WINDOW_SECONDS);
  const waits = counts.flatMap(({ key, attempts, secondsLeft }) => {
    const limit = key === keys.pair ? LIMITS.pair : key === keys.account ? LIMITS.account : LIMITS.address;
    return attempts > limit ? [Math.max(1, Math.ceil(secondsLeft))] : [];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/** After a good sign-in: the person is who they said. */
export async function forgive(store: Store, attempt: Attempt): Promise<void> {
  const keys = keysOf(attempt);
  await forgiveAttempts(store.db, [keys.pair, keys.account], [keys.address]);
}
