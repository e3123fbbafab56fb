import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql } from '@/lib/outbox/rows/row';
import { publishedFrom, publishedIn, type Span } from './fold-sql';
import { MINUTE, microsOf } from './instants';
import { publishedColumn, type Access } from './method';

/** Where an index has no order, the oldest row is found to within this. */
const NEAR = 60 * MINUTE;

/**
 * When the oldest row of a span was published, in microseconds; null when there is none. One row of the index that is in the
 * order of publishing, a dozen looks at one of blocks, one pass over a table that is read whole.
 */
export async function oldestPublished(db: Db, outbox: Outbox, access: Access, span: Span): Promise<number | null> {
  const at = placeSql(outbox, outbox.main);
  const column = publishedColumn(outbox);
  const instant = at.roleInstant('publishedAt');
  if (column === null || instant === null) return null;
  if (access !== 'blocks') {
    const { rows } = await sql<{
      at: string;
    }>`select ${outbox.database.engine.fragments.instantText(instant)} as at from ${publishedFrom(outbox)} where ${publishedIn(outbox, span)}
      order by ${at.column(column)} limit 1`.execute(db);
    return rows[0] === undefined ? null : microsOf(rows[0].at);
  }
  const anyBefore = async (to: number): Promise<boolean> => {
    const { rows } =
      await sql`select 1 from ${publishedFrom(outbox)} where ${publishedIn(outbox, { from: span.from, to })} limit 1`.execute(db);
    return rows.length > 0;
  };
  if (!(await anyBefore(span.to))) return null;
  let [none, some] = [span.from, span.to];
  while (some - none > NEAR) {
    const middle = Math.floor((none + some) / 2);
    if (await anyBefore(middle)) some = middle;
    else none = middle;
  }
  return none;
}
