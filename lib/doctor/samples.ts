import { z } from 'zod';
import { DAY_MS, nameOf, tablesOf, type Facts, type TableFacts } from './facts/facts';

/** What is kept of an examination: one a day, for growth and rates. */
const writesSchema = z.object({ inserts: z.number(), updates: z.number(), hotUpdates: z.number().nullable(), deletes: z.number() });
const sampleSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** Table and indexes together, by table as the catalogue spells it. */
  bytes: z.record(z.string(), z.number()),
  /** Inserts, updates and deletes so far, by table. */
  writes: z.record(z.string(), writesSchema),
});
export type Sample = z.infer<typeof sampleSchema>;

/** Below this much time two counters give no rate. */
const LEAST_SPAN_MS = 60_000;
/** Growth is computed from samples at least this far apart. */
const GROWTH_SPAN_MS = DAY_MS * 0.9;

/** A stored sample; empty if another version of the console wrote it. */
export function sampleFrom(text: string): Sample[] {
  const parsed = sampleSchema.safeParse(JSON.parse(text));
  return parsed.success ? [parsed.data] : [];
}

/** What later examinations need of this one. */
export function sampleOf(facts: Facts, at: string): Sample {
  const tables = tablesOf(facts);
  return {
    at,
    bytes: Object.fromEntries(tables.map((table) => [nameOf(table), table.tableBytes + table.indexBytes])),
    writes: Object.fromEntries(tables.flatMap((table) => (table.writes === null ? [] : [[nameOf(table), table.writes]]))),
  };
}

/** Writes per second since the newest earlier sample below these counters, or since the server began to count; null without either. */
export function ratesOf(table: TableFacts, samples: readonly Sample[], statisticsSince: string | null, now: number) {
  const { writes } = table;
  if (writes === null) return null;
  const earlier = samples.findLast(({ at, writes: then }) => {
    const before = then[nameOf(table)];
    const isBehind = before !== undefined && before.inserts <= writes.inserts && before.updates <= writes.updates;
    return isBehind && now - Date.parse(at) >= LEAST_SPAN_MS;
  });
  const before = earlier?.writes[nameOf(table)];
  const ms = now - Date.parse(earlier?.at ?? statisticsSince ?? '');
  if (!(ms >= LEAST_SPAN_MS)) return null;
  const perSecond = (count: number, then = 0): number => (Math.max(0, count - then) * 1_000) / ms;
  return {
    insertsPerSecond: perSecond(writes.inserts, before?.inserts),
    updatesPerSecond: perSecond(writes.updates, before?.updates),
    hotUpdatesPerSecond: writes.hotUpdates === null ? null : perSecond(writes.hotUpdates, before?.hotUpdates ?? 0),
    deletesPerSecond: perSecond(writes.deletes, before?.deletes),
  };
}

/** Bytes by which table and indexes grow in a day, over all days sampled; null before the second day. */
export function growthOf(table: TableFacts, samples: readonly Sample[], now: number): { bytesPerDay: number; overMs: number } | null {
  const first = samples.find(({ bytes }) => bytes[nameOf(table)] !== undefined);
  const before = first?.bytes[nameOf(table)];
  if (first === undefined || before === undefined) return null;
  const overMs = now - Date.parse(first.at);
  if (overMs < GROWTH_SPAN_MS) return null;
  return { bytesPerDay: ((table.tableBytes + table.indexBytes - before) / overMs) * DAY_MS, overMs };
}
