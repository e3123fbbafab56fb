import { getOrMake } from '@/lib/shared/group-by';
import type { Summary } from '@/lib/shared/model';

/** Events created since this process's first scrape; null while that is not known. Never falls. */
export type CreatedTotals = (outbox: string, folded: number, depth: Summary['depth']) => number | null;

/** Folded events and those still in the table; it waits for what is in neither. Zero at first: a stored total could fall. */
export function createCreatedTotals(): CreatedTotals {
  const counters = new Map<string, { base: number; top: number }>();
  return (outbox, folded, { waiting, processing, dead }) => {
    const counts = [waiting, processing, dead];
    // A state that the table cannot show counts zero; a capped count could be anything.
    if (counts.some(({ known, why }) => known === 'capped' || (known === 'unavailable' && why !== 'not_in_schema'))) return null;
    const seen = counts.reduce((sum, { count }) => sum + (count ?? 0), folded);
    const counter = getOrMake(counters, outbox, () => ({ base: seen, top: 0 }));
    counter.top = Math.max(counter.top, seen - counter.base);
    return counter.top;
  };
}

/** How many event types of an outbox have a label of their own. */
export const TYPES_MAX = 50;
export const OTHER = 'other';
/** As many characters as a reading keeps of a type. */
const TYPE_LENGTH_MAX = 200;

export type TypeLabels = ReturnType<typeof createTypeLabels>;

/** The first types keep their labels: chosen each time, types would move to and from `other`; a falling total reads as a restart. */
export function createTypeLabels() {
  const outboxes = new Map<string, Map<string, string>>();
  return {
    /** The label of a type: its own for the first 50 of an outbox, `other` for the rest. Never changes while the process runs. */
    labelOf(outbox: string, type: string): string {
      const own = getOrMake(outboxes, outbox, () => new Map<string, string>());
      const known = own.get(type);
      if (known !== undefined) return known;
      const label = type.slice(0, TYPE_LENGTH_MAX).toWellFormed();
      // Prometheus takes an empty label for a missing one.
      if (label === '' || label === OTHER || own.size >= TYPES_MAX) return OTHER;
      own.set(type, label);
      return label;
    },
    /** The types with a label of their own, untruncated, in no particular order. */
    kept: (outbox: string): string[] => [...(outboxes.get(outbox)?.keys() ?? [])],
  };
}
