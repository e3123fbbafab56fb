import { PostgresDialect, type Dialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { Source } from '../connections/share';
import type { PoolOptions } from '../engine';
import { postgresFailure } from './failure';
import { PostgresSession } from './session';

const { builtins } = pg.types;
/** Everything else stays the text the server sent: bigint, numeric, times and JSON lose digits as JavaScript values. */
const PARSED = new Set<number>([builtins.BOOL, builtins.INT2, builtins.INT4, builtins.FLOAT4, builtins.FLOAT8]);
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return PARSED.has(oid) ? pg.types.getTypeParser(oid, format) : (value: string) => value;
  },
};

export function postgresDialect(options: PoolOptions): Dialect {
  const lane = options.lane(connectionSource(options));
  const pool = {
    async connect() {
      const client = await lane.acquire();
      const session = new PostgresSession(client, options.onIdleError);
      return {
        query: (text: string, values: unknown[]) => session.query(text, values),
        release: () => lane.release(client, session.broken),
      };
    },
    end: () => lane.end(),
  };
  return new PostgresDialect({ pool: pool as unknown as PostgresPool });
}

function connectionSource({ onIdleError, prepare, ...options }: PoolOptions): Source<pg.Client> {
  return {
    failure: postgresFailure,
    async open(onLost) {
      const client = new pg.Client({
        connectionString: options.url,
        application_name: options.applicationName,
        connectionTimeoutMillis: options.connectTimeoutMs,
        query_timeout: options.clientTimeoutMs,
        keepAlive: true,
        // Sends a message without waiting for the answer to the one before.
        pipeline: true,
        types,
      });
      // An error without a listener, idle or in use, would end the process.
      client.on('error', (error) => {
        onIdleError(error);
        onLost(client);
      });
      client.on('end', () => onLost(client));
      await client.connect();
      // Queued before the caller's first statement.
      if (prepare !== undefined) void client.query(prepare).catch(onIdleError);
      return client;
    },
    async close(client) {
      const closed = client.end().catch(onIdleError);
      // Sends the end at once, behind pending queries, as the share gives the place to another connection now.
      client.connection.end();
      await closed;
    },
  };
}
