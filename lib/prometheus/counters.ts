import type { Summary } from '@/lib/shared/model';

/** Events created since this process first looked; null while that cannot be said. Never falls. */
export type CreatedTotals = (outbox: string, folded: number, depth: Summary['depth']) => number | null;

/**
 * The rollups count an event's creation when it is published: what is still in the table is added. One that is archived, or published and
 * not folded yet, is in neither: the total waits until it is passed again. Begins anew with each process: the store could let it fall.
 */
export function createCreatedTotals(): CreatedTotals {
  const counters = new Map<string, { base: number; top: number }>();
  return (outbox, folded, { waiting, processing, dead }) => {
    const counts = [waiting, processing, dead];
    // A state that a table cannot show holds nothing; a count that stopped could be anything.
    if (counts.some(({ known, why }) => known === 'capped' || (known === 'unavailable' && why !== 'not_in_schema'))) return null;
    const seen = counts.reduce((sum, { count }) => sum + (count ?? 0), folded);
    const counter = counters.get(outbox) ?? { base: seen, top: 0 };
    counter.top = Math.max(counter.top, seen - counter.base);
    counters.set(outbox, counter);
    return counter.top;
  };
}

/** How many event types of an outbox have a label of their own. */
export const TYPES_MAX = 50;
export const OTHER = 'other';
/** As long as a reading keeps a type. */
const TYPE_LENGTH_MAX = 200;

export type TypeLabels = ReturnType<typeof createTypeLabels>;

/** First come, first kept: chosen anew each time, types would move in and out of `other`, and a total that falls reads as a restart. */
export function createTypeLabels() {
  const outboxes = new Map<string, Map<string, string>>();
  return {
    /** The label of a type: its own for the first 50 of an outbox, `other` for the rest. Never changes while the process runs. */
    labelOf(outbox: string, type: string): string {
      const own = outboxes.get(outbox) ?? new Map<string, string>();
      outboxes.set(outbox, own);
      const known = own.get(type);
      if (known !== undefined) return known;
      const label = type.slice(0, TYPE_LENGTH_MAX).toWellFormed();
      // To Prometheus an empty label is none at all.
      if (label === '' || label === OTHER || own.size >= TYPES_MAX) return OTHER;
      own.set(type, label);
      return label;
    },
    /** The types that have a label of their own, whole, in no particular order. */
    kept: (outbox: string): string[] => [...(outboxes.get(outbox)?.keys() ?? [])],
  };
}
