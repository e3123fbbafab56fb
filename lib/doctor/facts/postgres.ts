import { sql, type RawBuilder } from 'kysely';
import type { Engine } from '@/lib/database/engine';
import { UNCOUNTED_ROWS_PER_PAGE } from '@/lib/database/postgres/describe';
import { integerRange } from '@/lib/database/column-text';
import type { Db } from '@/lib/database/description';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { statusColumns } from '@/lib/shape/reason';
import { tablesRead } from '@/lib/outbox/rights/rights';
import { readsFromSlot, SLOTS_READ, slotName, slotRights, slotRows } from '@/lib/outbox/replication-slots/seen';
import type { Unseen } from '@/lib/shared/doctor';
import { tablesOf, type ColumnFacts, type Facts, type IndexFacts, type SlotFacts, type TableFacts } from './facts';
import { oldRows } from './old-rows';
import { readHidden, readRoles } from './postgres-rights';
import { readRows } from './rows';

/** Catalogue and statistics only: what takes longer than this waits for a lock. */
const LIMITS = { statementMs: 3_000, lockMs: 500 };
/** At most this many snapshot holders, and foreign keys, are shown. */
const SHOWN = 20;

/** A few bounded reads of rows, then one transaction of catalogue and statistics; locks nothing. Throws DatabaseFailure. */
export async function readPostgresFacts(outbox: Outbox): Promise<Facts> {
  const { quote } = outbox.database.engine;
  const { rows, cut } = await readRows(outbox);
  return outbox.database.read(async (db): Promise<Facts> => {
    const { role, seesSessions, statisticsSince, ...zone } = await readServer(db, outbox.parameters.timeZone);
    const main = await readTable(db, outbox, outbox.main);
    const dead = outbox.dead === null ? null : await readTable(db, outbox, outbox.dead);
    const tables = tablesOf({ main, dead });
    const { slots, may: seesSlots, unseen } = await readSlots(db, outbox);
    if (!seesSessions) unseen.push({ code: 'sessions', cure: `GRANT pg_read_all_stats TO ${quote.identifier(role)};` });
    if (cut) unseen.push({ code: 'rows', cure: null });
    const holders = await readHolders(db, quote, seesSlots);
    const catalogueHolders = seesSlots ? await readCatalogueHolders(db, quote) : [];
    const roles = await readRoles(db, outbox, tables);
    const hidden = await readHidden(db, tables);
    const cascades = await readCascades(db, outbox, tables);
    const ofTables = { main, dead, rows, old: oldRows(outbox, db), hidden, cascades };
    return { statisticsSince, zone, ...ofTables, holders, catalogueHolders, slots, roles, purge: null, unseen };
  }, LIMITS);
}

type Server = Pick<Facts, 'statisticsSince'> & Facts['zone'] & { role: string; seesSessions: boolean };

async function readServer(db: Db, timeZone: string): Promise<Server> {
  const { rows } = await sql<Server>`
    select current_user::text as role, to_char(s.stats_reset at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "statisticsSince",
      current_setting('TimeZone') as name, (extract(timezone from now()) / 60)::float8 as minutes,
      (extract(epoch from (now() at time zone ${timeZone}) - (now() at time zone 'UTC')) / 60)::float8 as "expectedMinutes",
      pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') as "seesSessions"
    from pg_stat_database s where s.datname = current_database()`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the server has no statistics of its own database');
  return row;
}

type TableRow = Pick<TableFacts, 'tableBytes' | 'heapBytes' | 'indexBytes' | 'rows'> & Record<'kind' | 'writes' | 'vacuum', string>;

/** By oid, partitions included. Sizes come from the file system; reads no row of the table. */
async function readTable(db: Db, outbox: Outbox, place: Place): Promise<TableFacts> {
  const { identifier } = outbox.database.engine.quote;
  const quoted = `${identifier(place.table.schema ?? 'public')}.${identifier(place.table.table)}`;
  const { kind, writes, vacuum, rows, ...sizes } = await tableRow(db, quoted);
  const partitioned = kind === 'p';
  const columns = await readColumns(db, outbox, place, quoted, partitioned);
  const facts = { ...sizes, place, quoted, columns, indexes: await readIndexes(db, quoted), partitioned, storage: null };
  if (kind !== 'r' && kind !== 'p') return { ...facts, rows: null, writes: null, vacuum: null };
  const counted = { writes: JSON.parse(writes) as TableFacts['writes'], vacuum: JSON.parse(vacuum) as TableFacts['vacuum'] };
  return { ...facts, rows, ...counted };
}

