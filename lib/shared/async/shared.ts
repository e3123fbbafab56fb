import { outsideRequests } from './outside-requests';

/** One work per key for all who ask while it runs, and its result for a time afterwards. */
export interface Shared<T> {
  has: (key: string) => boolean;
  get: (key: string, work: () => Promise<T>) => Promise<T>;
}

/** Results are shared for so many milliseconds; failed work runs again for the next caller. Keeps at most `most`, the oldest go first. */
export function createShared<T>(forMs: number, most: number): Shared<T> {
  const known = new Map<string, { work: Promise<T>; until: number }>();
  const find = (key: string): Promise<T> | null => {
    const found = known.get(key);
    return found !== undefined && found.until > Date.now() ? found.work : null;
  };
  return {
    has: (key) => find(key) !== null,
    get(key, work) {
      const found = find(key);
      if (found !== null) return found;
      known.delete(key);
      for (const [name, { until }] of known) {
        if (until === Infinity || (until > Date.now() && known.size < most)) break;
        known.delete(name);
      }
      const entry = { work: outsideRequests(work), until: Infinity };
      known.set(key, entry);
      entry.work.then(
        () => (entry.until = Date.now() + forMs),
        () => known.get(key) === entry && known.delete(key),
      );
      return entry.work;
    },
  };
}
