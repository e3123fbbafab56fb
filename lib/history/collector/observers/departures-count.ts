/**
 * Publishing that no row reports. Open rows are read at every tick: one that is open no more was published since the tick before. What
 * came and went between two ticks is counted too: from its row where it stays, from the database's statistics where it goes.
 *
 * The mean is Little's law: the time for which events waited, divided by the events that left. It is entered when an event leaves, so
 * that a backlog counts in the window in which it is worked off. An event waits from its creation to the middle of the ticks between
 * which it left; what is missing of those that came and left between two ticks is in `unseenWaitMs`. For no event it is further off than
 * one tick.
 */
import { z } from 'zod';
import type { ChangeCounts } from '@/lib/database/engine';
import { addTo, bucketOf } from '@/lib/rollup/histogram';
import { cellIn, type Additions, ALL_TYPES, HOW } from '@/lib/rollup/cell';
import { follow, GAP_MS, tally, type ObservedRow } from './observer';

/** Transactions that are open longer bring rows that are counted only where they are seen open. */
const OVERLAP_MS = 10_000;
/** Events remembered as counted; where more come in an overlap, it is shorter. */
const REMEMBERED = 10_000;

const recentSchema = z.object({
  /** Rows created at this moment or later are read; null where rows are found by their key. */
  sinceMs: z.number().nullable(),
  /** Rows with a greater key are read, and the greatest key at each tick of the overlap; empty where rows are found by their creation. */
  sinceKey: z.string().nullable(),
  keys: z.array(z.tuple([z.number(), z.string()])),
  /** Counted events, each with its creation, or the tick that found it where rows are found by their key. */
  counted: z.array(z.tuple([z.string(), z.number()])),
});
type Recent = z.infer<typeof recentSchema>;

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

/** What the next tick goes on from. */
function nextRecent(
  last: Recent | null,
  atMs: number,
  published: readonly { id: string; createdMs: number | null }[],
  { fromMs, newestMs, newestKey }: RecentRead,
): Recent {
  const counted = new Map(last?.counted);
  for (const { id, createdMs } of published) {
    if (newestKey !== null && !counted.has(id)) counted.set(id, atMs);
    if (newestKey === null && createdMs !== null) counted.set(id, createdMs);
  }
  const fullMs = [...counted.values()].sort((a, b) => b - a)[REMEMBERED] ?? -Infinity;
  if (newestKey === null) {
    const lastMs = last?.sinceMs ?? fromMs;
    // Nothing new: a clock that is behind may still bring rows from then.
    const overlapMs = newestMs === null && lastMs !== null ? lastMs : sinceOf(atMs, newestMs);
    const sinceMs = Math.max(lastMs ?? overlapMs, overlapMs, Math.floor(fullMs) + 1);
    return { sinceMs, sinceKey: null, keys: [], counted: [...counted].filter(([, createdMs]) => createdMs >= sinceMs) };
  }
  const keys: [number, string][] = [...(last?.keys ?? []), [atMs, newestKey]];
  // Rows with keys up to that of the mark were there at that tick: they are not read again.
  const mark = keys.findLastIndex(([tickedMs]) => tickedMs <= atMs - OVERLAP_MS || tickedMs <= fullMs);
  const [markMs, sinceKey] = keys[mark] ?? [-Infinity, last?.sinceKey ?? newestKey];
  return {
    sinceMs: null,
    sinceKey,
    keys: keys.slice(mark + 1),
    counted: [...counted].filter(([, tickedMs]) => tickedMs > markMs),
  };
}

/** Open events followed at once. */
export const FOLLOWED_ROWS = 10_000;
/** A time of publishing that a row reports is believed this far back. */
const BELIEVED_MS = 3_600_000;
/** Sessions have reported what they did after so long: those of PostgreSQL that are idle take ten seconds, and a minute where they are in each other's way. */
const REPORTED_MS = 60_000;

export type DepartureRow = Pick<ObservedRow, 'id' | 'type' | 'state' | 'createdMs' | 'publishedMs'>;

