/**
 * Vitest's global setup of the projects `db` and `race`: one MariaDB (or MySQL) for the run, in a folder and on
 * a port of its own. Databases of failed test files stay (scripts/testing/mysql.ts), and
 * with them the folder; otherwise nothing is left.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { TestProject } from 'vitest/node';
import { freePort } from '@/lib/store/embedded/processes';
import { ensureMariadb, type MariadbBinaries } from './mariadb-binaries';
import { makeDataFolder } from './data-folder';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a login that may do everything, of no database in particular. */
    mysqlUrl: string;
  }
}

const START_TIMEOUT_MS = 600_000;

/** Nothing here outlives the run, so no write waits for the disk. */
const SETTINGS = [
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  '--skip-log-bin',
  '--character-set-server=utf8mb4',
  '--default-time-zone=+00:00',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=256M',
  // MariaDB has the one, MySQL the other.
  '--loose-innodb-log-file-size=64M',
  '--loose-innodb-redo-log-capacity=64M',
  // MySQL's packages expect a folder of their own for files that are read in and written out.
  '--secure-file-priv=',
  '--max-connections=200',
  // The server would take a file if a client sent one: whether ours does is what a test asks.
  '--local-infile=1',
  '--performance-schema=1',
  '--performance-schema-digests-size=200',
  '--performance-schema-max-table-instances=500',
  '--performance-schema-session-connect-attrs-size=1024',
];

export interface MariadbServer {
  /** A login that may do everything; holds its password. */
  url: string;
  stop(): Promise<void>;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = makeDataFolder('oc-maria-');
  const server = await startMariadb(dir);
  project.provide('mysqlUrl', server.url);
  return async () => {
    const kept = await keptDatabases(server.url);
    await server.stop();
    if (kept.length === 0) await rm(dir, { recursive: true, force: true });
    else console.error(`Kept for a look, data folder ${dir}: ${kept.join(', ')}`);
  };
}

export interface MariadbOptions {
  /** Parameters after the usual ones. */
  settings?: readonly string[];
  /** False for a server that knows no rights (`--skip-grant-tables`): MySQL is reached by its socket only then. */
  grants?: boolean;
  /** The zone of the server's process (`TZ`); that of this process if left out. */
  zone?: string;
}

/** Makes a data folder in `dir` and starts a server on it. It ends with this process, however that ends. */
export async function startMariadb(dir: string, { settings = [], grants = true, zone }: MariadbOptions = {}): Promise<MariadbServer> {
  const binaries = ensureMariadb();
  const data = path.join(dir, 'data');
  await mkdir(path.join(dir, 'tmp'), { recursive: true });
  await prepare(binaries, data);
  const password = randomBytes(12).toString('hex');
  const init = path.join(dir, 'init.sql');
  // A user of its own: what root may do from where differs between servers and versions.
  await writeFile(
    init,
    `CREATE USER 'tester'@'127.0.0.1' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO 'tester'@'127.0.0.1' WITH GRANT OPTION;\n`,
  );
  const port = await freePort();
  const socket = path.join(dir, 's');
  const log = path.join(dir, 'server.log');
  const parameters = [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${path.join(dir, 'tmp')}`,
    `--socket=${socket}`,
    `--pid-file=${path.join(dir, 'pid')}`,
    `--port=${port}`,
    grants ? `--init-file=${init}` : '--skip-grant-tables',
    `--log-error=${log}`,
    ...asUser(),
    ...SETTINGS,
    ...settings,
  ];
  const program = keepWhileAlive('env', [...(zone === undefined ? [] : [`TZ=${zone}`]), binaries.server, ...parameters]);
  const url = `mysql://tester:${password}@127.0.0.1:${port}/${grants ? '' : `?socket=${encodeURIComponent(socket)}`}`;
  const ended = new Promise<void>((resolve) => program.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    program.stdin?.end();
    await ended;
  };
  try {
    await untilReady(program, grants ? { uri: url } : { socketPath: socket }, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

/** A server run by root says as whom, or refuses to start. */
const asUser = (): string[] => (process.getuid?.() === 0 ? ['--user=root'] : []);

async function prepare({ server, install }: MariadbBinaries, data: string): Promise<void> {
  const common = ['--no-defaults', `--datadir=${data}`, ...asUser()];
  const [maker, parameters] =
    install === null
      ? [server, [...common, '--initialize-insecure']]
      : [install, [...common, '--auth-root-authentication-method=normal', '--skip-test-db']];
  const child = spawn(maker, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${maker} could not make a data folder:\n${output.slice(-2_000)}`);
}

/** A watcher reads what this process holds open, and kills the server when that ends; Ctrl-C is ours to hear. */
function keepWhileAlive(server: string, parameters: string[]): ChildProcess {
  const script = `trap '' INT; exec 3<&0; "$@" 3<&- & child=$!; (cat <&3 >/dev/null; kill -9 $child) & wait $child`;
  return spawn('/bin/sh', ['-c', script, 'sh', server, ...parameters], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
}

async function untilReady(server: ChildProcess, where: mysql.ConnectionOptions, log: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      const connection = await mysql.createConnection({ ...where, connectTimeout: 2_000 });
      await connection.end();
      return;
    } catch (error) {
      if (server.exitCode === null && Date.now() < deadline) {
        await sleep(50);
        continue;
      }
      const text = await readFile(log, 'utf8').catch(() => '');
      throw new Error(`MariaDB did not start:\n${text.slice(-2_000)}`, { cause: error });
    }
  }
}

async function keptDatabases(url: string): Promise<string[]> {
  const connection = await mysql.createConnection({ uri: url });
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(`SHOW DATABASES LIKE 'test\\_%'`);
    return rows.map((row) => String(Object.values(row)[0]));
  } finally {
    await connection.end();
  }
}
