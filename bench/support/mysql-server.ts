/** The MySQL or MariaDB server a benchmark runs on, found or installed as the tests do; gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import mysql from 'mysql2/promise';
import { startMariadb } from '@/scripts/testing/mariadb';

export interface MysqlBenchServer {
  /** Which server it is: `MariaDB 10.11.19`. */
  version: string;
  /** A login that may do everything in `database`. */
  url(database: string): string;
  /** One statement, on a connection of its own. */
  query<T>(database: string | null, text: string): Promise<T[]>;
  stop(): Promise<void>;
}

/** Memory as PostgreSQL's server has it here: a quarter of the machine's, 2 GB at the most. */
const poolMegabytes = (): number => Math.min(2_048, Math.floor(os.totalmem() / 1_048_576 / 4));

export async function startMysqlBenchServer(baseDir: string): Promise<MysqlBenchServer> {
  const dir = await mkdtemp(path.join(baseDir, 'outbox-console-bench-mysql-'));
  const server = await startMariadb(dir, {
    settings: [`--innodb-buffer-pool-size=${poolMegabytes()}M`, '--loose-innodb-log-file-size=1G'],
  });
  const url = (database: string | null): string => {
    const made = new URL(server.url);
    made.pathname = `/${database ?? ''}`;
    return made.href;
  };
  const query = async <T>(database: string | null, text: string): Promise<T[]> => {
    const connection = await mysql.createConnection({
      uri: url(database),
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
    });
    try {
      const [rows] = await connection.query(text);
      return rows as T[];
    } finally {
      await connection.end();
    }
  };
  const [found] = await query<{ version: string }>(null, 'select version() as version');
  const [number = ''] = (found?.version ?? '').split('-');
  return {
    version: `${found?.version.includes('MariaDB') ? 'MariaDB' : 'MySQL'} ${number}`,
    url,
    query,
    async stop() {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export interface Handled {
  /** Rows and index entries the storage engine handed over, of tables and of what is made on the way. */
  rows: number;
  /** Pages of 16 kB touched, in memory or not. */
  pages: number;
}

/** What the server did while `work` ran. Nobody else may use it meanwhile; asking for the counters is left out. */
export async function handledDuring(server: MysqlBenchServer, work: () => Promise<unknown>): Promise<Handled> {
  const first = await counters(server);
  const second = await counters(server);
  await work();
  const third = await counters(server);
  const own = (name: keyof Handled): number => third[name] - second[name] - (second[name] - first[name]);
  return { rows: own('rows'), pages: Math.max(0, own('pages')) };
}

async function counters(server: MysqlBenchServer): Promise<Handled> {
  const found = await server.query<{ Variable_name: string; Value: string }>(
    null,
    `show global status where variable_name like 'Handler\\_read%' or variable_name = 'Innodb_buffer_pool_read_requests'`,
  );
  const total = (handlers: boolean): number =>
    found
      .filter(({ Variable_name: name }) => name.startsWith('Handler') === handlers)
      .reduce((sum, { Value: value }) => sum + Number(value), 0);
  return { rows: total(true), pages: total(false) };
}
