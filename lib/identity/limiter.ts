/** Limits guessing over all replicas. A place known to an account has its own budget: guessing elsewhere does not lock it out. */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { countAttempts, findKnownPlaces } from '@/lib/store/sign-ins';
import type { Store } from '@/lib/store/store';

const WINDOW_SECONDS = 15 * 60;
/** Attempts per window: an account from one place, an account from all unknown places, all accounts from one address. */
const LIMITS = { place: 10, account: 50, address: 200 };

export interface Place {
  address: string;
  /** The cookie a browser gets at a sign-in; null without one. */
  browser: string | null;
}

/** The keys of a place, most specific first; the cookie only as a digest. */
export function placesOf({ address, browser }: Place): string[] {
  const own = browser === null ? [] : [`browser:${createHash('sha256').update(browser).digest('hex')}`];
  return [...own, `address:${isIPv6(address) ? networkOf(address) : address}`];
}

/** The first 64 bits of an IPv6 address: an owner of one address has its whole network. */
function networkOf(address: string): string {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = tail === undefined ? [] : Array<string>(8 - groups.length - after.length).fill('0');
  return `${[...groups, ...middle, ...after].slice(0, 4).join(':')}::/64`;
}

/**
 * Counts an attempt before it is checked, parallel ones too. Returns the counters it was added to, and whether the account has signed in from
 * there before (`known`); the seconds to wait if it may not be checked.
 */
export async function admit(store: Store, attempt: Place & { email: string }) {
  const places = placesOf(attempt);
  const address = places.at(-1) ?? '';
  const found = await findKnownPlaces(store.db, attempt.email, places);
  const known = places.find((place) => found.includes(place));
  const own = `pair:${attempt.email} ${known ?? address}`;
  // A known cookie is counted alone: others at the same address cannot use up its budget.
  const first: Record<string, number> = known?.startsWith('browser:') === true ? {} : { [address]: LIMITS.address };
  const second: Record<string, number> = known === undefined ? { [`account:${attempt.email}`]: LIMITS.account } : {};
  // An attempt stopped at its place does not count for the account: one address alone does not lock it for others.
  for (const limits of [{ ...first, [own]: LIMITS.place }, second]) {
    const wait = await waitFor(store, limits);
    if (wait !== null) return { ok: false as const, own, waitSeconds: wait };
  }
  return { ok: true as const, own, shared: [...Object.keys(first), ...Object.keys(second)], known: known !== undefined };
}

async function waitFor(store: Store, limits: Record<string, number>): Promise<number | null> {
  if (Object.keys(limits).length === 0) return null;
  const counts = await countAttempts(store.db, Object.keys(limits), WINDOW_SECONDS);
  const over = counts.filter(({ key, attempts }) => attempts > (limits[key] ?? 0));
  return over.length === 0 ? null : Math.max(1, ...over.map(({ secondsLeft }) => Math.ceil(secondsLeft)));
}
