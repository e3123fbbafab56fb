import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';

/** About how many rows a place has; Infinity for a view, whose rows nobody counts. Reads the catalogue and no row; locks nothing. */
export async function estimateRows(db: Db, outbox: Outbox, place: Place): Promise<number> {
  return place.description.kind === 'table' ? outbox.database.engine.estimateRows(db, place.table) : Infinity;
}
