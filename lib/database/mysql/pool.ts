import { MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, CompiledQuery, type Dialect, type Driver } from 'kysely';
import mysql from 'mysql2';
import { within } from '@/lib/shared/async/within';
import type { Source } from '../connections/share';
import type { PoolOptions } from '../engine';
import { DatabaseFailure } from '../failure';
import { MysqlConnection, sessionOptions } from './connection';
import { mysqlFailure } from './failure';
import type { ServerKind } from './server';

/** A pool for Kysely, with our own driver: time limits need more than the pool of mysql2 offers. */
export function mysqlDialect(options: PoolOptions): Dialect {
  // Throws for an invalid URL now, not at the first statement.
  const session = sessionOptions(options);
  return {
    createAdapter: () => new MysqlAdapter(),
    createDriver: () => driver(options, session),
    createIntrospector: (db) => new MysqlIntrospector(db),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  };
}

function driver(options: PoolOptions, session: mysql.ConnectionOptions): Driver {
  const lane = options.lane(connectionSource(options, session));
  const run = async (connection: MysqlConnection, text: string): Promise<void> => {
    await connection.executeQuery(CompiledQuery.raw(text));
  };
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => lane.acquire(),
    async beginTransaction(connection, settings) {
      // Sessions are READ COMMITTED (`MysqlConnection.open`), so that one statement begins a transaction.
      if (settings.isolationLevel !== undefined && settings.isolationLevel !== 'read committed')
        throw new Error(`no transaction here is ${settings.isolationLevel}`);
      await (connection as MysqlConnection).begin(settings.accessMode === 'read only');
    },
    commitTransaction: (connection) => run(connection as MysqlConnection, 'commit'),
    rollbackTransaction: (connection) => run(connection as MysqlConnection, 'rollback'),
    releaseConnection(connection) {
      const own = connection as MysqlConnection;
      lane.release(own, own.ended());
      return Promise.resolve();
    },
    destroy: () => lane.end(),
  };
}

function connectionSource(options: PoolOptions, session: mysql.ConnectionOptions): Source<MysqlConnection> {
  /** Queried by the first connection, and again after one failed. */
  const known: { kind: ServerKind | null } = { kind: null };
  return {
    failure: mysqlFailure,
    async open(onLost) {
      const raw = mysql.createConnection(session);
      let made: MysqlConnection | null = null;
      const lost = (): void => {
        if (made !== null) onLost(made);
      };
      // An error without a listener, idle or in use, would end the process.
      raw.on('error', (error) => {
        options.onIdleError(error);
        lost();
      });
      raw.on('end', lost);
      try {
        // The driver's connect timeout does not cover a server that accepts the connection and then sends nothing.
        made = await within(MysqlConnection.open(raw, options, known), options.connectTimeoutMs);
        if (made === null) throw new DatabaseFailure('connection', null, new Error(`no connection within ${options.connectTimeoutMs} ms`));
        return made;
      } catch (error) {
        known.kind = null;
        raw.destroy();
        throw error;
      }
    },
    close: (connection) => connection.close(),
  };
}
