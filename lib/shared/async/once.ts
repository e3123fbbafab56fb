import { outsideRequests } from './outside-requests';

/** Does each piece of work once for all who ask for it by the same key. */
export type Once = <T>(key: readonly unknown[], work: () => Promise<T>) => Promise<T>;

/** What is asked for of something that does not change for days must not pile up. */
const KEYS_MAX = 200;

/** What failed is done again for the next who asks. */
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
