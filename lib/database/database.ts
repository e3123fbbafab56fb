import { hostname } from 'node:os';
import { Kysely } from 'kysely';
import { Problem } from '@/lib/shared/problems';
import type { Db, Engine, TransactionLimits } from './engine';
import { engineForUrl } from './engines';

export interface DatabaseOptions {
  id: string;
  /** The reader's URL. */
  url: string;
  /** The operator's URL; without it nothing in this database can be changed. */
  operatorUrl?: string;
  onIdleError?: (error: Error) => void;
  /** What its readings are called among the server's connections; `reader` when left out. */
  readAs?: string;
}

/** An observed database: two roles, two pools. Reading never borrows the operator's connection. */
export interface Database {
  id: string;
  engine: Engine;
  /** Runs in one read-only transaction with the given limits; failures are DatabaseFailure. */
  read<T>(work: (db: Db) => Promise<T>, limits?: Partial<TransactionLimits>): Promise<T>;
  /** Runs in one read-write transaction of the operator's role; null when there is none. */
  write: (<T>(work: (db: Db) => Promise<T>, limits?: Partial<TransactionLimits>) => Promise<T>) | null;
  /** Names of the roles, from the URLs; for grants. */
  roles: { reader: string; operator: string | null };
  close(): Promise<void>;
}

/** Readings are short by construction; a slow one is cancelled and says so. */
const READ_LIMITS: TransactionLimits = { statementMs: 5_000, lockMs: 500, idleMs: 10_000 };
const WRITE_LIMITS: TransactionLimits = { statementMs: 5_000, lockMs: 500, idleMs: 10_000 };
const READER_MAX = 5;
const OPERATOR_MAX = 4;
const ACQUIRE_TIMEOUT_MS = 3_000;
const CLIENT_TIMEOUT_MS = 8_000;

/** Opens the pools; connects to nothing yet. Throws Problem `invalid` for an unknown URL scheme. */
export function openDatabase(options: DatabaseOptions): Database {
  const engine = engineForUrl(options.url);
  const pool = (url: string, role: string, max: number): Db =>
    new Kysely({
      dialect: engine.dialect({
        url,
        applicationName: `outbox-console/${role}@${hostname()}`.slice(0, 63),
        max,
        acquireTimeoutMs: ACQUIRE_TIMEOUT_MS,
        clientTimeoutMs: CLIENT_TIMEOUT_MS,
        onIdleError: options.onIdleError ?? (() => undefined),
      }),
    });
  const reader = pool(options.url, options.readAs ?? 'reader', READER_MAX);
  const operator = options.operatorUrl === undefined ? null : pool(options.operatorUrl, 'operator', OPERATOR_MAX);

  const run =
    (db: Db, accessMode: 'read only' | 'read write', defaults: TransactionLimits) =>
    async <T>(work: (transaction: Db) => Promise<T>, limits: Partial<TransactionLimits> = {}): Promise<T> => {
      try {
        return await db
          .transaction()
          .setIsolationLevel('read committed')
          .setAccessMode(accessMode)
          .execute(async (transaction) => {
            await engine.limit(transaction, { ...defaults, ...limits });
            return work(transaction);
          });
      } catch (error) {
        // A Problem of ours and a bug of ours pass as they are; what the driver threw gets its code.
        if (error instanceof Problem) throw error;
        const failure = engine.failure(error);
        throw failure.code === 'other' && failure.state === null ? error : failure;
      }
    };

  return {
    id: options.id,
    engine,
    read: run(reader, 'read only', READ_LIMITS),
    write: operator === null ? null : run(operator, 'read write', WRITE_LIMITS),
    roles: { reader: roleOf(options.url), operator: options.operatorUrl === undefined ? null : roleOf(options.operatorUrl) },
    async close() {
      await Promise.all([reader.destroy(), operator?.destroy()]);
    },
  };
}

function roleOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}
