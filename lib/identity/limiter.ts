/** Slows guessing down, for all replicas; a place that an account has signed in from has a budget of its own, so that guessing elsewhere does not lock it out. */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { countAttempts, findKnownPlaces } from '@/lib/store/sign-ins';
import type { Store } from '@/lib/store/store';

const WINDOW_SECONDS = 15 * 60;
/** One person at one place mistyping; many new places after one account; one address after many accounts. */
const LIMITS = { place: 10, account: 50, address: 200 };

export interface Place {
  address: string;
  /** What the browser was given when somebody signed in with it; null when it was given nothing. */
  browser: string | null;
}

/** An attempt that may be checked: what it was counted under. */
export interface Admitted {
  ok: true;
  own: string;
  shared: string[];
  /** Somebody has signed in to this account from there. */
  known: boolean;
}

/** The names a place is kept under, the surest first: of the cookie only a digest. */
export function placesOf({ address, browser }: Place): string[] {
  const own = browser === null ? [] : [`browser:${createHash('sha256').update(browser).digest('hex')}`];
  return [...own, `address:${isIPv6(address) ? networkOf(address) : address}`];
}

/** The first 64 bits of an IPv6 address: who has one address has all of its network. */
function networkOf(address: string): string {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = tail === undefined ? [] : Array<string>(8 - groups.length - after.length).fill('0');
  return `${[...groups, ...middle, ...after].slice(0, 4).join(':')}::/64`;
}

/** Counts an attempt before it is checked, parallel ones too. Answers the seconds to wait when it may not be checked. */
export async function admit(store: Store, attempt: Place & { email: string }): Promise<Admitted | { ok: false; waitSeconds: number }> {
  const places = placesOf(attempt);
  const address = places.at(-1) ?? '';
  const found = await findKnownPlaces(store.db, attempt.email, places);
  const known = places.find((place) => found.includes(place));
  const own = `pair:${attempt.email} ${known ?? address}`;
  // Who has the cookie is counted by it alone: others at the same address cannot use up what is theirs.
  const first: Record<string, number> = known?.startsWith('browser:') === true ? {} : { [address]: LIMITS.address };
  const second: Record<string, number> = known === undefined ? { [`account:${attempt.email}`]: LIMITS.account } : {};
  // What its own place has stopped is no attempt on the account: one address alone does not lock it for the others.
  for (const limits of [{ ...first, [own]: LIMITS.place }, second]) {
    const wait = await over(store, limits);
    if (wait !== null) return { ok: false, waitSeconds: wait };
  }
  return { ok: true, own, shared: [...Object.keys(first), ...Object.keys(second)], known: known !== undefined };
}

async function over(store: Store, limits: Record<string, number>): Promise<number | null> {
  if (Object.keys(limits).length === 0) return null;
  const counts = await countAttempts(store.db, Object.keys(limits), WINDOW_SECONDS);
  const waits = counts.flatMap(({ key, attempts, secondsLeft }) =>
    attempts > (limits[key] ?? 0) ? [Math.max(1, Math.ceil(secondsLeft))] : [],
  );
  return waits.length === 0 ? null : Math.max(...waits);
}
