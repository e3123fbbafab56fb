/** What work gives; undefined if it throws, whatever that is. */
export function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
