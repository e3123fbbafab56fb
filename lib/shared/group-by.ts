/** What a map has for a key; if that is nothing, what `make` answers, which it has from then on. */
export function getOrMake<K, V>(map: Pick<Map<K, V>, 'get'> & { set(key: K, value: V): unknown }, key: K, make: () => NoInfer<V>): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Values by key, both in the order in which they come. */
export function groupBy<K, T>(values: readonly T[], keyOf: (value: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
