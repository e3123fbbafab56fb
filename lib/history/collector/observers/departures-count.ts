/**
 * Publishing that no row records. Open rows are read at every tick: one that is not open any more was published since the tick before. What
 * came and left between two ticks is counted too: from its row if that stays, from the database's statistics if it is deleted.
 *
 * The mean is Little's law: the time that events waited, divided by the events that left. It is entered when an event leaves, so that a
 * backlog counts in the window in which it is worked off. An event waits from its creation to the middle of the ticks between which it
 * left; `unseenWait` estimates the wait of those that came and left between two ticks. No event is off by more than one tick.
 */
import { z } from 'zod';
import type { ChangeCounts } from '@/lib/database/engine';
import { addTo, bucketOf } from '@/lib/rollup/histogram';
import { cellIn, type Additions, ALL_TYPES, HOW, TOUCHED } from '@/lib/rollup/cell';
import { follow, GAP_MS, tally, type Act, type ObservedRow } from './observer';

/** Rows of transactions that are open for longer are counted only if they are seen open. */
const OVERLAP_MS = 10_000;
/** Events remembered as counted; if an overlap has more, it is shortened. */
const REMEMBERED = 10_000;

const recentSchema = z.object({
  /** Rows created at this moment or later are read; null where rows are found by their key. */
  sinceMs: z.number().nullable(),
  /** Rows with a greater key are read; `keys`: time and greatest key of each tick in the overlap. null and empty if found by creation. */
  sinceKey: z.string().nullable(),
  keys: z.array(z.tuple([z.number(), z.string()])),
  /** Counted events, each with its creation, or with the tick that found it if rows are found by their key. */
  counted: z.array(z.tuple([z.string(), z.number()])),
});
type Recent = z.infer<typeof recentSchema>;

export interface RecentRead {
  /** Rows created from then on were read; null where rows are found by their key. */
  fromMs: number | null;
  /** The newest creation seen: if clocks of services are behind the database's, the overlap moves back. */
  newestMs: number | null;
  /** The greatest key; null where rows are found by their creation. */
  newestKey: string | null;
}

/** From when on rows are read: an overlap before the newest one seen, or before now if clocks are ahead. */
export const sinceOf = (atMs: number, newestMs: number | null): number => Math.floor(Math.min(atMs, newestMs ?? atMs) - OVERLAP_MS);

/** What the next tick continues from. */
function nextRecent(last: Recent | null, { atMs, rows }: DepartureTick, { fromMs, newestMs, newestKey }: RecentRead): Recent {
  const counted = new Map(last?.counted);
  for (const { id, createdMs } of rows.filter(({ state }) => state === 'published')) {
    if (newestKey !== null && !counted.has(id)) counted.set(id, atMs);
    if (newestKey === null && createdMs !== null) counted.set(id, createdMs);
  }
  const fullMs = [...counted.values()].sort((a, b) => b - a)[REMEMBERED] ?? -Infinity;
  if (newestKey === null) {
    const lastMs = last?.sinceMs ?? fromMs;
    // Nothing new: a service whose clock is behind may still insert rows from then.
    const overlapMs = newestMs === null && lastMs !== null ? lastMs : sinceOf(atMs, newestMs);
    const sinceMs = Math.max(lastMs ?? overlapMs, overlapMs, Math.floor(fullMs) + 1);
    return { sinceMs, sinceKey: null, keys: [], counted: [...counted].filter(([, createdMs]) => createdMs >= sinceMs) };
  }
  const keys: [number, string][] = [...(last?.keys ?? []), [atMs, newestKey]];
  // Rows with keys up to that of the mark were there at that tick: they are not read again.
  const mark = keys.findLastIndex(([tickedMs]) => tickedMs <= atMs - OVERLAP_MS || tickedMs <= fullMs);
  const [markMs, sinceKey] = keys[mark] ?? [-Infinity, last?.sinceKey ?? newestKey];
  return { sinceMs: null, sinceKey, keys: keys.slice(mark + 1), counted: [...counted].filter(([, tickedMs]) => tickedMs > markMs) };
}

