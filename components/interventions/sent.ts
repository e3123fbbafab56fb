/** An intervention that was sent from this browser and whose outcome it has not been told. */
export interface Sent {
  key: string;
  /** Keys belong to people: somebody else who signs in here cannot ask after it. */
  account: string;
  outbox: string;
  outboxName: string;
  operation: string;
  /** How many events it is about. */
  count: number;
  /** Milliseconds since 1970. */
  sentAt: number;
}

const KEY = 'outbox-console.sent';
/** Older ones are answered by nobody any more. */
const KEPT_MS = 90 * 86_400_000;

function isSent(value: unknown): value is Sent {
  return typeof value === 'object' && value !== null && 'key' in value && 'account' in value && 'sentAt' in value;
}

function stored(): Sent[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSent).filter(({ sentAt }) => Date.now() - sentAt < KEPT_MS) : [];
  } catch {
    return [];
  }
}

function store(all: Sent[]): void {
  try {
    if (all.length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A window that keeps nothing still looks it up for as long as it is open.
  }
}

/** What this account sent from here and still has to be told of, oldest first. */
export function sentBy(account: string): Sent[] {
  return stored().filter((one) => one.account === account);
}

/** Keeps it until `forgetSent`, over reloads too. */
export function keepSent(sent: Sent): void {
  store([...stored().filter(({ key }) => key !== sent.key), sent]);
}

export function forgetSent(key: string): void {
  store(stored().filter((one) => one.key !== key));
}
