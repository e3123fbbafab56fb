import { z } from 'zod';
import type { Facts, TableFacts } from './facts/facts';
import { DAY_MS } from './check';

const countsByName = z.record(z.string(), z.number());

/** What is remembered of an examination: one a day, for growth, rates, and indexes that nobody uses. */
export const sampleSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** Table and indexes together, by table as the catalogue spells it. */
  bytes: countsByName,
  /** Inserts, updates and deletes so far. */
  writes: z.record(
    z.string(),
    z.object({ inserts: z.number(), updates: z.number(), hotUpdates: z.number().nullable(), deletes: z.number() }),
  ),
});
export type Sample = z.infer<typeof sampleSchema>;

/** Earlier samples, oldest first. */
export interface Trend {
  samples: readonly Sample[];
}

export interface Rates {
  insertsPerSecond: number;
  updatesPerSecond: number;
  hotUpdatesPerSecond: number | null;
  deletesPerSecond: number;
}

/** Below this much time two counters tell no rate. */
const LEAST_SPAN_MS = 60_000;
/** Growth is told from samples at least this far apart. */
const GROWTH_SPAN_MS = DAY_MS * 0.9;

export const nameOf = ({ place }: TableFacts): string => [place.table.schema, place.table.table].filter((part) => part !== null).join('.');

/** What an examination leaves behind for later ones. */
export function sampleOf(facts: Facts, at: string): Sample {
  const tables = facts.dead === null ? [facts.main] : [facts.main, facts.dead];
  const byName = <T>(value: (table: TableFacts) => T | null): Record<string, T> =>
    Object.fromEntries(
      tables.flatMap((table): [string, T][] => {
        const found = value(table);
        return found === null ? [] : [[nameOf(table), found]];
      }),
    );
  return {
    at,
    bytes: byName(({ tableBytes, indexBytes }) => tableBytes + indexBytes),
    writes: byName(({ writes }) => writes),
  };
}

/**
 * Writes per second since the newest earlier sample whose counters are behind those of now, or since the server began
 * to count; null where neither tells.
 */
export function ratesOf(table: TableFacts, { samples }: Trend, statisticsSince: string | null, now: number): Rates | null {
  const { writes } = table;
  if (writes === null) return null;
  const earlier = samples.findLast(({ at, writes: then }) => {
    const before = then[nameOf(table)];
    return (
      now - Date.parse(at) >= LEAST_SPAN_MS && before !== undefined && before.inserts <= writes.inserts && before.updates <= writes.updates
    );
  });
  const before = earlier?.writes[nameOf(table)];
  const since = earlier?.at ?? statisticsSince;
  if (since === null) return null;
  const seconds = (now - Date.parse(since)) / 1_000;
  if (seconds < LEAST_SPAN_MS / 1_000) return null;
  return {
    insertsPerSecond: (writes.inserts - (before?.inserts ?? 0)) / seconds,
    updatesPerSecond: (writes.updates - (before?.updates ?? 0)) / seconds,
    hotUpdatesPerSecond: writes.hotUpdates === null ? null : Math.max(0, writes.hotUpdates - (before?.hotUpdates ?? 0)) / seconds,
    deletesPerSecond: Math.max(0, writes.deletes - (before?.deletes ?? 0)) / seconds,
  };
}

/** Bytes by which table and indexes grow in a day, over all days seen; null before the second day. */
export function growthOf(table: TableFacts, { samples }: Trend, now: number): { bytesPerDay: number; overMs: number } | null {
  const first = samples.find(({ bytes }) => bytes[nameOf(table)] !== undefined);
  const before = first?.bytes[nameOf(table)];
  if (first === undefined || before === undefined) return null;
  const overMs = now - Date.parse(first.at);
  if (overMs < GROWTH_SPAN_MS) return null;
  return { bytesPerDay: ((table.tableBytes + table.indexBytes - before) / overMs) * DAY_MS, overMs };
}
