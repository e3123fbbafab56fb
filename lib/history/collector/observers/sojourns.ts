/**
 * How long events wait, where no row says so: open ones are looked at again and again, and one that is open no more was
 * published between two looks. What was published without ever being seen open is counted too: from its row where it
 * stays, from the database's statistics where it goes.
 *
 * The mean is Little's law, event by event: the time during which looks saw an event waiting is on average the time that it
 * waited, whatever its distribution. Quantiles lie where the looks and all other events allow (`spread.ts`).
 */
import { z } from 'zod';
import type { ChangeCounts } from '@/lib/database/engine';
import type { State } from '@/lib/shared/states';
import type { Additions } from '@/lib/rollup/additions';
import { tell, type Departure } from './departures';
import { nextRecent, recentSchema, rememberCounted, type Recent, type RecentLook } from './recent';
import { countUnseen, tallySchema } from './unseen';

/** After a longer time without a look everything begins anew: what happened meanwhile is a gap. */
export const GAP_MS = 120_000;
/** Open events followed at once. */
export const FOLLOWED_ROWS = 10_000;
/** How much a time between two looks weighs after another one. */
const GAP_REMEMBERED = 0.9;
/** Events after which one that was seen open weighs 1/e of what it did. */
const SEEN_REMEMBERED = 5_000;

/** A row as a look found it; times are milliseconds since the epoch by the observed database's clock. */
export interface SojournRow {
  id: string;
  type: string | null;
  /** `archived`: only the console's own archive has it. */
  state: State | 'unmapped';
  createdMs: number | null;
  publishedMs: number | null;
}

export type SojournReach = 'complete' | 'capped' | 'unseen';

export interface SojournLook {
  atMs: number;
  /** `capped`: more wait than are followed. */
  reach: SojournReach;
  /** New rows were looked for as well as known ones. */
  full: boolean;
  rows: SojournRow[];
  /** Ids that were looked for and are in no table. */
  gone: string[];
  /** Rows are deleted when they are published. */
  deletes: boolean;
  /** Where published rows that were never seen open are among `rows`: what the next look has to know of this one. */
  recent: Pick<RecentLook, 'fromMs' | 'newestMs' | 'newestKey'> | null;
  /** Where they are not: what the statistics say, and how many wait (null where not all were counted). */
  counts: (ChangeCounts & { depth: number | null }) | null;
}

const followedSchema = z.tuple([
  z.string(),
  z.string().nullable(),
  /** Created. */
  z.number().nullable(),
  /** Seen open last. */
  z.number(),
  /** How long it was seen waiting; null for one that was there from the beginning. */
  z.number().nullable(),
]);
type Followed = z.infer<typeof followedSchema>;

const memorySchema = z.object({
  atMs: z.number(),
  fullMs: z.number(),
  /** Times between looks that look for new rows, and their squares, summed up, older ones weighing less. */
  gapsMs: z.number(),
  gapsSquared: z.number(),
  reach: z.enum(['complete', 'capped', 'unseen']),
  open: z.array(followedSchema),
  recent: recentSchema.nullable(),
  unseen: tallySchema.nullable(),
  /** Events seen open whose creation is known, older ones weighing less. */
  seen: z.number(),
  prior: z.array(z.tuple([z.number(), z.number()])),
  drawn: z.number(),
});
export type SojournMemory = z.infer<typeof memorySchema>;

/** null for what no build of this version has written: the observer begins anew. */
export function sojournMemory(memory: unknown): SojournMemory | null {
  const parsed = memorySchema.safeParse(memory);
  return parsed.success ? parsed.data : null;
}

const isOpen = (state: SojournRow['state']): boolean => state === 'pending' || state === 'retrying' || state === 'processing';

