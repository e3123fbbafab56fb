/** What this browser sent without an answer, kept over a reload. Every screen loads this; the code to send comes with the dialog. */

export interface SentKey {
  outbox: string;
  key: string;
  /** Milliseconds since 1970. */
  sentAt: number;
}

/** An intervention sent from this browser whose outcome it does not know. */
export interface Sent extends SentKey {
  /** Keys belong to accounts: another person who signs in here cannot check it. */
  account: string;
  outboxName: string;
  operation: string;
  count: number;
}

const KEY = 'outbox-console.sent';
/** Older ones are dropped. */
const KEPT_MS = 90 * 86_400_000;

const isSent = (value: unknown): value is Sent =>
  typeof value === 'object' && value !== null && 'key' in value && 'account' in value && 'sentAt' in value;

/** A list that this browser stores under a name; empty in a window without storage. */
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
    // Private windows may refuse storage; outcomes are then checked while the page is open.
  }
}

const stored = (): Sent[] =>
  storedList(KEY)
    .filter(isSent)
    .filter(({ sentAt }) => Date.now() - sentAt < KEPT_MS);

/** This account's interventions whose outcome it has yet to see, oldest first. */
export const sentBy = (account: string): Sent[] => stored().filter((one) => one.account === account);

const storedBut = (key: string): Sent[] => stored().filter((one) => one.key !== key);

export const keepSent = (sent: Sent): void => storeList(KEY, [...storedBut(sent.key), sent]);

export const forgetSent = (key: string): void => storeList(KEY, storedBut(key));
