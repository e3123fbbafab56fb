import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Unseen } from '@/lib/shared/doctor';
import { instantToWall } from '@/lib/shared/text/zoned-time';
import { readMysqlCascades } from './cascades';
import type { Facts, InnodbFacts } from './facts';
import { readMysqlRoles } from './mysql-roles';
import { largestOf, readMysqlTable } from './mysql-table';
import { readRows } from './rows';

const LIMITS = { statementMs: 3_000, lockMs: 500 };

/**
 * Facts of an outbox on MySQL or MariaDB: the catalogue of its tables, the server's counters, and a few bounded looks at
 * rows. Reads no row of the outbox beyond those looks; locks nothing. Throws DatabaseFailure.
 */
export async function readMysqlFacts(outbox: Outbox, now: () => number): Promise<Facts> {
  const { rows, cut } = await readRows(outbox, true);
  const facts = await outbox.database.read(async (db) => {
    const clock = await readClock(db, now);
    const server = await readServer(db);
    const main = await readMysqlTable(db, outbox, outbox.main);
    const dead = outbox.dead === null ? null : await readMysqlTable(db, outbox, outbox.dead);
    const innodb = await readInnodb(db);
    const transactions = await openTransactions(db);
    const unseen: Unseen[] = [
      ...(transactions === null
        ? [{ code: innodb.historyLength === null ? 'server_and_purge' : 'server', cure: `GRANT PROCESS ON *.* TO ${server.account};` }]
        : []),
      ...(main.usesTold ? [] : [{ code: 'index_uses', cure: `GRANT SELECT ON performance_schema.* TO ${server.account};` }]),
      ...(cut ? [{ code: 'rows', cure: null }] : []),
    ];
    return {
      clock,
      statisticsSince: server.upSince,
      zone: { name: server.zone, minutes: server.zoneMinutes, expectedMinutes: minutesAhead(outbox.parameters.timeZone, now()) },
      main,
      dead,
      holders: transactions ?? [],
      slots: null,
      catalogueHolders: [],
      cascades: await readMysqlCascades(db, outbox, [main.table, ...(dead === null ? [] : [dead.table])]),
      sequence: sequenceOf(outbox, main.autoIncrement, rows.largestId, main.table.quoted),
      innodb,
      unseen,
    };
  }, LIMITS);
  const { main, dead, ...others } = facts;
  return {
    ...others,
    main: main.table,
    dead: dead?.table ?? null,
    rows,
    roles: await readMysqlRoles(outbox, [main.table, ...(dead === null ? [] : [dead.table])]),
    hidden: [],
  };
}

async function readClock(db: Db, now: () => number): Promise<Facts['clock']> {
  const before = now();
  const { rows } = await sql<{ at: string }>`select unix_timestamp(sysdate(6)) * 1000 as at`.execute(db);
  const after = now();
  return { aheadMs: Number(rows[0]?.at ?? before) - (before + after) / 2, uncertaintyMs: (after - before) / 2 };
}

interface Server {
  account: string;
  upSince: string | null;
  zone: string;
  zoneMinutes: number;
}

async function readServer(db: Db): Promise<Server> {
  const { rows } = await sql<{ account: string; zone: string; minutes: string | null }>`
    select current_user() as account, @@global.time_zone as zone,
      timestampdiff(minute, utc_timestamp(), convert_tz(utc_timestamp(), '+00:00', @@global.time_zone)) as minutes`.execute(db);
  const status = await statusOf(db, ['Uptime']);
  const [row] = rows;
  const account = row?.account ?? '';
  const at = account.lastIndexOf('@');
  const up = status.get('uptime');
  return {
    account: `'${account.slice(0, at)}'@'${account.slice(at + 1)}'`,
    upSince: up === undefined ? null : new Date(Date.now() - Number(up) * 1_000).toISOString(),
    zone: row?.zone ?? '',
    zoneMinutes: Number(row?.minutes ?? 0),
  };
}

/** Minutes that a zone is ahead of UTC at a moment. */
function minutesAhead(timeZone: string, now: number): number {
  if (/^[+-]\d\d:\d\d$/.test(timeZone))
    return Number(`${timeZone[0] ?? '+'}1`) * (Number(timeZone.slice(1, 3)) * 60 + Number(timeZone.slice(4)));
  return Math.round((Date.parse(`${instantToWall(now, timeZone)}Z`) - now) / 60_000);
}

