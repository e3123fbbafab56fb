/** What this browser sent and was not answered, kept over a reload. Every screen loads this; what sends comes with the dialog. */

export interface SentKey {
  outbox: string;
  key: string;
  /** In ms since 1970. */
  sentAt: number;
}

/** An intervention that was sent from this browser and whose outcome it has not been told. */
export interface Sent extends SentKey {
  /** Keys belong to people: somebody else who signs in here cannot ask after it. */
  account: string;
  outboxName: string;
  operation: string;
  count: number;
}

const KEY = 'outbox-console.sent';
/** Older ones are answered by nobody any more. */
const KEPT_MS = 90 * 86_400_000;

function isSent(value: unknown): value is Sent {
  return typeof value === 'object' && value !== null && 'key' in value && 'account' in value && 'sentAt' in value;
}

/** A list that this browser keeps under a name; empty in a window that keeps nothing. */
export function storedList(name: string): unknown[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

export function storeList(name: string, list: readonly unknown[]): void {
  try {
    if (list.length === 0) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(list));
  } catch {
    // Private windows may refuse storage; what is sent is asked after for as long as the page is open.
  }
}

const stored = (): Sent[] =>
  storedList(KEY)
    .filter(isSent)
    .filter(({ sentAt }) => Date.now() - sentAt < KEPT_MS);

/** What this account sent from here and still has to be told of, oldest first. */
export const sentBy = (account: string): Sent[] => stored().filter((one) => one.account === account);

const storedBut = (key: string): Sent[] => stored().filter((one) => one.key !== key);

export const keepSent = (sent: Sent): void => storeList(KEY, [...storedBut(sent.key), sent]);

export const forgetSent = (key: string): void => storeList(KEY, storedBut(key));