async function tableRow(db: Db, quoted: string): Promise<TableRow> {
  const setting = (name: string) =>
    sql`coalesce((select o.option_value from leaf, pg_options_to_table(leaf.reloptions) as o where o.option_name = ${sql.lit(name)} limit 1), current_setting(${sql.lit(name)}))::float8`;
  const named = sql`quote_ident(n.nspname) || '.' || quote_ident(leaf.relname)`;
  const off = sql`exists (select from pg_options_to_table(leaf.reloptions) as o where o.option_name = 'autovacuum_enabled' and not o.option_value::bool)`;
  const leavesThat = (test: RawBuilder<unknown>) =>
    sql`(select coalesce(json_agg(${named} order by leaf.relname), '[]') from leaf join pg_namespace n on n.oid = leaf.relnamespace where ${test})`;
  const { rows } = await sql<TableRow>`
    with own as (select * from pg_class where oid = ${quoted}::regclass),
      tree as (select oid from own union select relid from own, pg_partition_tree(own.oid) where own.relkind = 'p'),
      leaf as (select c.* from tree join pg_class c using (oid) where c.relkind in ('r', 'm')),
      counted as (select coalesce(sum(n_tup_ins), 0)::float8 as inserts, coalesce(sum(n_tup_upd), 0)::float8 as updates, coalesce(sum(n_tup_hot_upd), 0)::float8 as hot_updates,
          coalesce(sum(n_tup_del), 0)::float8 as deletes, coalesce(sum(n_dead_tup), 0)::float8 as dead_rows, max(greatest(last_vacuum, last_autovacuum)) as vacuumed
        from leaf join pg_stat_all_tables s on s.relid = leaf.oid),
      sized as (select coalesce(sum(pg_table_size(oid)), 0)::float8 as table_bytes, coalesce(sum(pg_relation_size(oid)), 0)::float8 as heap_bytes,
          coalesce(sum(pg_indexes_size(oid)), 0)::float8 as index_bytes,
          coalesce(sum(case when relpages > 0 and reltuples >= 0 then reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::int)
            when n_tup_ins > n_tup_del then n_tup_ins - n_tup_del
            else ${sql.lit(UNCOUNTED_ROWS_PER_PAGE)} * (pg_relation_size(oid) / current_setting('block_size')::int) end), 0)::float8 as rows
        from leaf left join pg_stat_all_tables s on s.relid = leaf.oid)
    select own.relkind::text as kind, table_bytes as "tableBytes", heap_bytes as "heapBytes", index_bytes as "indexBytes", rows,
      json_build_object('inserts', inserts, 'updates', updates, 'hotUpdates', hot_updates, 'deletes', deletes)::text as writes,
      json_build_object('deadRows', dead_rows, 'vacuumedAt', to_char(vacuumed at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'startsAtRows', ${setting('autovacuum_vacuum_threshold')} + ${setting('autovacuum_vacuum_scale_factor')} * rows,
        'enabled', current_setting('autovacuum')::bool and current_setting('track_counts')::bool,
        'switchedOff', ${leavesThat(off)}, 'unlogged', ${leavesThat(sql`leaf.relpersistence = 'u'`)})::text as vacuum
    from own, counted, sized`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`${quoted} is not in the catalogue`);
  return row;
}

type ColumnRow = Pick<ColumnFacts, 'name' | 'type' | 'defaultText' | 'averageBytes' | 'nullShare' | 'smallestSeen' | 'largestSeen'> & {
  frequent: string[] | null;
  shares: number[] | null;
};