/** Counters and settings of the server, which every user may read; by name in small letters. */
async function statusOf(db: Db, names: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{
    Variable_name: string;
    Value: string;
  }>`show global status where variable_name in (${sql.join(names)})`.execute(db);
  return new Map(rows.map((row) => [row.Variable_name.toLowerCase(), row.Value]));
}

async function readInnodb(db: Db): Promise<InnodbFacts> {
  const status = await statusOf(db, ['Innodb_history_list_length', 'Innodb_buffer_pool_reads', 'Innodb_buffer_pool_read_requests']);
  const history = status.get('innodb_history_list_length') ?? (await historyOf(db));
  const { rows } = await sql<{
    pool: string;
    mode: string;
  }>`select @@global.innodb_buffer_pool_size as pool, @@global.sql_mode as mode`.execute(db);
  const mode = rows[0]?.mode ?? '';
  const requests = Number(status.get('innodb_buffer_pool_read_requests') ?? 0);
  return {
    historyLength: history == null ? null : Number(history),
    bufferPoolBytes: Number(rows[0]?.pool ?? 0) || null,
    missShare: requests === 0 ? null : Number(status.get('innodb_buffer_pool_reads') ?? 0) / requests,
    requests,
    strict: /STRICT_(TRANS|ALL)_TABLES/i.test(mode),
    zeroDatesAllowed: !/NO_ZERO_DATE/i.test(mode),
  };
}

/** MySQL counts it elsewhere, where only users with PROCESS may look; null for others. */
async function historyOf(db: Db): Promise<string | null> {
  try {
    const { rows } = await sql<{
      n: string;
    }>`select count as n from information_schema.innodb_metrics where name = 'trx_rseg_history_len'`.execute(db);
    return rows[0]?.n ?? null;
  } catch {
    // A refused statement ends no transaction here.
    return null;
  }
}

/** Transactions that are open; null where the user may not see them. */
async function openTransactions(db: Db): Promise<Facts['holders'] | null> {
  try {
    const { rows } = await sql<{ who: string; user: string | null; age: string; state: string }>`
      select t.trx_mysql_thread_id as who, p.user as user, timestampdiff(microsecond, t.trx_started, now(6)) / 1000 as age, t.trx_state as state
      from information_schema.innodb_trx t left join information_schema.processlist p on p.id = t.trx_mysql_thread_id
      where t.trx_mysql_thread_id <> connection_id() and t.trx_mysql_thread_id <> 0 order by t.trx_started limit 20`.execute(db);
    return rows.map((row) => ({
      kind: 'session' as const,
      who: row.who,
      user: row.user ?? '',
      application: '',
      database: '',
      // The session's clock is UTC, the server's transactions begin by its own: a zone ahead looks like a beginning in the future.
      ageMs: Math.max(0, Number(row.age)),
      transactions: 0,
      state: row.state,
      end: `KILL ${row.who};`,
    }));
  } catch {
    return null;
  }
}

function sequenceOf(outbox: Outbox, autoIncrement: string | null, largestId: string | null, quoted: string): Facts['sequence'] {
  const [id, ...others] = outbox.main.id;
  if (id === undefined || others.length > 0 || id.kind !== 'integer') return null;
  const limit = largestOf(id.type);
  const seen = [autoIncrement === null ? null : BigInt(autoIncrement) - 1n, largestId === null ? null : BigInt(largestId)].filter(
    (one) => one !== null,
  );
  if (limit === null || seen.length === 0) return null;
  const last = seen.reduce((a, b) => (b > a ? b : a));
  const { identifier } = outbox.database.engine.quote;
  return {
    column: id.name,
    last: String(last),
    limit: String(limit),
    usedShare: Number((last * 10_000n) / limit) / 10_000,
    widen: /bigint/i.test(id.type) ? null : `ALTER TABLE ${quoted} MODIFY ${identifier(id.name)} bigint unsigned NOT NULL AUTO_INCREMENT;`,
  };
}
