import { sql, type RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { DeadEvent } from '@/lib/shared/lists/dead-letter-groups';
import type { Cursor } from './cursor';
import { listOrder } from './order';
import { stretches } from './page';
import { positionedRows, type ListRow } from './sql';
import { unlimited, walksOf, type Walk } from './walks';
import type { Outbox } from '../outbox';
import { LIST_ERROR_CHARACTERS, type PlaceSql } from '../rows/row';

/** Dead events that are looked at for their causes: the newest. Beyond this counts are of the rows read. */
export const DEAD_LOOKED_AT = 1_000;

/** A dead event as far as its cause needs it, with its place in the list. */
export interface DeadRow extends DeadEvent, Pick<ListRow, 'place' | 'position' | 'position_at'> {
  /** The row's own version, where it was asked for. */
  exact?: string;
}

/**
 * The newest DEAD_LOOKED_AT dead events, each with as much of its error as a list shows and, where asked for, its version.
 * Read by the index on dead rows where there is one, no more than a search reads where there is none; [] where this
 * table cannot show dead events.
 */
export async function newestDead(outbox: Outbox, versions: boolean): Promise<DeadRow[]> {
  const { walks } = walksOf(outbox, listOrder(outbox), { state: ['dead'] });
  return outbox.database.read(async (db) => {
    await outbox.database.engine.byIndex(db);
    return deadRows(outbox, db, { walks, direction: 'newest', stretches: stretches(walks, 'newest', null), versions });
  });
}

interface DeadSpan {
  walks: readonly Walk[];
  direction: Cursor['order'];
  stretches: ReturnType<typeof stretches>;
  versions: boolean;
}

/** The next DEAD_LOOKED_AT dead events of these walks, in the order of the list. */
export async function deadRows(outbox: Outbox, db: Db, span: DeadSpan): Promise<DeadRow[]> {
  const { direction } = span;
  const walks = unlimited(span.walks);
  const rows: DeadRow[] = [];
  for (const { stretch, after } of span.stretches) {
    const limit = DEAD_LOOKED_AT - rows.length;
    if (limit === 0) break;
    const statement = positionedRows(outbox, walks, { stretch, direction, after, until: null, limit }, causeColumns(outbox, span.versions));
    if (statement !== null) rows.push(...(await sql<DeadRow>`${statement}`.execute(db)).rows);
  }
  return rows;
}

function causeColumns({ database }: Outbox, versions: boolean) {
  return (at: PlaceSql): RawBuilder<unknown> => {
    const error = at.role('error');
    const text =
      error === null ? sql`cast(null as char(1))` : database.engine.fragments.head(error.sql, error.description, LIST_ERROR_CHARACTERS);
    return sql`${at.id.text} as id, ${at.roleText('type')} as type, ${text} as error, ${at.roleIso('createdAt')} as ${sql.id('createdAt')}${versions ? sql`, ${at.exact} as exact` : sql``}`;
  };
}
