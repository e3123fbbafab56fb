/** What all copies of a module have in common: Next bundles the same module several times for one process. */
export function perProcess<T>(name: string, make: () => T): T {
  const holder = globalThis as Record<symbol, T | undefined>;
  return (holder[Symbol.for(`outbox-console.${name}`)] ??= make());
}

/** A value for each object: made when it is first asked for, and dropped with the object. */
export function perObject<K extends object, T>(make: (object: K) => T): (object: K) => T {
  const kept = new WeakMap<K, T>();
  return (object) => {
    const value = kept.get(object) ?? make(object);
    kept.set(object, value);
    return value;
  };
}