export const FOLLOWED_ROWS = 10_000;
/** A row's time of publishing is used if it is at most this old. */
const BELIEVED_MS = 3_600_000;
/** After this long sessions have reported their changes: idle ones of PostgreSQL take ten seconds, a minute under contention. */
const REPORTED_MS = 60_000;

export type DepartureRow = Pick<ObservedRow, 'id' | 'type' | 'state' | 'createdMs' | 'publishedMs'>;

export interface DepartureTick {
  atMs: number;
  /** Of the last minutes. */
  acts: readonly Act[];
  /** More wait than are followed. */
  capped: boolean;
  rows: DepartureRow[];
  /** Ids that were searched and are in no table. */
  gone: string[];
  deletes: boolean;
  deadStay: boolean;
  /** Set if `rows` includes published rows that were never seen open: what the next tick needs of this one. */
  recent: RecentRead | null;
  /** Set if it does not: the statistics, and how many rows wait (null if not all were counted). */
  counts: (ChangeCounts & { depth: number | null }) | null;
}

/** Sums of arrivals and departures since the first tick, and what both were a while ago. */
const flowSchema = z.object({
  /** The statistics at the first tick and at the last: they fall when they are reset, by hand or by a crash. */
  from: z.object({ inserted: z.number(), deleted: z.number(), depth: z.number() }),
  last: z.object({ inserted: z.number(), deleted: z.number() }),
  counted: z.number(),
  mark: z.object({ atMs: z.number(), byGrowth: z.number(), byDeletes: z.number() }),
});
export type Flow = z.infer<typeof flowSchema>;

/** Sums over recent arrivals. */
const arrivalsSchema = z.object({
  /** Those that the next tick saw, those that it did not, and half the time between the two ticks for each of the former. */
  seen: z.number(),
  unseen: z.number(),
  halvesMs: z.number(),
  /** By how much the former came after the middle of their ticks, and the squares of what each tick added to that. */
  laterMs: z.number(),
  squares: z.number(),
});
type Arrivals = z.infer<typeof arrivalsSchema>;
const NO_ARRIVALS: Arrivals = { seen: 0, unseen: 0, halvesMs: 0, laterMs: 0, squares: 0 };

/** After this many arrivals, those so far count half. */
const ARRIVALS = 10_000;

/** A wait to enter for an event, and how far it may be off: at random (standard deviation), or as all others of its kind (`biasMs`). */
type Wait = Record<'waitMs' | 'deviationMs' | 'biasMs', number>;

/**
 * For each event that came and left between two ticks: the mean of two estimates, weighted by their error. On average arrivals lie in the
 * middle of their ticks, so the unseen came earlier by as much as the seen came later; a few events that come in bursts make that noisy.
 * The share that was seen gives a range: from zero to the wait if all events wait equally long, which is more likely the fewer were seen.
 */
function unseenWait({ seen, unseen, halvesMs, laterMs, squares }: Arrivals, sinceMs: number): Wait {
  if (seen === 0 || unseen === 0) return { waitMs: 0, deviationMs: 0, biasMs: sinceMs };
  const share = seen / (seen + unseen);
  const mostMs = halvesMs * (1 - share);
  const weight = mostMs ** 2 / (mostMs ** 2 + 12 * squares);
  const estimateMs = weight * laterMs + (1 - weight) * mostMs * (1 - share / 2);
  const waitMs = Math.min(mostMs, Math.max(0, estimateMs));
  const biasMs = Math.min(2 * Math.sqrt(weight * squares), Math.max(waitMs, mostMs - waitMs));
  return { waitMs: waitMs / unseen, deviationMs: 0, biasMs: biasMs / unseen };
}

/** Id, type, creation, and for how many milliseconds it was seen waiting. */
const followedSchema = z.tuple([z.string(), z.string().nullable(), z.number().nullable(), z.number()]);
type Followed = z.infer<typeof followedSchema>;

