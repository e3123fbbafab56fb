/** How far the collector has come with an outbox: its owner writes it with every tick, every replica reads it. */
import { z } from 'zod';
import { type CollectionMethod, type CollectorStatus, countsRows } from '@/lib/shared/figures/collection';
import { writeCollectorState, underLease, type Lease } from '@/lib/store/collector-leases';
import type { Store } from '@/lib/store/store';
import { microsOf, minuteOf, minutesIn } from './clock';
import type { Span } from './published-sql';
import { deleteMinutesBefore } from '@/lib/store/rollups';
import { post, sumHoursAndDays, settle, type Posting } from './ledger';
import { HOUR_MINUTES, minutesKeptFrom, sliceOf } from '@/lib/rollup/cell';

/** Rows published in [from, to), ISO 8601 with microseconds, are not in the history yet: they are read backwards from `to`. */
const spanSchema = z.object({
  from: z.string(),
  to: z.string(),
  /** What `to` was at first, for the share that is done. */
  startedAt: z.string(),
  /** The attempts observer starts over after this span: when it ticked last before it. null if it goes on, and told by older builds. */
  unobservedSince: z.string().nullable().default(null),
});
export type UnreadSpan = z.infer<typeof spanSchema>;

/** What reading has cost the observed database. */
const costSchema = z.object({ statements: z.number(), rows: z.number(), milliseconds: z.number() });
export type Cost = z.infer<typeof costSchema>;
export const NO_COST: Cost = { statements: 0, rows: 0, milliseconds: 0 };
export const sumOfCosts = (...costs: Cost[]): Cost =>
  costs.reduce((a, b) => ({
    statements: a.statements + b.statements,
    rows: a.rows + b.rows,
    milliseconds: a.milliseconds + b.milliseconds,
  }));

const progressSchema = z.object({
  method: z.enum(['published_index', 'scan', 'observed', 'deleted', 'statistics'] satisfies CollectionMethod[]),
  /** Everything published before this instant of the observed database, to the microsecond, is in the history, but for `unread`. */
  foldedTo: z.string(),
  /** When this outbox was read for the first time, by the same clock. */
  watchedSince: z.string(),
  /** When it was read last, by the same clock. */
  lookedAt: z.string(),
  /** Rows are counted from here on; before it they were observed, and a recount would compare different things. */
  countedSince: z.string(),
  /** The past that is still to be read: from before the first tick, and from outages. */
  unread: z.array(spanSchema),
  /** Minutes since the epoch that are provisional until a recount after all their transactions have ended. */
  suspects: z.array(z.int()),
  /** Hours that begin before this minute since the epoch have been summed. */
  sealedTo: z.int(),
  /** Milliseconds between two ticks at present, and whether that is much more than configured. */
  everyMs: z.number(),
  slowed: z.boolean(),
  blind: z.boolean(),
  cost: costSchema,
  advice: z.object({ code: z.string(), sql: z.string().nullable() }).nullable(),
});
export type Progress = z.infer<typeof progressSchema>;

/** null for a state that this build did not write. */
export const parseProgress = (text: string): Progress | null => progressSchema.safeParse(JSON.parse(text)).data ?? null;

/** Adds the minutes of a span that were collected before all their transactions had ended. */
export function withProvisional(suspects: readonly number[], cleanTo: number | null, span: Span): number[] {
  const open = minutesIn(Math.max(span.from, cleanTo ?? -Infinity), span.to);
  return open.length === 0 ? [...suspects] : [...new Set([...suspects, ...open])].sort((a, b) => a - b);
}

/** The share of the past that has been read, from 0 to 1, and the instant at which reading it will end; null if all has been read. */
export function backfillProgress({ unread }: Pick<Progress, 'unread'>): { share: number; from: string } | null {
  const [first] = unread;
  if (first === undefined) return null;
  const width = (end: 'to' | 'startedAt'): number => unread.reduce((sum, span) => sum + microsOf(span[end]) - microsOf(span.from), 0);
  const whole = width('startedAt');
  return { share: whole <= 0 ? 1 : 1 - width('to') / whole, from: unread.map((span) => span.from).sort()[0] ?? first.from };
}

export function statusOf(progress: Progress): CollectorStatus {
  const { method, foldedTo, watchedSince, everyMs, cost, advice } = progress;
  const backfill = countsRows(method) ? backfillProgress(progress) : null;
  const state = progress.blind ? 'blind' : backfill !== null ? 'backfilling' : progress.slowed ? 'slowed' : 'collecting';
  return { state, method, foldedTo, watchedSince, backfill, everyMs, cost, advice };
}

/** The status of an outbox that has not been read yet. */
export function notBegun(everyMs: number, blind: boolean): CollectorStatus {
  const nothing = { method: null, foldedTo: null, watchedSince: null, backfill: null, advice: null };
  return { ...nothing, state: blind ? 'blind' : 'waiting', everyMs, cost: NO_COST };
}

export interface Entry extends Pick<Posting, 'additions' | 'counts'> {
  /** Minutes that are complete from now on. */
  settled?: readonly number[];
  /** JSON text; left out when it has not changed. */
  memory?: string;
}

/** Adds to the history and moves the progress in one transaction; returns the progress as written. Throws LeaseLost with nothing written. */
export async function enter(store: Store, lease: Lease, before: Progress, progress: Progress, entry: Entry): Promise<Progress> {
  const { outbox } = lease;
  const nowMinute = minuteOf(microsOf(progress.lookedAt));
  const keptFrom = minutesKeptFrom(nowMinute);
  const sealTo = Math.max(before.sealedTo, sliceOf(minuteOf(microsOf(progress.foldedTo)), 'hour'));
  const written = { ...progress, sealedTo: sealTo };
  const { additions, counts, settled = [], memory } = entry;
  const { sealedTo } = before;
  await underLease(store, lease, async (db) => {
    await post(db, { outbox, additions, provisional: new Set(progress.suspects), sealedTo, keptFrom, counts });
    await settle(db, outbox, settled, sealedTo);
    if (sealTo > sealedTo) {
      await sumHoursAndDays(db, outbox, sealedTo, sealTo);
      // Kept an hour longer than they are added to, so that nothing is added to an hour whose minutes are half gone.
      await deleteMinutesBefore(db, outbox, keptFrom - HOUR_MINUTES);
    }
    await writeCollectorState(db, lease, JSON.stringify(written), memory);
  });
  return written;
}
