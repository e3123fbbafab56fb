import type { Summary } from '@/lib/shared/model';

export interface CreatedTotals {
  /** Events created since this process first looked; null while that cannot be said. Never falls. */
  of(outbox: string, folded: number, depth: Summary['depth']): number | null;
}

/**
 * The rollups count an event's creation when it is published, so what is still in the table is added to them. Between its
 * publishing and its folding an event is in neither, and an archived one never comes back: the total then waits until it
 * is passed again. It begins at nothing with each process, as the store could not keep it from falling.
 */
export function createCreatedTotals(): CreatedTotals {
  const counters = new Map<string, { base: number; top: number }>();
  return {
    of(outbox, folded, { waiting, processing, dead }) {
      const counts = [waiting, processing, dead];
      // A state that a table cannot show holds nothing; a count that stopped could be anything.
      if (counts.some(({ known, why }) => known === 'capped' || (known === 'unavailable' && why !== 'not_in_schema'))) return null;
      const seen = counts.reduce((sum, { count }) => sum + (count ?? 0), folded);
      const counter = counters.get(outbox) ?? { base: seen, top: 0 };
      counter.top = Math.max(counter.top, seen - counter.base);
      counters.set(outbox, counter);
      return counter.top;
    },
  };
}
