import { PostgresDialect, type Dialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { PoolOptions } from '../engine';
import { postgresFailure } from './failure';

const { builtins } = pg.types;
/** Everything else stays the text the server sent: bigint, numeric, times and JSON lose digits as JavaScript values. */
const PARSED = new Set<number>([builtins.BOOL, builtins.INT2, builtins.INT4, builtins.FLOAT4, builtins.FLOAT8]);
const asSent = (value: string): string => value;
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return PARSED.has(oid) ? pg.types.getTypeParser(oid, format) : asSent;
  },
};

/**
 * A pool whose broken connections never go back into it: after a client-side timeout the server may still be working
 * on the old statement, and its answer would be read as the next one's.
 */
export function postgresDialect(options: PoolOptions): Dialect {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max,
    connectionTimeoutMillis: options.acquireTimeoutMs,
    query_timeout: options.clientTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types,
  });
  pool.on('error', options.onIdleError);
  // The pool listens to idle clients only: one that breaks in our hands would end the process.
  pool.on('connect', (client) => client.on('error', options.onIdleError));
  const { prepare } = options;
  // Queued before the first statement of whoever asked for the connection.
  if (prepare !== undefined) pool.on('connect', (client) => void client.query(prepare).catch(options.onIdleError));
  const guarded = {
    async connect() {
      const client = await pool.connect();
      let broken = false;
      return {
        query: async (...args: Parameters<typeof client.query>) => {
          try {
            return await (client.query as (...a: unknown[]) => Promise<unknown>)(...args);
          } catch (error) {
            if (postgresFailure(error).code === 'connection') broken = true;
            throw error;
          }
        },
        release: () => client.release(broken),
      };
    },
    end: () => pool.end(),
  };
  return new PostgresDialect({ pool: guarded as unknown as PostgresPool });
}
