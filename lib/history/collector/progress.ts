/** How far the collector has come with an outbox: what its owner writes with every look, and everybody else reads. */
import { z } from 'zod';
import type { CollectionMethod } from '@/lib/shared/figures/collection';
import { findCollectorState } from '@/lib/store/collector-leases';
import type { StoreDb } from '@/lib/store/store';

const METHODS = ['published_index', 'scan', 'observed', 'deleted', 'statistics'] as const satisfies CollectionMethod[];

/** Rows published in [from, to), ISO 8601 with microseconds, are not in the books yet: they are read backwards from `to`. */
const spanSchema = z.object({
  from: z.string(),
  to: z.string(),
  /** What `to` was at first, for the share that is done. */
  startedAt: z.string(),
});
export type UnreadSpan = z.infer<typeof spanSchema>;

const progressSchema = z.object({
  method: z.enum(METHODS),
  /**
   * Everything published before this is in the books, but for the spans in `unread`. ISO 8601 UTC with microseconds, by the
   * observed database's clock, exclusive: rows published at this very instant or later are not.
   */
  foldedTo: z.string(),
  /** When this outbox was looked at for the first time, by the same clock. */
  watchedSince: z.string(),
  /** When it was looked at last, by the same clock. */
  lookedAt: z.string(),
  /** Since when rows themselves are counted; before it they were observed, and a recount would compare different things. */
  countedSince: z.string(),
  /** The past that is still to be read: before the collector came, and when it was away. */
  unread: z.array(spanSchema),
  /** Minutes since the epoch that are provisional until a recount finds every transaction of theirs ended. */
  suspects: z.array(z.int()),
  /** Hours that begin before this minute since the epoch have been summed. */
  sealedTo: z.int(),
  /** Milliseconds between two looks at the moment, and whether that is more than was asked for. */
  everyMs: z.number(),
  slowed: z.boolean(),
  /** The last look could not read. */
  blind: z.boolean(),
  cost: z.object({ statements: z.number(), rows: z.number(), milliseconds: z.number() }),
  advice: z.object({ code: z.string(), sql: z.string().nullable() }).nullable(),
});
export type Progress = z.infer<typeof progressSchema>;

/** What `writeCollectorState` keeps. */
export const progressText = (progress: Progress): string => JSON.stringify(progress);

/** null for a state that this build did not write. */
export function parseProgress(text: string): Progress | null {
  const parsed = progressSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : null;
}

/** How far an outbox has been collected, by whichever process; null when it never has been. One row by its key. */
export async function readProgress(db: StoreDb, outbox: string): Promise<Progress | null> {
  const state = await findCollectorState(db, outbox);
  return state === null ? null : parseProgress(state);
}
