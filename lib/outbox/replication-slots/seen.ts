import { sql, type RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { DatabaseFailure } from '@/lib/database/failure';
import { insertedCount } from '@/lib/database/postgres/describe';
import { createOnce, type Once } from '@/lib/shared/async/once';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import { perObject } from '@/lib/shared/kept';
import type { Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { kindOf } from '@/lib/shape/shape';

/** Parameter of shapes with an external relay: the replication slot its connector reads. */
const SLOT_PARAMETER = 'slot';
const ANY_SLOT = '*';
/** Slots in a reading at most; few servers allow more. */
export const SLOTS_READ = 20;
/** A connector that restarts is back within this. */
export const RESTART_MS = 60_000;

type Watched = Pick<Outbox, 'shape' | 'parameters' | 'database'>;

/** How figures observe the relay of an outbox whose table does not show it. */
export interface SlotSight {
  /** The configured slot; null for whichever a connector of the database seems to read. */
  wanted: string | null;
  /** Why no slot can be read; null if they can. */
  why: Extract<UnavailableReason, 'no_slots' | 'slots_hidden' | 'slots_elsewhere'> | null;
}

/** Whether publishing shows in a replication slot alone: PostgreSQL, with a relay that does not use the table. */
export const readsFromSlot = ({ shape, database }: Watched): boolean => kindOf(shape) === 'external' && database.engine.key === 'postgres';

/** The configured slot; null for any of the database's. */
export function slotName({ parameters }: Pick<Watched, 'parameters'>): string | null {
  const name = parameters.extra[SLOT_PARAMETER];
  return name === undefined || name === ANY_SLOT ? null : String(name);
}

/** Whether the server has slots and the role may read them: by default all roles may; wire-compatible servers have none. One row. */
export async function slotRights(db: Db): Promise<{ has: boolean; may: boolean; role: string; standby: boolean }> {
  const { rows } = await sql<{ has: boolean; may: boolean; role: string; standby: boolean }>`
    select to_regclass('pg_catalog.pg_replication_slots') is not null as has, current_user::text as role, pg_is_in_recovery() as standby,
      coalesce(has_table_privilege(to_regclass('pg_catalog.pg_replication_slots'), 'SELECT')
        and has_function_privilege(to_regprocedure('pg_catalog.pg_get_replication_slots()'), 'EXECUTE')
        and has_function_privilege(to_regprocedure('pg_catalog.pg_current_wal_lsn()'), 'EXECUTE'), false) as may`.execute(db);
  return rows[0] ?? { has: false, may: false, role: '', standby: false };
}

const onceOf = perObject<Place, Once>(createOnce);

/** How figures observe the relay's slot, read once per binding; null if rows show what is published. Throws DatabaseFailure. */
export async function slotSight(outbox: Outbox): Promise<SlotSight | null> {
  if (kindOf(outbox.shape) !== 'external') return null;
  // A binary log has no slots: its readers store their own positions.
  if (!readsFromSlot(outbox)) return { wanted: slotName(outbox), why: 'no_slots' };
  return onceOf(outbox.main)([], () => outbox.database.read((db) => askedSight(db, outbox)));
}

async function askedSight(db: Db, outbox: Outbox): Promise<SlotSight> {
  const wanted = slotName(outbox);
  const { has, may, standby } = await slotRights(db);
  if (!may) return { wanted, why: has ? 'slots_hidden' : 'no_slots' };
  const refusal = await refusalOf(db, outbox);
  if (refusal === null) return { wanted, why: null };
  return { wanted, why: refusal === 'no_privilege' ? 'slots_hidden' : standby ? 'slots_elsewhere' : 'no_slots' };
}

/** Errors of servers that hide their slots or have none; these are codes before `read` considers the server's age. */
const TELLS_NOTHING: readonly DatabaseFailure['code'][] = ['no_privilege', 'missing', 'other'];

/** Runs the statement of every reading once: hosted servers refuse parts that the catalogue grants. null if it works. */
async function refusalOf(db: Db, outbox: Watched & Pick<Outbox, 'main'>): Promise<DatabaseFailure['code'] | null> {
  await sql`savepoint slots_asked`.execute(db);
  try {
    await sql`select ${slotsSeen(outbox)} as seen`.execute(db);
    return null;
  } catch (error) {
    const { code } = outbox.database.engine.failure(error);
    if (!TELLS_NOTHING.includes(code)) throw error;
    await sql`rollback to savepoint slots_asked`.execute(db);
    return code;
  }
}

/** The end of the log; on a standby what it has replayed, as its tables show nothing newer. */
const logEnd = sql`case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end`;

/** This database's logical slots, or the named one. Bytes are of log behind the server; columns of newer servers are null on older ones. */
export function slotRows(outbox: Watched): RawBuilder<unknown> {
  const name = slotName(outbox);
  return sql`select s.slot_name::text as name, coalesce(s.plugin::text, '') as plugin, s.active, s.temporary,
      coalesce((to_jsonb(s) ->> 'synced')::boolean, false) as synced,
      pg_wal_lsn_diff(${logEnd}, s.restart_lsn)::float8 as "retainedBytes", pg_wal_lsn_diff(${logEnd}, s.confirmed_flush_lsn)::float8 as "unconfirmedBytes",
      pg_wal_lsn_diff(s.confirmed_flush_lsn, '0/0')::float8 as "confirmedTo", (to_jsonb(s) ->> 'safe_wal_size')::float8 as "safeBytes",
      to_jsonb(s) ->> 'wal_status' as status, nullif(to_jsonb(s) ->> 'invalidation_reason', '') as invalidated,
      case when not s.active then to_jsonb(s) ->> 'inactive_since' end as "inactiveSince",
      case when not s.active then (extract(epoch from clock_timestamp() - (to_jsonb(s) ->> 'inactive_since')::timestamptz) * 1000)::float8 end as "inactiveMs"
    from pg_replication_slots s where s.slot_type = 'logical' and s.database = current_database()${name === null ? sql`` : sql` and s.slot_name = ${name}`}`;
}

/** A logical replication slot as a reading saw it; bytes count the server's whole log, of which events are only a part. */
export interface SlotSeen {
  name: string;
  /** The output plugin that decodes the log for its reader. */
  plugin: string;
  /** A reader is connected to it. */
  active: boolean;
  /** Belongs to one connection and ends with it. */
  temporary: boolean;
  /** A standby's copy of its primary's slot. */
  synced: boolean;
  /** Log that the server keeps for it; null once removed. */
  retainedBytes: number | null;
  /** Log that its reader has not confirmed. */
  unconfirmedBytes: number | null;
  /** The confirmed position, in bytes since the log began; shows only whether it moves. */
  confirmedTo: number | null;
  /** Log that can still be written before the server may remove what the slot needs; null without such a limit. */
  safeBytes: number | null;
  /** The server's `wal_status`; null before PostgreSQL 13. */
  status: string | null;
  /** Why the server invalidated it; null if it did not, and before PostgreSQL 17. */
  invalidated: string | null;
  /** Since when it has no reader, as the server prints it; null while it has one, and before PostgreSQL 17. */
  inactiveSince: string | null;
}

export interface SlotsSeen {
  /** The console reads a standby, where the primary's slots do not show. */
  standby: boolean;
  /** Rows ever inserted into the table, rolled back or not, since the server's statistics were reset; seconds late. null for a view. */
  inserted: number | null;
  slots: SlotSeen[];
}

/** `SlotsSeen` as one JSON value: at most SLOTS_READ slots by name, and the table's counter; reads no rows of tables. */
export function slotsSeen(outbox: Watched & Pick<Outbox, 'main'>): RawBuilder<unknown> {
  const { table, description } = outbox.main;
  const inserted = description.kind === 'table' ? insertedCount(table) : sql`null::float8`;
  return sql`(select json_build_object('standby', pg_is_in_recovery(), 'inserted', ${inserted}, 'slots', coalesce(json_agg(row_to_json(s) order by s.name), '[]'::json))
    from (select * from (${slotRows(outbox)}) as every_slot order by name limit ${sql.lit(SLOTS_READ)}) as s)`;
}

/** The server removed log that the slot needed: nothing can be read from it any more. */
export const isLost = ({ status, invalidated }: Pick<SlotSeen, 'status' | 'invalidated'>): boolean =>
  status === 'lost' || invalidated !== null;
