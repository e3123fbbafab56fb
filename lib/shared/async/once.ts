import { createShared } from './shared';

/** Runs work once per key and shares its result with all callers. */
export type Once = <T>(key: readonly unknown[], work: () => Promise<T>) => Promise<T>;

/** Entries kept; bounds an object that stays the same for days. */
const KEYS_MAX = 200;

/** The latest time there is for a Date. */
const ALWAYS_MS = 8.64e15;

/** Failed work is forgotten and runs again for the next caller. */
export function createOnce(): Once {
  const shared = createShared<unknown>(ALWAYS_MS, KEYS_MAX);
  return <T>(key: readonly unknown[], work: () => Promise<T>) => shared.get(JSON.stringify(key), work) as Promise<T>;
}
