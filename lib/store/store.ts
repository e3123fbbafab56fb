/** The console's own PostgreSQL: its pool, with every timeout set, and its migrations. */
import { hostname } from 'node:os';
import { CamelCasePlugin, Kysely, Migrator, sql, type Transaction, type UnknownRow } from 'kysely';
import { Availability } from '@/lib/database/connections/availability';
import { lanesOfOwn, type Lane } from '@/lib/database/connections/share';
import { DatabaseFailure } from '@/lib/database/failure';
import { postgresDialect } from '@/lib/database/postgres/pool';
import { MIGRATIONS } from './migrations';
import type { StoreTables } from './tables';

const POOL_MAX = 10;
const CONNECT_TIMEOUT_MS = 3_000;
/** Longer than any statement may take: waiting callers are served as long as the store answers. */
const IN_LINE_MS = 30_000;
const CLIENT_TIMEOUT_MS = 10_000;
/** Below the client's timeout, so that the server gives up first and reports it. */
const SESSION = `set timezone = 'UTC'; set statement_timeout = '8s'; set lock_timeout = '3s'; set idle_in_transaction_session_timeout = '10s'`;
const MIGRATION_TIMEOUT_MS = 120_000;
const MIGRATION_SESSION = `set timezone = 'UTC'; set statement_timeout = '110s'; set lock_timeout = '100s'; set idle_in_transaction_session_timeout = '110s'`;

export type StoreDb = Kysely<StoreTables>;
export type StoreTransaction = Transaction<StoreTables>;

/** The store's clock, at the begin of the transaction. */
export const NOW = sql<string>`now()`;

export type Store = ReturnType<typeof openStore>;

/** Rows with camel-case names and times in ISO 8601 UTC, with every digit of the store. */
class RowsAsRead extends CamelCasePlugin {
  protected override mapRow(row: UnknownRow): UnknownRow {
    const read = super.mapRow(row);
    for (const [name, value] of Object.entries(read))
      if (/((^a|A)t|[uU]ntil)$/.test(name) && typeof value === 'string') read[name] = iso(value);
    return read;
  }
}

/** `2026-11-21 09:49:03.123456+00` → `2026-11-21T09:49:03.123456Z`: the store's sessions use UTC. */
const iso = (text: string): string => `${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`;

type Opening = { max: number; clientTimeoutMs: number; prepare: string; onIdleError: (error: Error) => void };

function open(url: string, { max, ...options }: Opening): StoreDb {
  return new Kysely<StoreTables>({
    plugins: [new RowsAsRead()],
    dialect: postgresDialect({
      url,
      applicationName: `outbox-console/store@${hostname()}`.slice(0, 63),
      lane: (source) => ofStore(lanesOfOwn(max, IN_LINE_MS, new Availability())(source)),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      ...options,
    }),
  });
}

/** Opens the pool; connects at the first statement. */
export function openStore(url: string, onIdleError: (error: Error) => void = () => undefined) {
  const db = open(url, {
    max: POOL_MAX,
    clientTimeoutMs: CLIENT_TIMEOUT_MS,
    prepare: SESSION,
    onIdleError: (error) => onIdleError(new DatabaseFailure('connection', null, error, null, true)),
  });
  return { db, close: () => db.destroy() };
}

/** Marks failures to connect as those of the store. */
function ofStore<C>(lane: Lane<C>): Lane<C> {
  return {
    release: (connection, broken) => lane.release(connection, broken),
    end: () => lane.end(),
    acquire: () =>
      lane.acquire().catch((error: unknown) => {
        throw error instanceof DatabaseFailure ? new DatabaseFailure(error.code, error.state, error.cause, error.outdated, true) : error;
      }),
  };
}

export type MigrationResult =
  | { ok: true; applied: string[] }
  /** `unreachable`: the store did not answer. `newer`: a later version of the console has migrated it. */
  | { ok: false; why: 'unreachable' | 'newer' | 'failed'; detail: string; cause: unknown };

const provider = { getMigrations: () => Promise.resolve(MIGRATIONS) };

/** Migrates the store, all or nothing: one replica works under an advisory lock, the others wait. */
export async function migrateStore(url: string): Promise<MigrationResult> {
  const db = open(url, { max: 2, clientTimeoutMs: MIGRATION_TIMEOUT_MS, prepare: MIGRATION_SESSION, onIdleError: () => undefined });
  try {
    const { error, results } = await new Migrator({ db, provider }).migrateToLatest();
    if (error === undefined) return { ok: true, applied: (results ?? []).map((result) => result.migrationName) };
    const text = error instanceof Error ? error.message : String(error);
    if (/corrupted migrations/.test(text)) {
      return { ok: false, why: 'newer', detail: 'a newer version of the console has changed this store; run that version', cause: error };
    }
    const reachable = (results ?? []).length > 0;
    return { ok: false, why: reachable ? 'failed' : 'unreachable', detail: text, cause: error };
  } finally {
    await db.destroy();
  }
}

/** Whether every migration of this build is applied; throws if the store does not answer. */
export async function isUpToDate(store: Store): Promise<boolean> {
  const migrations = await new Migrator({ db: store.db, provider }).getMigrations();
  return migrations.every((migration) => migration.executedAt !== undefined);
}