export interface DepartureTick {
  atMs: number;
  /** More wait than are followed. */
  capped: boolean;
  rows: DepartureRow[];
  /** Ids that were looked for and are in no table. */
  gone: string[];
  /** Rows are deleted when they are published. */
  deletes: boolean;
  /** Where published rows that were never seen open are among `rows`: what the next tick has to know of this one. */
  recent: RecentRead | null;
  /** Where they are not: what the statistics say, and how many wait (null where not all were counted). */
  counts: (ChangeCounts & { depth: number | null }) | null;
}

/** Sums of arrivals and departures since the first tick, and what both were a while ago. */
const flowSchema = z.object({
  /** What the statistics said at the first tick, and at the last: they fall when they are reset, by hand or by a crash. */
  from: z.object({ inserted: z.number(), deleted: z.number(), depth: z.number() }),
  last: z.object({ inserted: z.number(), deleted: z.number() }),
  counted: z.number(),
  mark: z.object({ atMs: z.number(), byGrowth: z.number(), byDeletes: z.number() }),
});
export type Flow = z.infer<typeof flowSchema>;

/** Sums over the arrivals of a while. */
const arrivalsSchema = z.object({
  /** Those that the next tick found, those that it did not, and half the time between the two ticks for each of the former. */
  seen: z.number(),
  unseen: z.number(),
  halvesMs: z.number(),
  /** By how much they came later than in the middle of their ticks, and the squares of what each tick added to that. */
  laterMs: z.number(),
  squares: z.number(),
});
type Arrivals = z.infer<typeof arrivalsSchema>;
const NO_ARRIVALS: Arrivals = { seen: 0, unseen: 0, halvesMs: 0, laterMs: 0, squares: 0 };

/** Arrivals that are remembered before they count half. */
const ARRIVALS = 10_000;

/**
 * The time to enter for each event that came and left between two ticks. Over all events, arrivals lie in the middle of their ticks: by as
 * much as those that were seen came later, the others came earlier. Events that come together make that a matter of luck while they are
 * few. What it can be is known from the share that was seen: nothing at the least, and the most where all wait equally long, which is the
 * more likely the fewer were seen. The better of the two weighs more.
 */
function unseenWaitMs({ seen, unseen, halvesMs, laterMs, squares }: Arrivals): number {
  if (seen === 0 || unseen === 0) return 0;
  const share = seen / (seen + unseen);
  const mostMs = halvesMs * (1 - share);
  const weight = mostMs ** 2 / (mostMs ** 2 + 12 * squares);
  const waitedMs = weight * laterMs + (1 - weight) * mostMs * (1 - share / 2);
  return Math.min(mostMs, Math.max(0, waitedMs)) / unseen;
}

/** Id, type, creation, and for how long it was found waiting. */
const followedSchema = z.tuple([z.string(), z.string().nullable(), z.number().nullable(), z.number()]);
type Followed = z.infer<typeof followedSchema>;

const memorySchema = z.object({
  atMs: z.number(),
  capped: z.boolean(),
  open: z.array(followedSchema),
  recent: recentSchema.nullable(),
  flow: flowSchema.nullable(),
  arrivals: arrivalsSchema.default(NO_ARRIVALS),
});
export type DepartureMemory = z.infer<typeof memorySchema>;

/** null for what this version has not written: the observer begins anew. */
export function departureMemory(memory: unknown): DepartureMemory | null {
  const parsed = memorySchema.safeParse(memory);
  return parsed.success ? parsed.data : null;
}

const isOpen = (state: DepartureRow['state']): boolean => state === 'pending' || state === 'retrying' || state === 'processing';

