import { sql } from 'kysely';
import type { DeadLetterGroup } from '@/lib/shared/model';
import { DEPTH_CAP } from '@/lib/shared/measured';
import { statePredicate } from './conditions';
import { livePlaces, type Outbox } from './outbox';
import { placeSql } from './row';

/** Dead rows counted per type and error text; beyond this the counts are of the rows read. */
const GROUPED_ROWS = DEPTH_CAP;
/** Exact texts read at most: most differ in an id only, and the reader counts those together. */
const GROUPS = 2_000;

interface GroupRow {
  type: string | null;
  error: string | null;
  n: string;
  newest: string | null;
  oldest: string | null;
  sample: string;
}

/**
 * Dead events counted by type and error text, most frequent first. Reads GROUPED_ROWS rows at most by the dead
 * predicate; [] where this table cannot show dead events.
 */
export async function countDeadByError(outbox: Outbox): Promise<DeadLetterGroup[]> {
  const { fragments } = outbox.database.engine;
  const selects = livePlaces(outbox).flatMap((place) => {
    const at = placeSql(outbox, place);
    const predicate = place.key === 'dead' ? sql`true` : statePredicate(outbox.shape, ['dead'], at.alias, fragments);
    if (predicate === null) return [];
    const error = at.role('error');
    const errorText = error === null ? sql`cast(null as char(1))` : fragments.head(error.sql, error.description, 300);
    return [
      sql`(select ${at.roleText('id')} as id, ${at.roleText('type')} as type, ${errorText} as error, ${at.roleIso('createdAt')} as created from ${at.from} where ${predicate} limit ${sql.lit(GROUPED_ROWS)})`,
    ];
  });
  if (selects.length === 0) return [];
  return outbox.database.read(async (db) => {
    const { rows } =
      await sql<GroupRow>`select type, error, count(*)::text as n, max(created) as newest, min(created) as oldest, max(id) as sample
      from (${sql.join(selects, sql` union all `)}) as dead group by type, error order by count(*) desc, max(created) desc limit ${sql.lit(GROUPS)}`.execute(
        db,
      );
    return rows.map((row) => ({
      outbox: outbox.id,
      type: row.type,
      error: row.error,
      count: Number(row.n),
      newestAt: row.newest,
      oldestAt: row.oldest,
      sampleEventId: row.sample,
    }));
  });
}
