export interface SteadyRows<T extends { id: string }> {
  /** The rows as they stand on screen, each as it was read last. */
  rows: T[];
  /** Ids of rows that the list does not hold any more: purged, or no longer matching the filter. */
  gone: ReadonlySet<string>;
  /** How many have come that are not shown. */
  newer: number;
}

/**
 * Lays a new reading over the rows on screen so that none of them moves: what somebody is about to click stays under
 * the pointer. New ones are counted, and shown when asked for.
 */
export function steadyRows<T extends { id: string }>(standing: readonly T[], latest: readonly T[]): SteadyRows<T> {
  const byId = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(standing.map(({ id }) => id));
  const newer = latest.filter(({ id }) => !known.has(id)).length;
  // As many rows as have come may have been pushed over the page's end: these are still there, on the next page.
  const pushedOff = standing.length - newer;
  const gone = standing.filter(({ id }, index) => !byId.has(id) && index < pushedOff).map(({ id }) => id);
  return { rows: standing.map((row) => byId.get(row.id) ?? row), gone: new Set(gone), newer };
}