const memorySchema = z.object({
  atMs: z.number(),
  capped: z.boolean(),
  open: z.array(followedSchema),
  recent: recentSchema.nullable(),
  flow: flowSchema.nullable(),
  arrivals: arrivalsSchema.default(NO_ARRIVALS),
  /** Records whose acts have been counted, and open events that operators changed. */
  records: z.array(z.string()).default([]),
  touched: z.array(z.string()).default([]),
});
export type DepartureMemory = z.infer<typeof memorySchema>;

/** null for memory of another version: the observer starts over. */
export const departureMemory = (memory: unknown): DepartureMemory | null => memorySchema.safeParse(memory).data ?? null;

const isOpen = (state: DepartureRow['state']): boolean => state === 'pending' || state === 'retrying' || state === 'processing';

/** What was published since the tick that made `memory`. Without one, or after a gap, rows are only remembered. */
export function countDepartures(memory: DepartureMemory | null, tick: DepartureTick): { additions: Additions; memory: DepartureMemory } {
  const { atMs, deletes, counts } = tick;
  const last = memory !== null && atMs > memory.atMs && atMs - memory.atMs <= GAP_MS ? memory : null;
  const sinceMs = last === null ? 0 : atMs - last.atMs;
  const counted = new Set(last?.recent?.counted.map(([id]) => id));
  const additions: Additions = new Map();
  // Without the events in between, the mean of the others would be taken for that of all.
  const timed = tick.recent !== null || counts !== null;
  const departed = { events: 0, waitedMs: 0 };
  // It left somewhere between two ticks.
  const deviationMs = sinceMs / Math.sqrt(12);
  const unseen = unseenWait(last?.arrivals ?? NO_ARRIVALS, sinceMs);
  const arrived = { seen: 0, unseen: 0, laterMs: 0 };
  const touched = new Set([...(last?.touched ?? []), ...tick.acts.map(({ id }) => id)]);
  // Followed from the act on: those that left before any tick saw them open are still found, or gone.
  const back = new Set(putBack(last, tick.acts));
  const known = [...(last?.open ?? []), ...[...back].map((id): Followed => [id, null, null, 0])];
  let { capped } = tick;
  let [followed, seenToGo, died] = [0, 0, 0];

  const depart = (row: Omit<DepartureRow, 'state'>, wait: Wait): void => {
    const apart = touched.has(row.id);
    if (!apart) departed.events += 1;
    if (!apart) departed.waitedMs += wait.waitMs;
    enter(additions, row, { atMs, sinceMs, wait: timed ? wait : null, apart });
  };
  /** Without a time of creation, when it came is not known either. */
  const met = (waitedMs: number, createdMs: number | null): Wait => ({
    waitMs: waitedMs + sinceMs / 2,
    deviationMs: createdMs === null ? Math.SQRT2 * deviationMs : deviationMs,
    biasMs: 0,
  });
  const open = follow<DepartureRow, Followed>(known, tick, {
    found(row, before) {
      const type = row.type ?? before?.[1] ?? null;
      const createdMs = row.createdMs ?? before?.[2] ?? null;
      if (isOpen(row.state)) {
        if (before === undefined && followed >= FOLLOWED_ROWS) {
          capped = true;
          return null;
        }
        followed += 1;
        const ageMs = createdMs === null ? sinceMs / 2 : Math.max(0, atMs - createdMs);
        if (before === undefined && last !== null && ageMs <= sinceMs) {
          arrived.seen += 1;
          arrived.laterMs += sinceMs / 2 - ageMs;
        }
        return [row.id, type, createdMs, before === undefined ? ageMs : before[3] + sinceMs];
      }
      if (before !== undefined && row.state === 'dead' && tick.deadStay) died += 1;
      else if (before !== undefined) seenToGo += 1;
      if (row.state !== 'published' || last === null) return null;
      // A row may have been restored as it was, long published.
      if (back.has(row.id) && row.publishedMs !== null && row.publishedMs < last.atMs - GAP_MS) return null;
      if (before !== undefined) depart({ ...row, type, createdMs }, met(before[3], createdMs));
      else if (!counted.has(row.id) && (row.createdMs !== null || tick.recent?.newestKey != null)) {
        arrived.unseen += 1;
        const lateMs = last.capped && createdMs !== null ? Math.max(0, last.atMs - createdMs) : null;
        depart(row, lateMs === null ? unseen : { waitMs: lateMs, deviationMs: 0, biasMs: sinceMs });
      }
      return null;
    },
    missed: ([id, type, createdMs, waitedMs]) => [id, type, createdMs, waitedMs + sinceMs],
    gone([id, type, createdMs, waitedMs]) {
      seenToGo += 1;
      if (deletes) depart({ id, type, createdMs, publishedMs: null }, met(waitedMs, createdMs));
    },
  });

  const { flow, events } = countUnseen(withoutUncounted(last, tick.acts, died), { atMs, counts, seenToGo, deletes });
  if (events > 0) {
    // Their types are not known: they count into the series of all types only.
    const cell = cellIn(additions, Math.floor(atMs / 60_000), ALL_TYPES);
    cell.how |= HOW.statistics | HOW.sampled;
    cell.published += events;
    cell.created += events;
    cell.resolutionMs = Math.max(cell.resolutionMs, sinceMs);
    arrived.unseen += events;
    // If more wait than are followed, these may have waited as long as the others did.
    const asOthers = (capped || last?.capped === true) && departed.events > 0 ? departed.waitedMs / departed.events : null;
    cell.latencySumMs += events * (asOthers ?? unseen.waitMs);
    cell.biasMs += events * (asOthers ?? unseen.biasMs);
  }
  // What left in one tick may have left together: the deviations are added up first, and squared then.
  for (const cells of additions.values()) for (const cell of cells.values()) cell.variance **= 2;
  const recent = tick.recent && nextRecent(last?.recent ?? null, tick, tick.recent);
  const arrivals = withArrivals(last?.arrivals ?? NO_ARRIVALS, arrived, sinceMs);
  const acted = {
    records: [...new Set(tick.acts.map(({ record }) => record))],
    touched: open.flatMap(([id]) => (touched.has(id) ? id : [])),
  };
  return { additions, memory: { atMs, capped, open, recent, flow, arrivals, ...acted } };
}

