import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Unseen } from '@/lib/shared/doctor';
import { readCascades } from './cascades';
import type { Facts, SequenceFacts } from './facts';
import { readSlots } from './postgres-slots';
import { readRoles } from './postgres-roles';
import { readCatalogueHolders, readHolders, readHidden } from './postgres-server';
import { largestOf, quotedTable, readTable } from './postgres-table';
import { readRows } from './rows';

/** Catalogue and statistics only: what takes longer than this waits for somebody's lock. */
const LIMITS = { statementMs: 3_000, lockMs: 500 };

/**
 * Facts of an outbox on PostgreSQL: one transaction of catalogue and statistics, then a few bounded looks at rows.
 * Reads no row of the outbox beyond those looks; locks nothing. Throws DatabaseFailure.
 */
export async function readPostgresFacts(outbox: Outbox, now: () => number): Promise<Facts> {
  const { rows, cut } = await readRows(outbox, false);
  const facts = await outbox.database.read(async (db) => {
    const clock = await readClock(db, now);
    const server = await readServer(db, outbox.parameters.timeZone);
    const main = await readTable(db, outbox, outbox.main);
    const dead = outbox.dead === null ? null : await readTable(db, outbox, outbox.dead);
    const { slots, may: seesSlots, unseen: unseenSlots } = await readSlots(db, outbox);
    const unseen: Unseen[] = [
      ...unseenSlots,
      ...(server.sees_sessions
        ? []
        : [{ code: 'sessions', cure: `GRANT pg_read_all_stats TO ${outbox.database.engine.quote.identifier(server.role)};` }]),
      ...(cut ? [{ code: 'rows', cure: null }] : []),
    ];
    return {
      clock,
      statisticsSince: server.statistics_since,
      zone: { name: server.zone, minutes: server.zone_minutes, expectedMinutes: server.expected_minutes },
      main,
      dead,
      holders: await readHolders(db, outbox.database.engine.quote, seesSlots),
      catalogueHolders: seesSlots ? await readCatalogueHolders(db) : [],
      slots,
      roles: await readRoles(db, outbox, dead === null ? [main] : [main, dead]),
      sequence: await readSequence(db, outbox, rows.largestId),
      hidden: await readHidden(db, dead === null ? [main] : [main, dead]),
      cascades: await readCascades(db, outbox, dead === null ? [main] : [main, dead]),
      unseen,
    };
  }, LIMITS);
  return { ...facts, rows, innodb: null };
}

async function readClock(db: Db, now: () => number): Promise<Facts['clock']> {
  const before = now();
  const { rows } = await sql<{ at: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`.execute(db);
  const after = now();
  return { aheadMs: (rows[0]?.at ?? before) - (before + after) / 2, uncertaintyMs: (after - before) / 2 };
}

interface ServerRow {
  role: string;
  statistics_since: string | null;
  zone: string;
  zone_minutes: number;
  expected_minutes: number;
  sees_sessions: boolean;
}

async function readServer(db: Db, timeZone: string): Promise<ServerRow> {
  const { rows } = await sql<ServerRow>`
    select current_user::text as role, to_char(s.stats_reset at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as statistics_since,
      current_setting('TimeZone') as zone, (extract(timezone from now()) / 60)::float8 as zone_minutes,
      (extract(epoch from (now() at time zone ${timeZone}) - (now() at time zone 'UTC')) / 60)::float8 as expected_minutes,
      pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') as sees_sessions
    from pg_stat_database s where s.datname = current_database()`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the server has no statistics of its own database');
  return row;
}

/**
 * How much of the id's numbers is used up: by the sequence behind the column, or by the largest key where the role may not
 * look at the sequence. One row of the catalogue, one of the sequence.
 */
async function readSequence(db: Db, outbox: Outbox, largestId: string | null): Promise<SequenceFacts | null> {
  const [id, ...others] = outbox.main.id;
  const limitOfType = id === undefined ? null : largestOf(id.type);
  if (id === undefined || others.length > 0 || limitOfType === null) return null;
  const { identifier } = outbox.database.engine.quote;
  const quoted = quotedTable(outbox, outbox.main);
  const { rows } = await sql<{ sequence: string; largest: string; last: string | null }>`
    select s.seqrelid::regclass::text as sequence, s.seqmax::text as largest,
      case when has_sequence_privilege(s.seqrelid, 'SELECT, USAGE') then pg_sequence_last_value(s.seqrelid)::text end as last
    from pg_sequence s where s.seqincrement > 0 and s.seqrelid in (
      select pg_get_serial_sequence(${quoted}, ${id.name})::regclass
      union select d.refobjid from pg_attrdef f join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = f.oid
        join pg_attribute a on a.attrelid = f.adrelid and a.attnum = f.adnum
        where f.adrelid = ${quoted}::regclass and a.attname = ${id.name} and d.refclassid = 'pg_class'::regclass)`.execute(db);
  const [row] = rows;
  const last = [row?.last, largestId]
    .flatMap((text) => (text == null ? [] : [BigInt(text)]))
    .reduce<bigint | null>((a, b) => (a === null || b > a ? b : a), null);
  if (last === null) return null;
  const ownLimit = row === undefined ? limitOfType : BigInt(row.largest);
  const limit = ownLimit < limitOfType ? ownLimit : limitOfType;
  return {
    column: id.name,
    last: String(last),
    limit: String(limit),
    usedShare: Number((last * 10_000n) / limit) / 10_000,
    widen:
      id.type === 'bigint' && ownLimit >= limitOfType
        ? null
        : [
            ...(row === undefined ? [] : [`ALTER SEQUENCE ${row.sequence} AS bigint MAXVALUE 9223372036854775807;`]),
            ...(id.type === 'bigint' ? [] : [`ALTER TABLE ${quoted} ALTER COLUMN ${identifier(id.name)} TYPE bigint;`]),
          ].join('\n'),
  };
}
