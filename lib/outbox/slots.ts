import { sql, type RawBuilder } from 'kysely';
import type { Outbox } from './outbox';
import { kindOf } from './shape';

/** Parameter of a shape whose table no relay reads: the replication slot its connector reads. */
const SLOT_PARAMETER = 'slot';
/** Its value for every slot of the database. */
const ANY_SLOT = '*';

type Watched = Pick<Outbox, 'shape' | 'parameters' | 'database'>;

/** Whether what is published shows in a replication slot alone: of PostgreSQL, behind a table that nobody reads. */
export const readsFromSlot = ({ shape, database }: Watched): boolean => kindOf(shape) === 'external' && database.engine.key === 'postgres';

/** The slot that the configuration names; null for any of the database's. */
export function slotName({ parameters }: Watched): string | null {
  const name = parameters.extra[SLOT_PARAMETER];
  return name === undefined || name === ANY_SLOT ? null : String(name);
}

/**
 * The logical slots of this database, or the one that is named: a row each of the server's few slots, no table is read and
 * nothing locked. Bytes are of log between what the slot keeps, or has been told is through, and where the server is; what
 * only newer servers tell is null.
 */
export function slotRows(outbox: Watched): RawBuilder<unknown> {
  const name = slotName(outbox);
  const end = sql`case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end`;
  return sql`select s.slot_name::text as name, coalesce(s.plugin::text, '') as plugin, s.active,
      pg_wal_lsn_diff(${end}, s.restart_lsn)::float8 as retained_bytes, pg_wal_lsn_diff(${end}, s.confirmed_flush_lsn)::float8 as unconfirmed_bytes,
      to_jsonb(s) ->> 'wal_status' as status, nullif(to_jsonb(s) ->> 'invalidation_reason', '') as invalidated,
      case when not s.active then (extract(epoch from clock_timestamp() - (to_jsonb(s) ->> 'inactive_since')::timestamptz) * 1000)::float8 end as inactive_ms
    from pg_replication_slots s where s.slot_type = 'logical' and s.database = current_database()${name === null ? sql`` : sql` and s.slot_name = ${name}`}`;
}
