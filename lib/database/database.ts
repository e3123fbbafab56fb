import { hostname } from 'node:os';
import { Kysely } from 'kysely';
import type { ConnectionRole } from '@/lib/shared/connections';
import { Problem } from '@/lib/shared/problems';
import { createServers, type Connections, type Servers } from './connections/servers';
import type { Engine, TransactionLimits } from './engine';
import type { Db } from './description';
import { engineForUrl, tooOld } from './engines';
import { DatabaseFailure } from './failure';

export interface DatabaseOptions {
  id: string;
  url: string;
  /** The operator's URL; without it nothing in this database can be changed. */
  operatorUrl?: string;
  onIdleError?: (error: Error) => void;
  /** Name of the reading connections on the server, `reader` by default. `collector` has a share of connections of its own. */
  readAs?: string;
  /** Connection limits per server, shared by its databases; limits of its own if left out. */
  servers?: Servers;
}

/** An observed database with a reader and an operator role. Reads never use the operator's connections. */
export type Database = ReturnType<typeof openDatabase>;

/** Whether a database answers, and the connections it takes. */
export interface DatabaseStatus extends Connections {
  /** Server name and version, e.g. `PostgreSQL 16.4`; null before its first answer. */
  version: string | null;
}

/** Transactions are short by design; a slow one is cancelled and fails as `timeout`. */
const LIMITS: TransactionLimits = { statementMs: 5_000, lockMs: 500, idleMs: 10_000 };
/** Shorter than connecting may take: other content reads queue behind it. */
const CONTENT_LIMITS: TransactionLimits = { ...LIMITS, statementMs: 2_500 };
/** Most connections of one database by role, within the limits of its server. */
const MOST: Record<ConnectionRole, number> = { reader: 5, content: 1, collector: 4, operator: 4 };
const CONNECT_TIMEOUT_MS = 3_000;
/** Longest wait while all connections are in use. CLIENT_TIMEOUT_MS is shorter: a server that stopped answering is noticed before. */
const IN_LINE_MS = 10_000;
const CLIENT_TIMEOUT_MS = 8_000;

/** Opens the pools; connects to nothing yet. Throws Problem `invalid` for an unknown URL scheme. */
export function openDatabase(options: DatabaseOptions) {
  const engine: Engine = engineForUrl(options.url);
  const servers = options.servers ?? createServers();
  const pool = (url: string, role: ConnectionRole, name: string): Db =>
    new Kysely({
      dialect: engine.dialect({
        url,
        applicationName: `outbox-console/${name}@${hostname()}`.slice(0, 63),
        lane: (source) => servers.lane({ database: options.id, url, role }, source, { max: MOST[role], acquireTimeoutMs: IN_LINE_MS }),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        clientTimeoutMs: CLIENT_TIMEOUT_MS,
        onIdleError: (error) => options.onIdleError?.(engine.failure(error)),
      }),
    });
  const reader = pool(options.url, options.readAs === 'collector' ? 'collector' : 'reader', options.readAs ?? 'reader');
  const content = pool(options.url, 'content', 'content');
  const operator = options.operatorUrl === undefined ? null : pool(options.operatorUrl, 'operator', 'operator');

  let version: string | null = null;

  const run =
    (db: Db, accessMode: 'read only' | 'read write', defaults: TransactionLimits) =>
    async <T>(work: (transaction: Db) => Promise<T>, limits: Partial<TransactionLimits> = {}): Promise<T> => {
      try {
        return await db
          .transaction()
          .setIsolationLevel('read committed')
          .setAccessMode(accessMode)
          .execute(async (transaction) => {
            const all = { ...defaults, ...limits };
            // The first transaction also reads the version, so it has two statements.
            await engine.limit(transaction, version === null ? { ...all, alone: false } : all);
            version ??= await engine.version(transaction);
            return work(transaction);
          });
      } catch (error) {
        // Our own problems and bugs pass unchanged; errors of the driver become DatabaseFailure.
        if (error instanceof Problem) throw error;
        const failure = engine.failure(error);
        if (failure.code === 'other' && failure.state === null) throw error;
        const outdated = tooOld(version, failure.state);
        throw outdated === null ? failure : new DatabaseFailure('outdated', failure.state, failure.cause, outdated);
      }
    };

  return {
    id: options.id,
    engine,
    /** Runs in one read-only transaction with the given limits; failures are DatabaseFailure. */
    read: run(reader, 'read only', LIMITS),
    /** As `read`, for values that may be megabytes: one at a time, on a connection reserved for it if the server's limit leaves one. */
    readContent: run(content, 'read only', CONTENT_LIMITS),
    /** Runs in one read-write transaction of the operator's role; null without an operator URL. */
    write: operator === null ? null : run(operator, 'read write', LIMITS),
    roles: { reader: roleOf(options.url), operator: options.operatorUrl === undefined ? null : roleOf(options.operatorUrl) },
    /** Resolves if the database is reachable, throws DatabaseFailure if not; connects only if neither is known. */
    async reachable(): Promise<void> {
      if (servers.connections(options.id)?.state === 'up') return;
      // Getting a connection is the check; it is released at once.
      await reader.connection().execute(() => Promise.resolve());
    },
    /** The last known state; sends nothing to the database. */
    status(): DatabaseStatus {
      const connections = servers.connections(options.id);
      if (connections === null) throw new Error(`Database ${options.id} has no connections`);
      return { ...connections, version };
    },
    async close(): Promise<void> {
      await Promise.all([reader.destroy(), content.destroy(), operator?.destroy()]);
    },
  };
}

const roleOf = (url: string): string => decodeURIComponent(new URL(url).username);
