import {
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  CompiledQuery,
  type Dialect,
  type Driver,
  type TransactionSettings,
} from 'kysely';
import mysql from 'mysql2';
import type { PoolOptions } from '../engine';
import { DatabaseFailure } from '../failure';
import { MysqlConnection, sessionOptions } from './connection';
import { mysqlFailure } from './failure';

const IDLE_MS = 30_000;

/** A pool as Kysely sees it. Our own driver, because a limit of time needs more than the pool of mysql2 offers. */
export function mysqlDialect(options: PoolOptions): Dialect {
  return {
    createAdapter: () => new MysqlAdapter(),
    createDriver: () => driver(options),
    createIntrospector: (db) => new MysqlIntrospector(db),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  };
}

function driver(options: PoolOptions): Driver {
  const pool = mysql.createPool({
    ...sessionOptions(options),
    connectionLimit: options.max,
    maxIdle: options.max,
    idleTimeout: IDLE_MS,
    // Our sessions are set up once, and a reset would undo that.
    resetOnRelease: false,
  });
  // A connection that breaks at rest or in our hands would otherwise end the process.
  pool.on('connection', (connection) => connection.on('error', options.onIdleError));
  const known = new WeakMap<mysql.PoolConnection, MysqlConnection>();
  const run = async (connection: MysqlConnection, text: string): Promise<void> => {
    await connection.executeQuery(CompiledQuery.raw(text));
  };
  return {
    init: () => Promise.resolve(),
    async acquireConnection() {
      const raw = await acquire(pool, options.acquireTimeoutMs);
      const ready = known.get(raw);
      if (ready !== undefined) return ready;
      try {
        const connection = await MysqlConnection.open(raw, options);
        known.set(raw, connection);
        return connection;
      } catch (error) {
        raw.destroy();
        throw mysqlFailure(error);
      }
    },
    async beginTransaction(connection, settings: TransactionSettings) {
      const own = connection as MysqlConnection;
      const parts = [settings.isolationLevel === undefined ? '' : `isolation level ${settings.isolationLevel}`, settings.accessMode ?? ''];
      const wanted = parts.filter((part) => part !== '').join(', ');
      if (wanted !== '') await run(own, `set transaction ${wanted}`);
      await run(own, 'begin');
    },
    commitTransaction: (connection) => run(connection as MysqlConnection, 'commit'),
    rollbackTransaction: (connection) => run(connection as MysqlConnection, 'rollback'),
    releaseConnection(connection) {
      (connection as MysqlConnection).release();
      return Promise.resolve();
    },
    destroy: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

/** mysql2 would let one wait for a connection for ever. */
function acquire(pool: mysql.Pool, timeoutMs: number): Promise<mysql.PoolConnection> {
  return new Promise((resolve, reject) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      reject(new DatabaseFailure('connection', null, new Error(`no connection within ${timeoutMs} ms`)));
    }, timeoutMs);
    pool.getConnection((error, connection) => {
      clearTimeout(timer);
      if (error !== null) reject(mysqlFailure(error));
      else if (waiting) resolve(connection);
      else connection.release();
    });
  });
}