function withArrivals(sum: Arrivals, { seen, unseen, laterMs }: Pick<Arrivals, 'seen' | 'unseen' | 'laterMs'>, sinceMs: number): Arrivals {
  const share = sum.seen + sum.unseen > ARRIVALS ? 0.5 : 1;
  return {
    seen: share * sum.seen + seen,
    unseen: share * sum.unseen + unseen,
    halvesMs: share * sum.halvesMs + (seen * sinceMs) / 2,
    laterMs: share * sum.laterMs + laterMs,
    squares: share ** 2 * sum.squares + laterMs ** 2,
  };
}

const newActs = (last: DepartureMemory, acts: readonly Act[]): Act[] => acts.filter(({ record }) => !last.records.includes(record));

/** Events that operators may have made wait since the last tick, which no tick has seen waiting. */
export function putBack(last: DepartureMemory | null, acts: readonly Act[]): string[] {
  if (last === null) return [];
  const seen = new Set(last.open.map(([id]) => id));
  const opened = newActs(last, acts).filter(({ id, counted }) => !seen.has(id) && (counted === null || counted === 'depth'));
  return [...new Set(opened.map(({ id }) => id))];
}

/** The sums, as if what was done since the last tick had moved no count alone, and rows that died where they are had never waited. */
function withoutUncounted(last: DepartureMemory | null, acts: readonly Act[], died: number): Flow | null {
  if (last?.flow == null) return null;
  const from = { ...last.flow.from, depth: last.flow.from.depth - died };
  for (const { counted } of newActs(last, acts)) if (counted !== null) from[counted] += 1;
  return { ...last.flow, from };
}

type SeenLeaving = Record<'atMs' | 'sinceMs', number> & { wait: Wait | null; apart: boolean };

