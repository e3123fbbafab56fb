import type { Db } from '@/lib/database/engine';
import type { Outbox, Place } from '@/lib/outbox/outbox';

/** About how many rows a place has; Infinity for a view, whose rows nobody counts. Reads the catalogue and no row; locks nothing. */
export async function estimateRows(db: Db, outbox: Outbox, place: Place): Promise<number> {
  return place.description.kind === 'table' ? outbox.database.engine.estimateRows(db, place.table) : Infinity;
}