/** What was published since the tick that made `memory`. Without one, or after a gap, what is there is taken as it is. */
export function countDepartures(memory: DepartureMemory | null, tick: DepartureTick): { additions: Additions; memory: DepartureMemory } {
  const { atMs, deletes, counts } = tick;
  const last = memory !== null && atMs > memory.atMs && atMs - memory.atMs <= GAP_MS ? memory : null;
  const sinceMs = last === null ? 0 : atMs - last.atMs;
  const counted = new Set(last?.recent?.counted.map(([id]) => id));
  const additions: Additions = new Map();
  // Without those that came and went in between, the others would pass for all.
  const timed = tick.recent !== null || counts !== null;
  const departed = { events: 0, waitedMs: 0 };
  const unseenMs = last === null ? 0 : unseenWaitMs(last.arrivals);
  const arrived = { seen: 0, unseen: 0, laterMs: 0 };
  let { capped } = tick;
  let [followed, seenToGo] = [0, 0];

  const depart = (row: Omit<DepartureRow, 'id' | 'state'>, waitedMs: number): void => {
    departed.events += 1;
    departed.waitedMs += waitedMs;
    enter(additions, row, { atMs, sinceMs, waitedMs: timed ? waitedMs : null });
  };
  const open = follow<DepartureRow, Followed>(last?.open ?? [], tick, {
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
      if (before !== undefined) seenToGo += 1;
      if (row.state !== 'published' || last === null) return null;
      if (before !== undefined) depart({ ...row, type, createdMs }, before[3] + sinceMs / 2);
      else if (!counted.has(row.id) && (row.createdMs !== null || tick.recent?.newestKey != null)) {
        arrived.unseen += 1;
        depart(row, last.capped && createdMs !== null ? Math.max(0, last.atMs - createdMs) : unseenMs);
      }
      return null;
    },
    missed: ([id, type, createdMs, waitedMs]) => [id, type, createdMs, waitedMs + sinceMs],
    gone([, type, createdMs, waitedMs]) {
      seenToGo += 1;
      if (deletes) depart({ type, createdMs, publishedMs: null }, waitedMs + sinceMs / 2);
    },
  });

  const { flow, events } = countUnseen(last?.flow ?? null, { atMs, counts, seenToGo, deletes });
  if (events > 0) {
    // Their types are not known: they are in the sum of all types alone.
    const cell = cellIn(additions, Math.floor(atMs / 60_000), ALL_TYPES);
    cell.how |= HOW.statistics | HOW.sampled;
    cell.published += events;
    cell.created += events;
    cell.resolutionMs = Math.max(cell.resolutionMs, sinceMs);
    arrived.unseen += events;
    // Where more wait than are followed, these may have waited as long as the others did.
    const asOthers = (capped || last?.capped === true) && departed.events > 0;
    cell.latencySumMs += events * (asOthers ? departed.waitedMs / departed.events : unseenMs);
  }
  const published = tick.rows.filter(({ state }) => state === 'published');
  const recent = tick.recent && nextRecent(last?.recent ?? null, atMs, published, tick.recent);
  const arrivals = withArrivals(last?.arrivals ?? NO_ARRIVALS, arrived, sinceMs);
  return { additions, memory: { atMs, capped, open, recent, flow, arrivals } };
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

/** One event that left: with the time its row reports, else with the one for which it was found waiting. */
function enter(
  additions: Additions,
  { type, createdMs, publishedMs }: Omit<DepartureRow, 'id' | 'state'>,
  { atMs, sinceMs, waitedMs }: { atMs: number; sinceMs: number; waitedMs: number | null },
): void {
  const believed = publishedMs !== null && publishedMs <= atMs && publishedMs > atMs - BELIEVED_MS;
  tally(additions, believed ? publishedMs : atMs, type, (cell) => {
    cell.published += 1;
    const lastedMs = createdMs === null ? null : (publishedMs ?? atMs) - createdMs;
    // Clocks that disagree: published before it was created.
    if (lastedMs !== null && lastedMs < 0) cell.negative += 1;
    if (publishedMs !== null) {
      if (lastedMs === null) return;
      addTo(cell.latency, bucketOf(lastedMs));
      cell.latencySumMs += Math.max(0, lastedMs);
    } else if (waitedMs !== null) {
      cell.how |= HOW.sampled;
      cell.latencySumMs += waitedMs;
      cell.resolutionMs = Math.max(cell.resolutionMs, sinceMs);
    }
  });
  tally(additions, Math.min(createdMs ?? atMs, atMs), type, (cell) => void (cell.created += 1));
}

/**
 * Events that came and went between two ticks: all that left, less those seen to go. All that left are the arrivals less what waits
 * more than at the first tick, and where rows go, the deletes: the smaller of the two, as inserts that were rolled back are in the
 * one and deletes that were rolled back in the other. Sessions report seconds late, so sums since the first tick are compared, and
 * what is missing now is found by a later tick. Nothing the first time, nor across a reset.
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

/**
 * What the one sum already had a minute ago and the other has not even now was rolled back: it is taken out, or inserts that were
 * rolled back over days would let as many deletes that are rolled back while a broker is unreachable pass for published.
 */
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