/** Columns with the planner's statistics; frequent values only of those that are judged by value. */
async function readColumns(db: Db, outbox: Outbox, place: Place, quoted: string, partitioned: boolean): Promise<Map<string, ColumnFacts>> {
  const judged = new Set<string>(statusColumns(outbox.shape).keys());
  for (const role of ['createdAt', 'publishedAt', 'attempts'] as const) {
    const bound = place.roles[role];
    if (bound !== undefined && bound.path.length === 0) judged.add(bound.column.name);
  }
  // pg_stats is queried by name, and once: in a join it is read whole if the planner does not know the catalogue.
  const { rows } = await sql<{ columns: string }>`
    with stats as materialized (select s.attname, s.avg_width, s.null_frac, case when s.attname = any(${[...judged]}::text[]) then s.most_common_vals::text::text[] end as frequent,
        case when s.attname = any(${[...judged]}::text[]) then s.most_common_freqs end as shares, case when s.attname = any(${[...judged]}::text[]) then s.histogram_bounds::text::text[] end as bounds
      from pg_stats s where s.schemaname = ${place.table.schema ?? 'public'} and s.tablename = ${place.table.table} and s.inherited = ${partitioned})
    select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null), 'defaultText', pg_get_expr(f.adbin, f.adrelid),
      'averageBytes', s.avg_width * (1 - s.null_frac), 'frequent', s.frequent, 'shares', s.shares, 'nullShare', coalesce(s.null_frac, 0),
      'smallestSeen', s.bounds[1], 'largestSeen', s.bounds[array_upper(s.bounds, 1)])), '[]')::text as columns
    from pg_attribute a left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum left join stats s on s.attname = a.attname
    where a.attrelid = ${quoted}::regclass and a.attnum > 0 and not a.attisdropped`.execute(db);
  const columns = (JSON.parse(rows[0]?.columns ?? '[]') as ColumnRow[]).map(({ shares, frequent, ...column }): ColumnFacts => ({
    ...column,
    largest: integerRange(column.type)?.[1].toString() ?? null,
    frequent: (frequent ?? []).map((value, at) => ({ value, share: shares?.[at] ?? 0 })),
    caseless: false,
  }));
  return new Map(columns.map((column) => [column.name, column]));
}

/** An index that is being built is not valid yet either, but its build holds a lock on the table. */
const UNFINISHED = `not x.indisvalid and not exists (select from pg_locks l where l.relation = x.indrelid and l.mode = 'ShareUpdateExclusiveLock' and l.pid <> pg_backend_pid())`;

async function readIndexes(db: Db, quoted: string): Promise<IndexFacts[]> {
  const { rows } = await sql<{ indexes: string }>`
    select coalesce(json_agg(json_build_object('name', i.relname, 'definition', pg_get_indexdef(i.oid), 'method', m.amname, 'unique', x.indisunique,
      'valid', x.indisvalid, 'unfinished', ${sql.raw(UNFINISHED)}, 'predicate', pg_get_expr(x.indpred, x.indrelid),
      'columns', (select coalesce(json_agg(coalesce(a.attname, '') order by k.at), '[]') from unnest(x.indkey::int2[]) with ordinality as k(attnum, at)
        left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum and k.attnum > 0 where k.at <= x.indnkeyatts),
      'bytes', t.bytes, 'entries', t.entries, 'scans', t.scans) order by i.relname), '[]')::text as indexes
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam
      cross join lateral (select coalesce(sum(pg_relation_size(l.oid)), 0)::float8 as bytes, case when bool_or(l.reltuples < 0) then null else sum(l.reltuples)::float8 end as entries,
          coalesce(sum(u.idx_scan), 0)::float8 as scans
        from (select i.oid as oid union select relid from pg_partition_tree(i.oid) where i.relkind = 'I') as tree join pg_class l on l.oid = tree.oid and l.relkind = 'i'
          left join pg_stat_all_indexes u on u.indexrelid = l.oid) as t
    where x.indrelid = ${quoted}::regclass`.execute(db);
  return JSON.parse(rows[0]?.indexes ?? '[]') as IndexFacts[];
}

/** The replication slots of an outbox whose relay reads the log, null for others, and whether the role may see any. */
async function readSlots(db: Db, outbox: Outbox): Promise<{ slots: Facts['slots']; may: boolean; unseen: Unseen[] }> {
  const { quote } = outbox.database.engine;
  const { may, role, standby } = await slotRights(db);
  if (!may) {
    const to = quote.identifier(role);
    const cure = `GRANT SELECT ON pg_catalog.pg_replication_slots TO ${to}; GRANT EXECUTE ON FUNCTION pg_catalog.pg_get_replication_slots(), pg_catalog.pg_current_wal_lsn() TO ${to};`;
    return { slots: null, may, unseen: [{ code: 'slots', cure }] };
  }
  if (!readsFromSlot(outbox)) return { slots: null, may, unseen: [] };
  const { rows } = await sql<Omit<SlotFacts, 'drop'>>`
    select name, plugin, active, "retainedBytes", "unconfirmedBytes", status, invalidated, "inactiveMs"
    from (${slotRows(outbox)}) as slots order by name limit ${sql.lit(SLOTS_READ)}`.execute(db);
  const found = rows.map((row) => ({ ...row, drop: dropSlot(row.name, quote) }));
  return { slots: { wanted: slotName(outbox), standby, found }, may, unseen: [] };
}

const dropSlot = (name: string, { literal }: Engine['quote']): string => `SELECT pg_drop_replication_slot(${literal(name)});`;

