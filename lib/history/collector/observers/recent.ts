/**
 * Which rows are new: those created, or with a key given out, since a moment shortly before the last look. They are read
 * with an overlap, because a transaction may commit after younger ones, and those counted already are remembered.
 */
import { z } from 'zod';

/** Transactions that are open longer bring rows that nobody counts unless they are seen open. */
const OVERLAP_MS = 10_000;
/** Events remembered as counted; where more come in an overlap, it is shorter. */
const REMEMBERED = 10_000;

export const recentSchema = z.object({
  /** Rows created at this moment or later are read; null where rows are found by their key. */
  sinceMs: z.number().nullable(),
  /** Rows with a greater key are read, and the greatest key at each look of the overlap; empty where rows are found by their creation. */
  sinceKey: z.string().nullable(),
  keys: z.array(z.tuple([z.number(), z.string()])),
  /** Counted events, each with its creation, or the look that found it where rows are found by their key. */
  counted: z.array(z.tuple([z.string(), z.number()])),
});
export type Recent = z.infer<typeof recentSchema>;

export interface RecentRead {
  /** Rows created from then on were read; null where rows are found by their key. */
  fromMs: number | null;
  /** The newest creation that has been seen: clocks of services that are behind the database's move the overlap back. */
  newestMs: number | null;
  /** The greatest key; null where rows are found by their creation. */
  newestKey: string | null;
}

/** From when on rows are read: an overlap before the newest that has been seen, or before now where clocks are ahead. */
export const sinceOf = (atMs: number, newestMs: number | null): number => Math.floor(Math.min(atMs, newestMs ?? atMs) - OVERLAP_MS);

/** What the next look goes on from. */
export function nextRecent(
  last: Recent | null,
  atMs: number,
  published: readonly { id: string; createdMs: number | null }[],
  { fromMs, newestMs, newestKey }: RecentRead,
): Recent {
  const counted = new Map(last?.counted ?? []);
  if (newestKey === null) {
    for (const { id, createdMs } of published) if (createdMs !== null) counted.set(id, createdMs);
    const lastMs = last?.sinceMs ?? fromMs;
    // Nothing new: a clock that is behind may still bring rows from then.
    const overlapMs = newestMs === null && lastMs !== null ? lastMs : sinceOf(atMs, newestMs);
    return created(counted, Math.max(lastMs ?? overlapMs, overlapMs));
  }
  for (const { id } of published) if (!counted.has(id)) counted.set(id, atMs);
  const keys: [number, string][] = [...(last?.keys ?? []), [atMs, newestKey]];
  // Rows with keys up to that of the mark were there at its look: they are not read again.
  const foundAt = [...counted.values()].sort((a, b) => b - a);
  const fullMs = foundAt[REMEMBERED] ?? -Infinity;
  const mark = keys.findLastIndex(([lookMs]) => lookMs <= atMs - OVERLAP_MS || lookMs <= fullMs);
  const [markMs, sinceKey] = keys[mark] ?? [-Infinity, last?.sinceKey ?? newestKey];
  return {
    sinceMs: null,
    sinceKey,
    keys: keys.slice(mark + 1),
    counted: [...counted].filter(([, lookMs]) => lookMs > markMs),
  };
}

function created(counted: Map<string, number>, overlapMs: number): Recent {
  const newestFirst = [...counted].filter(([, createdMs]) => createdMs >= overlapMs).sort(([, a], [, b]) => b - a);
  const beyond = newestFirst[REMEMBERED];
  const sinceMs = beyond === undefined ? overlapMs : Math.floor(beyond[1]) + 1;
  return { sinceMs, sinceKey: null, keys: [], counted: newestFirst.filter(([, createdMs]) => createdMs >= sinceMs) };
}
