import { PostgresDialect, type Dialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { Source } from '../connections/share';
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
 * Connections that never go back once they are broken: after a client-side timeout the server may still be working on the
 * old statement, and its answer would be read as the next one's.
 */
export function postgresDialect(options: PoolOptions): Dialect {
  const lane = options.lane(connectionSource(options));
  const pool = {
    async connect() {
      const client = await lane.acquire();
      let broken = false;
      return {
        query: async (...args: Parameters<typeof client.query>) => {
          try {
            return await (client.query as (...a: unknown[]) => Promise<unknown>).apply(client, args);
          } catch (error) {
            if (postgresFailure(error).code === 'connection') broken = true;
            throw error;
          }
        },
        release: () => lane.release(client, broken),
      };
    },
    end: () => lane.end(),
  };
  return new PostgresDialect({ pool: pool as unknown as PostgresPool });
}

function connectionSource({
  url,
  applicationName,
  connectTimeoutMs,
  clientTimeoutMs,
  onIdleError,
  prepare,
}: PoolOptions): Source<pg.Client> {
  return {
    failure: postgresFailure,
    async open(onLost) {
      const client = new pg.Client({
        connectionString: url,
        application_name: applicationName,
        connectionTimeoutMillis: connectTimeoutMs,
        query_timeout: clientTimeoutMs,
        keepAlive: true,
        types,
      });
      // One that breaks at rest or in our hands would otherwise end the process.
      client.on('error', (error) => {
        onIdleError(error);
        onLost(client);
      });
      client.on('end', () => onLost(client));
      await client.connect();
      // Queued before the first statement of whoever asked for the connection.
      if (prepare !== undefined) void client.query(prepare).catch(onIdleError);
      return client;
    },
    async close(client) {
      await client.end().catch(onIdleError);
    },
  };
}