/** Left out if the role may not see slots: naming the view would fail the statement. */
const SLOT_HOLDERS = `union all select case when active and slot_type = 'physical' then 'standby' else 'slot' end, slot_name::text, '', coalesce(plugin::text, slot_type), null, age(xmin)::float8, case when active then 'active' else 'inactive' end
    from pg_replication_slots where xmin is not null`;

/** Transactions whose snapshot keeps row versions alive, oldest first; autovacuum's have no user. Ages of other roles' sessions need pg_read_all_stats. */
export async function readHolders(db: Db, quote: Engine['quote'], seesSlots: boolean): Promise<Facts['holders']> {
  const { rows } = await sql<Omit<Facts['holders'][number], 'end'>>`
    select case when datname is null then 'standby' else 'session' end as kind,
      case when datname is null then coalesce(nullif(application_name, ''), pid::text) else pid::text end as who, coalesce(usename::text, '') as "user", coalesce(application_name, '') as application,
      (extract(epoch from clock_timestamp() - xact_start) * 1000)::float8 as "ageMs", greatest(age(backend_xmin), age(backend_xid))::float8 as transactions, state
    from pg_stat_activity where (backend_xmin is not null or backend_xid is not null) and (datname = current_database() or (datname is null and backend_type = 'walsender')) and pid <> pg_backend_pid()
      and usesysid is not null and coalesce(query, '') !~* '^\\s*(vacuum|create\\s+(unique\\s+)?index\\s+concurrently|reindex)'
    union all select 'prepared', gid, owner::text, '', (extract(epoch from clock_timestamp() - prepared) * 1000)::float8, age(transaction)::float8, null
    from pg_prepared_xacts where database = current_database()
    ${seesSlots ? sql.raw(SLOT_HOLDERS) : sql``}
    order by transactions desc limit ${sql.lit(SHOWN)}`.execute(db);
  const ends: Record<Facts['holders'][number]['kind'], (who: string) => string | null> = {
    session: (who) => `SELECT pg_terminate_backend(${who});`,
    prepared: (who) => `ROLLBACK PREPARED ${quote.literal(who)};`,
    slot: (who) => dropSlot(who, quote),
    // Ended here, it reconnects with the same snapshot: a query on the standby needs it.
    standby: () => null,
  };
  return rows.map((row) => ({ ...row, end: ends[row.kind](row.who) }));
}

/** Slots that keep old catalogue rows for longer than table rows, oldest first; a lost slot keeps none. One row per slot. */
export async function readCatalogueHolders(db: Db, quote: Engine['quote']): Promise<Facts['catalogueHolders']> {
  const { rows } = await sql<Omit<Facts['catalogueHolders'][number], 'drop'>>`
    select slot_name::text as slot, database::text as database, active, age(catalog_xmin)::float8 as transactions
    from pg_replication_slots where catalog_xmin is not null and (xmin is null or age(catalog_xmin) > age(xmin)) and wal_status is distinct from 'lost'
    order by transactions desc limit ${sql.lit(SHOWN)}`.execute(db);
  return rows.map((row) => ({ ...row, drop: dropSlot(row.slot, quote) }));
}

/** Foreign keys that delete events of these tables with a row of another table. Catalogue only, by oid. */
async function readCascades(db: Db, outbox: Outbox, tables: readonly TableFacts[]): Promise<Facts['cascades']> {
  const { identifier } = outbox.database.engine.quote;
  const own = tablesRead(outbox).map((name) => quotedName(outbox.database.engine, name));
  const { rows } = await sql<{ table: string; key: string; from: string; whole: boolean }>`
    select t.name as table, c.conname::text as key, format('%I.%I', n.nspname, r.relname) as "from", c.conparentid = 0 as whole
    from unnest(${tables.map(({ quoted }) => quoted)}::text[]) as t(name) join pg_constraint c on c.conrelid = t.name::regclass
      join pg_class r on r.oid = c.confrelid join pg_namespace n on n.oid = r.relnamespace
    where c.contype = 'f' and c.confdeltype = 'c' and coalesce(to_jsonb(c) ->> 'conenforced', 'true') <> 'false'
      and c.confrelid not in (select o.name::regclass from unnest(${own}::text[]) as o(name))
    order by 1, 2 limit ${sql.lit(SHOWN)}`.execute(db);
  // A partition has the keys of its table: they are dropped there.
  const drop = (table: string, key: string): string => `ALTER TABLE ${table} DROP CONSTRAINT ${identifier(key)};`;
  return rows.map(({ whole, ...row }) => ({ ...row, drop: whole ? drop(row.table, row.key) : null }));
}
