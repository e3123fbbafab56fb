import { z } from 'zod';
import type { ChangeCounts } from '@/lib/database/engine';
import { kindOf } from '@/lib/shape/shape';
import { cellIn, type Additions, ALL_TYPES, HOW } from '@/lib/rollup/cell';
import { GAP_MS, type Observer } from './observer';

const memorySchema = z.object({
  atMs: z.number(),
  inserted: z.number(),
  updated: z.number(),
  /** Updates that do not make a whole event yet. */
  left: z.number(),
});
type Memory = z.infer<typeof memorySchema>;

/**
 * The database's own counts of changes, which read no row: for tables too big to read without a way to find what is new, and for relays
 * that read the log. Inserts are events created; an event is published by one update, or two if it is claimed first. Failed attempts update
 * rows as well, so these counts are estimates, and how long an event waited is not known.
 */
export const statisticsObserver: Observer = {
  key: 'statistics',
  wants: (_, method) => method === 'statistics',
  everyMs: 5_000,
  async tick({ outbox, db, at, memory: given }) {
    const last = memorySchema.safeParse(given).data ?? null;
    const counts = await outbox.database.engine.changeCounts(db, outbox.main.table);
    // The counts may be reported again later: what happened until then is included.
    if (counts === null) return { additions: new Map(), memory: given, rows: 0 };
    const claims = outbox.shape.states.some((rule) => rule.state === 'processing');
    const updatesPerEvent = kindOf(outbox.shape) === 'external' ? Infinity : claims ? 2 : 1;
    return { ...countChanges(last, Date.parse(at), counts, updatesPerEvent), rows: 0 };
  },
};

/** Changes since the last tick; none the first time, across a reset or a gap. `updatesPerEvent`: Infinity if the relay updates no row. */
export function countChanges(last: Memory | null, atMs: number, { inserted, updated }: ChangeCounts, updatesPerEvent: number) {
  const additions: Additions = new Map();
  const isNext = last !== null && atMs >= last.atMs && atMs - last.atMs <= GAP_MS && inserted >= last.inserted && updated >= last.updated;
  if (!isNext) return { additions, memory: { atMs, inserted, updated, left: 0 } };
  const updates = Number.isFinite(updatesPerEvent) ? updated - last.updated + last.left : 0;
  const published = Math.floor(updates / updatesPerEvent);
  if (inserted > last.inserted || published > 0) {
    const cell = cellIn(additions, Math.floor(atMs / 60_000), ALL_TYPES);
    cell.how = HOW.statistics;
    cell.created = inserted - last.inserted;
    cell.published = published;
  }
  return { additions, memory: { atMs, inserted, updated, left: published === 0 ? updates : updates - published * updatesPerEvent } };
}