/** Enters an event that left: with the time that its row records, else with the time it was seen waiting. */
function enter(additions: Additions, row: Omit<DepartureRow, 'id' | 'state'>, seen: SeenLeaving): void {
  const { type, createdMs, publishedMs } = row;
  const { atMs, sinceMs, wait, apart } = seen;
  const believed = publishedMs !== null && publishedMs <= atMs && publishedMs > atMs - BELIEVED_MS;
  const leftMs = believed ? publishedMs : atMs;
  const lastedMs = createdMs === null ? null : (publishedMs ?? atMs) - createdMs;
  if (apart && lastedMs !== null) addTo(cellIn(additions, Math.floor(leftMs / 60_000), TOUCHED).latency, bucketOf(lastedMs));
  tally(additions, leftMs, type, (cell) => {
    cell.published += 1;
    if (apart) return;
    // Published before it was created: clocks disagree.
    if (lastedMs !== null && lastedMs < 0) cell.negative += 1;
    if (publishedMs !== null) {
      if (lastedMs === null) return;
      addTo(cell.latency, bucketOf(lastedMs));
      cell.latencySumMs += Math.max(0, lastedMs);
    } else if (wait !== null) {
      cell.how |= HOW.sampled;
      cell.latencySumMs += wait.waitMs;
      cell.variance += wait.deviationMs;
      cell.biasMs += wait.biasMs;
      cell.resolutionMs = Math.max(cell.resolutionMs, sinceMs);
    }
  });
  // What operators put back was not created now.
  if (!apart || createdMs !== null) tally(additions, Math.min(createdMs ?? atMs, atMs), type, (cell) => void (cell.created += 1));
}

/**
 * Events that came and left between two ticks: all that left, minus those seen leaving. All that left are the inserts minus the growth of
 * the depth or, if rows are deleted, the deletes: the smaller of the two, as statistics include inserts and deletes that were rolled back.
 * Sessions report seconds late, so sums since the first tick are compared, and a later tick finds what is missing now. Zero the first time
 * and across a reset.
 */
export function countUnseen(
  last: Flow | null,
  { atMs, counts, seenToGo, deletes }: Pick<DepartureTick, 'atMs' | 'counts' | 'deletes'> & { seenToGo: number },
): { events: number; flow: Flow | null } {
  if (counts === null) return { events: 0, flow: last === null ? null : { ...last, counted: last.counted + seenToGo } };
  const { inserted, deleted, depth } = counts;
  const now = { inserted, deleted };
  if (last === null || inserted < last.last.inserted || deleted < last.last.deleted) {
    const mark = { atMs, byGrowth: 0, byDeletes: 0 };
    return { events: 0, flow: depth === null ? null : { from: { ...now, depth }, last: now, counted: 0, mark } };
  }
  const { from } = last;
  const byGrowth = depth === null ? Infinity : inserted - from.inserted - (depth - from.depth);
  const byDeletes = deletes ? deleted - from.deleted : Infinity;
  const left = Math.min(byGrowth, byDeletes);
  const events = Number.isFinite(left) ? Math.max(0, Math.floor(left) - last.counted - seenToGo) : 0;
  const flow = { ...last, last: now, counted: last.counted + seenToGo + events };
  return { events, flow: depth === null || !deletes ? flow : withoutRolledBack(flow, atMs, byGrowth, byDeletes) };
}

/** What one sum had a minute ago and the other still lacks was rolled back: left in, it would count as published days later. */
function withoutRolledBack(flow: Flow, atMs: number, byGrowth: number, byDeletes: number): Flow {
  const { from, mark } = flow;
  if (atMs - mark.atMs < REPORTED_MS) return flow;
  const inserts = Math.max(0, mark.byGrowth - byDeletes);
  const deletes = Math.max(0, mark.byDeletes - byGrowth);
  return {
    ...flow,
    from: { ...from, inserted: from.inserted + inserts, deleted: from.deleted + deletes },
    mark: { atMs, byGrowth: byGrowth - inserts, byDeletes: byDeletes - deletes },
  };
}