/** What was published since the look that made `memory`. Without one, or after a gap, what is there is taken as it is. */
export function countSojourns(memory: SojournMemory | null, look: SojournLook): { additions: Additions; memory: SojournMemory } {
  const { atMs, deletes } = look;
  const last = memory !== null && atMs > memory.atMs && atMs - memory.atMs <= GAP_MS ? memory : null;
  const known = new Map((last?.open ?? []).map((one) => [one[0], one]));
  const counted = new Set((last?.recent?.counted ?? []).map(([id]) => id));
  const sinceFullMs = last === null ? 0 : atMs - last.fullMs;
  const next = new Map<string, Followed>();
  const departures: Departure[] = [];
  const found = new Set<string>();
  let seen = last?.seen ?? 0;
  let seenToGo = 0;
  let reach = look.reach;

  const depart = (before: Followed, row: SojournRow | null): void => {
    departures.push({
      type: row?.type ?? before[1],
      createdMs: row?.createdMs ?? before[2],
      publishedMs: row?.publishedMs ?? null,
      openMs: before[3],
      waitedMs: before[4],
    });
  };

  for (const row of look.rows) {
    if (found.has(row.id)) continue;
    found.add(row.id);
    const before = known.get(row.id);
    if (isOpen(row.state)) {
      if (before === undefined && next.size >= FOLLOWED_ROWS) {
        reach = 'capped';
        continue;
      }
      if (before === undefined && last !== null && row.createdMs !== null) seen += 1;
      next.set(row.id, stay(row, before, { last, look, sinceFullMs }));
      continue;
    }
    if (row.state === 'unmapped' && before !== undefined) next.set(row.id, before);
    if (row.state === 'unmapped') continue;
    if (before !== undefined) seenToGo += 1;
    if (row.state !== 'published' || last === null) continue;
    if (before !== undefined) depart(before, row);
    else if (!counted.has(row.id) && (row.createdMs !== null || look.recent?.newestKey != null)) {
      // Where more wait than are followed, it may have been open for long without being looked at.
      const openMs = last.reach === 'complete' ? last.fullMs : -Infinity;
      departures.push({ type: row.type, createdMs: row.createdMs, publishedMs: row.publishedMs, openMs, waitedMs: 0 });
    }
  }
  const gone = new Set(look.gone);
  for (const [id, before] of known) {
    if (found.has(id)) continue;
    if (!gone.has(id)) next.set(id, before);
    else {
      seenToGo += 1;
      if (deletes) depart(before, null);
    }
  }

  const additions: Additions = new Map();
  const gaps = gapsAfter(last, look.full ? sinceFullMs : null);
  // The time between the two looks that an event fell between: an event is more likely to fall into a longer one.
  const resolutionMs = gaps.gapsMs === 0 ? 0 : Math.round(gaps.gapsSquared / gaps.gapsMs);
  const tellings = { atMs, resolutionMs, prior: last?.prior ?? [], drawn: last?.drawn ?? 0 };
  const unseen =
    look.counts === null
      ? { events: 0, tally: last?.unseen == null ? null : { ...last.unseen, seenToGo: last.unseen.seenToGo + seenToGo } }
      : countUnseen(last?.unseen ?? null, { counts: look.counts, depth: look.counts.depth, seenToGo, deletes });
  seen *= Math.exp(-(departures.length + unseen.events) / SEEN_REMEMBERED);
  // Where nothing is ever seen, rows come and go in one transaction, or as good as: nobody can tell how long they wait. Nor
  // where more wait than are followed: those that go unseen may have waited for long.
  const latencies = seen >= 0.5 && reach === 'complete' && last?.reach === 'complete';
  const placed = tell(additions, { departures, unseen: { events: unseen.events, latencies } }, tellings);
  return {
    additions,
    memory: {
      atMs,
      fullMs: look.full || last === null ? atMs : last.fullMs,
      ...gaps,
      reach,
      open: [...next.values()],
      recent: recentAfter(last, look),
      unseen: unseen.tally,
      seen,
      ...placed,
    },
  };
}

function gapsAfter(last: SojournMemory | null, gapMs: number | null): Pick<SojournMemory, 'gapsMs' | 'gapsSquared'> {
  if (last === null) return { gapsMs: 0, gapsSquared: 0 };
  if (gapMs === null) return { gapsMs: last.gapsMs, gapsSquared: last.gapsSquared };
  return { gapsMs: last.gapsMs * GAP_REMEMBERED + gapMs, gapsSquared: last.gapsSquared * GAP_REMEMBERED + gapMs * gapMs };
}

function recentAfter(last: SojournMemory | null, { atMs, full, recent, rows }: SojournLook): Recent | null {
  const published = rows.filter(({ state }) => state === 'published');
  if (recent !== null) return nextRecent(last?.recent ?? null, { atMs, published, ...recent });
  return full || last === null || last.recent === null ? null : rememberCounted(last.recent, published);
}

interface Since {
  last: SojournMemory | null;
  look: SojournLook;
  sinceFullMs: number;
}

function stay(row: SojournRow, before: Followed | undefined, { last, look, sinceFullMs }: Since): Followed {
  const { id, type, createdMs } = row;
  if (last === null) return [id, type, createdMs, look.atMs, null];
  if (before === undefined) return [id, type, createdMs, look.atMs, last.reach === 'complete' ? sinceFullMs : null];
  // A look that looked for known rows alone tells when it was seen last; the time it stands for is that of the full ones.
  const stoodForMs = look.full ? look.atMs - Math.min(last.fullMs, before[3]) : 0;
  return [id, type, before[2], look.atMs, before[4] === null ? null : before[4] + stoodForMs];
}
