import { outsideRequests } from './outside-requests';

/** Does each piece of work once for all who ask for it by the same key. */
export type Once = <T>(key: readonly unknown[], work: () => Promise<T>) => Promise<T>;

/** What failed is done again for the next who asks. */
export function createOnce(): Once {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: readonly unknown[], work: () => Promise<T>): Promise<T> => {
    const name = JSON.stringify(key);
    const found = known.get(name) as Promise<T> | undefined;
    if (found !== undefined) return found;
    const begun = outsideRequests(work);
    known.set(name, begun);
    begun.catch(() => known.delete(name));
    return begun;
  };
}
