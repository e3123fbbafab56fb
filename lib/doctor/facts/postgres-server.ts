import { sql } from 'kysely';
import type { Db, Engine } from '@/lib/database/engine';
import type { CatalogueHolder, Facts, SnapshotHolder, TableFacts } from './facts';

const HOLDERS_SHOWN = 20;

/** Left out where the role may not see slots: naming the view would fail the statement. */
const SLOT_HOLDERS = `union all select case when active and slot_type = 'physical' then 'standby' else 'slot' end, slot_name::text, '', coalesce(plugin::text, slot_type), coalesce(database::text, ''), null, age(xmin)::float8, case when active then 'active' else 'inactive' end
    from pg_replication_slots where xmin is not null`;

/**
 * Transactions whose snapshot keeps row versions of this database alive, oldest first. A row per connection, prepared
 * transaction, slot and standby that tells of its queries; times of other roles' sessions need pg_read_all_stats, their snapshots do not.
 */
export async function readHolders(db: Db, quote: Engine['quote'], seesSlots: boolean): Promise<SnapshotHolder[]> {
  const { rows } = await sql<Omit<SnapshotHolder, 'end'>>`
    select case when datname is null then 'standby' else 'session' end as kind,
      case when datname is null then coalesce(nullif(application_name, ''), pid::text) else pid::text end as who, coalesce(usename::text, '') as "user", coalesce(application_name, '') as application, coalesce(datname::text, '') as database,
      (extract(epoch from clock_timestamp() - xact_start) * 1000)::float8 as "ageMs", greatest(age(backend_xmin), age(backend_xid))::float8 as transactions, state
    from pg_stat_activity where (backend_xmin is not null or backend_xid is not null) and (datname = current_database() or (datname is null and backend_type = 'walsender')) and pid <> pg_backend_pid()
      and coalesce(backend_type, '') <> 'autovacuum worker' and coalesce(query, '') !~* '^\\s*(vacuum|create\\s+(unique\\s+)?index\\s+concurrently|reindex)'
    union all select 'prepared', gid, owner::text, '', database::text, (extract(epoch from clock_timestamp() - prepared) * 1000)::float8, age(transaction)::float8, null
    from pg_prepared_xacts where database = current_database()
    ${seesSlots ? sql.raw(SLOT_HOLDERS) : sql``}
    order by transactions desc limit ${sql.lit(HOLDERS_SHOWN)}`.execute(db);
  return rows.map((row) => ({ ...row, end: endOf(row, quote) }));
}

/** Slots whose reader has not confirmed what the catalogue was like, longest first; one that was taken away keeps nothing. A row per slot. */
export async function readCatalogueHolders(db: Db): Promise<CatalogueHolder[]> {
  const { rows } = await sql<CatalogueHolder>`
    select slot_name::text as slot, database::text as database, active, age(catalog_xmin)::float8 as transactions
    from pg_replication_slots where catalog_xmin is not null and (xmin is null or age(catalog_xmin) > age(xmin)) and wal_status is distinct from 'lost'
    order by transactions desc limit ${sql.lit(HOLDERS_SHOWN)}`.execute(db);
  return rows;
}

function endOf({ kind, who }: Pick<SnapshotHolder, 'kind' | 'who'>, { literal }: Engine['quote']): string | null {
  // Ended here it comes back with the same snapshot: it is a query over there that needs it.
  if (kind === 'standby') return null;
  if (kind === 'session') return `SELECT pg_terminate_backend(${who});`;
  return kind === 'prepared' ? `ROLLBACK PREPARED ${literal(who)};` : `SELECT pg_drop_replication_slot(${literal(who)});`;
}

/** Policies that keep rows of these tables from the reader; one that lets everything through hides nothing. By oid. */
export async function readHidden(db: Db, tables: readonly TableFacts[]): Promise<Facts['hidden']> {
  const restricts = sql`exists (select from pg_policy p where p.polrelid = t.name::regclass and not p.polpermissive and p.polcmd in ('r', '*') and pg_get_expr(p.polqual, p.polrelid) <> 'true'
    and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as r(role) where r.role <> 0 and pg_has_role(r.role, 'USAGE'))))`;
  const { rows } = await sql<{ table: string; policies: number; restricted: boolean }>`
    select t.name as table, (select count(*) from pg_policy p where p.polrelid = t.name::regclass)::int as policies, ${restricts} as restricted from unnest(${tables.map(({ quoted }) => quoted)}::text[]) as t(name)
    where row_security_active(t.name::regclass) and (not exists (select from pg_policy p where p.polrelid = t.name::regclass and p.polpermissive and p.polcmd in ('r', '*')
        and pg_get_expr(p.polqual, p.polrelid) = 'true' and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as r(role) where r.role <> 0 and pg_has_role(r.role, 'USAGE'))))
      or ${restricts})`.execute(db);
  return rows;
}
