import { sql, type RawBuilder } from 'kysely';
import type { DeadLetterGroup } from '@/lib/shared/model';
import { positionedRows } from './list-sql';
import { listOrder } from './list-order';
import { unlimited, walksOf } from './list-walks';
import type { Outbox } from './outbox';
import type { PlaceSql } from './row';

/** Dead events counted per type and error text: the newest. Beyond this the counts are of the rows read. */
const GROUPED_ROWS = 1_000;
/** So much of an error's beginning tells its cause. */
export const GROUPED_ERROR_CHARACTERS = 300;

interface GroupRow {
  type: string | null;
  error: string | null;
  n: string;
  newest: string | null;
  oldest: string | null;
  sample: string;
}

/**
 * The newest GROUPED_ROWS dead events counted by type and error text, most frequent first. Read by the index on dead
 * rows where there is one, no more than a search reads where there is none; [] where this table cannot show dead events.
 */
export async function countDeadByError(outbox: Outbox): Promise<DeadLetterGroup[]> {
  const walks = unlimited(walksOf(outbox, listOrder(outbox), { state: ['dead'] }).walks);
  const columns = (at: PlaceSql): RawBuilder<unknown> => {
    const error = at.role('error');
    const errorText =
      error === null
        ? sql`cast(null as char(1))`
        : outbox.database.engine.fragments.head(error.sql, error.description, GROUPED_ERROR_CHARACTERS);
    return sql`${at.id.text} as id, ${at.roleText('type')} as type, ${errorText} as error, ${at.roleIso('createdAt')} as created`;
  };
  const newest = { direction: 'newest', after: null, until: null, limit: GROUPED_ROWS } as const;
  const rows = (['keyed', 'unkeyed'] as const)
    .map((stretch) => positionedRows(outbox, walks, { ...newest, stretch }, columns))
    .filter((select) => select !== null)
    .map((select) => sql`(select id, type, error, created from (${select}) as dead)`);
  if (rows.length === 0) return [];
  const { fragments } = outbox.database.engine;
  // A collation takes texts for the same that are not, and so does an end of spaces even byte by byte.
  const exactly = (name: string): RawBuilder<unknown> => sql`${fragments.bytewise(sql.id(name))}, octet_length(${sql.id(name)})`;
  return outbox.database.read(async (db) => {
    await outbox.database.engine.byIndex(db);
    const counted =
      await sql<GroupRow>`select min(type) as type, min(error) as error, ${fragments.asText(sql`count(*)`)} as n, max(created) as newest, min(created) as oldest, max(id) as sample
      from (${sql.join(rows, sql` union all `)}) as dead group by ${exactly('type')}, ${exactly('error')} order by count(*) desc, ${fragments.ordered(sql`max(created)`, 'descending', 'last')}`.execute(
        db,
      );
    return counted.rows.map((row) => ({
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
