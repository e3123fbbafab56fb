import { outsideRequests } from './outside-requests';

/** Runs work once per key and shares its result with all callers. */
export type Once = <T>(key: readonly unknown[], work: () => Promise<T>) => Promise<T>;

/** Entries kept; bounds an object that stays the same for days. */
const KEYS_MAX = 200;

/** Failed work is forgotten and runs again for the next caller. */
export function createOnce(): Once {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: readonly unknown[], work: () => Promise<T>): Promise<T> => {
    const name = JSON.stringify(key);
    const found = known.get(name) as Promise<T> | undefined;
    if (found !== undefined) return found;
    const begun = outsideRequests(work);
    const [oldest] = known.keys();
    if (known.size >= KEYS_MAX && oldest !== undefined) known.delete(oldest);
    known.set(name, begun);
    begun.catch(() => known.delete(name));
    return begun;
  };
}
