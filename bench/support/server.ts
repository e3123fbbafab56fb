/**
 * The server the benchmarks run on: PostgreSQL's own binaries in a temporary folder, gone afterwards. No write waits for
 * the disk (fsync off), so nothing here says how fast a disk commits; pages touched are the same either way.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from '@/lib/store/embedded/embedded-postgres';

const MEGABYTE = 1_048_576;

/** Programs by the role they log in with; the server writes down what they execute, with its plan. */
export const ROLES = ['console', 'collector', 'fleet', 'naive', 'peer', 'service'] as const;
export type Role = (typeof ROLES)[number];
/** Where statements are counted, their plans would only cost. */
const UNOBSERVED: readonly Role[] = ['collector', 'fleet', 'service'];

export interface BenchServer {
  pid: number;
  /** File the server writes statements and plans to. */
  log: string;
  /** Settings other than the server's defaults. */
  settings: Record<string, string>;
  version: string;
  superuserUrl(database: string): string;
  url(database: string, role: Role): string;
  /** One statement as superuser on a connection of its own. */
  query<T extends pg.QueryResultRow>(database: string, text: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

/** A quarter of the memory as PostgreSQL's manual advises, 2 GB at the most. */
function sharedBuffersMegabytes(): number {
  return Math.min(2_048, Math.floor(os.totalmem() / MEGABYTE / 4));
}

export async function startBenchServer(baseDir: string): Promise<BenchServer> {
  const dir = await mkdtemp(path.join(baseDir, 'outbox-console-bench-'));
  const settings: Record<string, string> = {
    ...THROWAWAY_SETTINGS,
    shared_buffers: `${sharedBuffersMegabytes()}MB`,
    maintenance_work_mem: '512MB',
    max_wal_size: '8GB',
    checkpoint_timeout: '30min',
    // A table made and filled in one transaction then writes no log.
    wal_level: 'minimal',
    max_wal_senders: '0',
    autovacuum_naptime: '10s',
    shared_preload_libraries: 'pg_stat_statements,auto_explain',
    'pg_stat_statements.max': '10000',
    'pg_stat_statements.track_planning': 'on',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    // Reading the clock at every row would cost more than the row.
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    'auto_explain.log_parameter_max_length': '200',
    log_line_prefix: '@@%u|%p|%a|',
  };
  const server = await startEmbeddedPostgres({ dir, settings });
  const superuserUrl = server.superuserUrl;
  const query: BenchServer['query'] = async (database, text, values) => {
    const client = new pg.Client({ connectionString: superuserUrl(database), application_name: 'bench' });
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  for (const role of ROLES) {
    await query('postgres', `CREATE ROLE ${role} LOGIN PASSWORD 'bench' IN ROLE pg_read_all_data`);
    if (!UNOBSERVED.includes(role)) await query('postgres', `ALTER ROLE ${role} SET auto_explain.log_min_duration = 0`);
  }
  const [version] = await query<{ server_version: string }>('postgres', 'SHOW server_version');
  return {
    pid: server.pid,
    log: path.join(dir, 'postgres.log'),
    settings,
    version: version?.server_version ?? '',
    superuserUrl,
    url(database, role) {
      const url = new URL(superuserUrl(database));
      url.username = role;
      url.password = 'bench';
      return url.href;
    },
    query,
    async stop() {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
