/** What operators did to an outbox of late, by the records in its own database: figures leave their rows out of what the relay does. */
import { sql } from 'kysely';
import { LINE_DEAD, recordTables } from './companions';
import type { Outbox } from './outbox';
import type { Sql } from './scan/sql-terms';

/** Figures heed what was done within this time. */
export const ACTED_SECONDS = 86_400;
/** So many of the newest interventions, 200 events each. */
export const ACTED_MAX = 100;

/** A changed event of an intervention; `id` is null for one that changed none, but held rows locked. */
export interface ActedRow extends Record<'act' | 'at' | 'operation' | 'actor', string> {
  id: string | null;
  /** 1 if it was dead before, or came back dead; so are those of records that do not say. */
  dead: number | string;
}

/** Served by the index on (outbox, at, id) and the lines' primary key; reads 20,000 lines at the most and locks nothing. */
export function actedRows({ id, database: { engine } }: Outbox): Sql<ActedRow> {
  const { fragments, companions, features } = engine;
  const { headers, events } = recordTables(engine);
  const { columns } = companions;
  const at = fragments.instant(sql.ref('h.at'), columns.time, 'UTC');
  const newest = sql`select ${sql.ref('id')}, ${sql.ref('at')}, ${sql.ref('operation')}, ${sql.ref('actor_name')} from ${fragments.from(headers, 'i')}
    where ${fragments.isLiteral(sql.ref('outbox'), [id], columns.name)} and ${sql.ref('at')} >= ${fragments.secondsBefore(fragments.now(), ACTED_SECONDS)}
    order by ${sql.ref('at')} desc limit ${sql.lit(ACTED_MAX)}`;
  return sql<ActedRow>`select ${fragments.asText(sql.ref('h.id'), columns.id)} as act, ${features.sharesSubqueries ? at : fragments.instantText(at)} as at,
    h.operation as operation, h.actor_name as actor, ${fragments.bytewise(sql`left(e.event_id, 200)`)} as id,
    case when ${fragments.jsonText(sql.ref('e.detail'), [LINE_DEAD], columns.json)} = 'false' then 0 else 1 end as dead
    from (${newest}) as h left join ${fragments.from(events, 'e')} on e.intervention_id = h.id and e.code is null`;
}
