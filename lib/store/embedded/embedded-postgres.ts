import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, open, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { lanesOfOwn } from '@/lib/database/connections/share';
import { postgresEngine } from '@/lib/database/postgres/engine';
import { findBinaries, openProgramsFolder } from './binaries';
import { claim, type DataFolder, releaseDataFolder, prepareDataFolder, SUPERUSER } from './data-folder';
import {
  type Account,
  commandLine,
  freePort,
  identify,
  isRunning,
  type ProcessIdentity,
  readIfThere,
  run,
  runningAs,
  unprivilegedAccount,
} from './processes';

/** Limit for a start that hangs; recovery counts as starting. */
const START_TIMEOUT_MS = 600_000;
const TAIL_BYTES = 4_096;
const START_TRIES = 5;

/** For disposable data: twice as fast, but lost if the machine crashes. */
export const THROWAWAY_SETTINGS: Record<string, string> = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export interface EmbeddedPostgresOptions {
  /** Absolute path; has the data folder, the superuser's password, the log and the owner's id. */
  dir: string;
  /** Default: a free port. */
  port?: number;
  settings?: Record<string, string>;
  /** The process on whose behalf it runs; when it is dead, another may take over the folder. Default: this one. */
  ownerPid?: number;
  /** Delete existing data and start with an empty cluster. */
  fresh?: boolean;
  /** Where programs are copied if the server's user cannot reach them; see `defaultProgramsFolder`. */
  shelter?: string;
}

export type EmbeddedPostgres = ReturnType<typeof handle>;

/** Where programs and data are put that an unprivileged user must reach, unless OUTBOX_DEMO_DIR is set. */
export const defaultProgramsFolder = (): string => path.join(os.tmpdir(), `outbox-console-${process.getuid?.() ?? os.userInfo().username}`);

/** `<home>/<name>`, or a folder in the shelter if that was chosen or PostgreSQL's user cannot enter; then a `.pointer.json` names it. */
export async function placeEmbeddedPostgres(
  root: string,
  name: string,
  demoDir: string | undefined,
  home = path.join(root, '.outbox-console'),
): Promise<Required<Pick<EmbeddedPostgresOptions, 'dir' | 'shelter'>>> {
  await mkdir(home, { recursive: true, mode: 0o755 });
  await mustBeWritable(home);
  const shelter = demoDir ? path.resolve(demoDir) : defaultProgramsFolder();
  if (demoDir === undefined && (await unprivilegedAccount()) === null) return { dir: path.join(home, name), shelter };
  await openProgramsFolder(shelter);
  // Two clones on one machine must not share data.
  const dir = path.join(shelter, `${name}-${createHash('sha256').update(path.resolve(home)).digest('hex').slice(0, 12)}`);
  await writeFile(path.join(home, `${name}.pointer.json`), `${JSON.stringify({ dir }, null, 2)}\n`, { mode: 0o600 });
  return { dir, shelter };
}

const mustBeWritable = (folder: string): Promise<void> =>
  access(folder, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    throw new Error(
      `${folder} cannot be written by this user, probably because root has made it. Remove it, or run as the user it belongs to.`,
      { cause },
    );
  });

/** Starts it on 127.0.0.1, detached; if run as root, as an unprivileged user. Rejects with EmbeddedPostgresInUse if `dir` is in use. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dir, ownerPid = process.pid, shelter = defaultProgramsFolder() } = options;
  const account = await unprivilegedAccount();
  await mkdir(dir, { recursive: true });
  // The server's user may pass through, but not list it.
  await chmod(dir, account ? 0o711 : 0o700);
  if (account) await mustBeReachable(dir, account);
  await claim(dir, ownerPid);
  try {
    const binaries = await findBinaries(account, shelter);
    const leftOver = await findPostmaster(path.join(dir, 'data'));
    if (leftOver) await stopPostmaster(leftOver);
    if (options.fresh) await rm(path.join(dir, 'data'), { recursive: true, force: true });
    const folder = await prepareDataFolder(dir, binaries, account, options.settings?.fsync === 'off');
    return await launch({ postgres: binaries.postgres, dir, account }, folder, options);
  } catch (error) {
    await releaseDataFolder(dir);
    throw error;
  }
}

async function mustBeReachable(dir: string, account: Account): Promise<void> {
  const { code } = await run('/bin/sh', ['-c', 'cd -P "$1"', 'sh', dir], account);
  if (code === 0) return;
  throw new Error(
    `PostgreSQL does not run as root, and user ${account.name} cannot enter ${dir}: a folder above it is closed. Set OUTBOX_DEMO_DIR to a folder that every user may enter.`,
  );
}

/** What is run, where, and as whom. */
type Program = Pick<EmbeddedPostgresOptions, 'dir'> & { postgres: string; account: Account | null };

async function launch(program: Program, folder: DataFolder, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dir } = program;
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const server = await spawnServer(program, folder.dataDir, port, options.settings);
    const problem = await waitUntilReady(server, folder.dataDir);
    if (problem === null) return handle(server, port, dir, folder);
    // Temporary: another program took the free port, or processes of a killed postmaster have not ended yet.
    const isTaken = options.port === undefined && /Address already in use/.test(problem);
    const passing = isTaken || /pre-existing shared memory block/.test(problem);
    if (!passing || attempt === START_TRIES) throw new Error(`PostgreSQL did not start in ${dir}:\n${problem}`);
    await sleep(500);
  }
}

interface Server {
  identity: ProcessIdentity;
  /** Resolves with the end of its log when the process ends. */
  ended: Promise<string>;
  hasEnded: () => boolean;
}

async function spawnServer({ postgres, dir, account }: Program, dataDir: string, port: number, own = {}): Promise<Server> {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    TimeZone: 'UTC',
    log_timezone: 'UTC',
    ...own,
  };
  const logPath = path.join(dir, 'postgres.log');
  const log = await open(logPath, 'w', 0o600);
  try {
    const args = ['-D', dataDir, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const child = spawn(postgres, args, { ...runningAs(account), detached: true, stdio: ['ignore', log.fd, log.fd] });
    let over = false;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', () => {
        over = true;
        void tail(logPath).then(resolve);
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) => reject(new Error(`${postgres} could not be started: ${cause.message}`, { cause })));
    });
    const pid = child.pid ?? 0;
    return { identity: (await identify(pid)) ?? { pid, startedAt: null }, ended, hasEnded: () => over };
  } finally {
    await log.close();
  }
}

/** null when it accepts connections, otherwise the reason it does not. */
async function waitUntilReady(server: Server, dataDir: string): Promise<string | null> {
  const until = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < until) {
    if (server.hasEnded()) return server.ended;
    if (await isReady(dataDir, server.identity.pid)) return null;
    await sleep(25);
  }
  await stopPostmaster(server.identity);
  return `not ready after ${START_TIMEOUT_MS / 1000} s\n${await server.ended}`;
}

function handle(server: Server, port: number, dir: string, folder: DataFolder) {
  const superuserUrl = (database: string) =>
    `postgresql://${SUPERUSER}:${folder.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  let stopping: Promise<void> | null = null;
  const stop = async () => {
    await stopPostmaster(server.identity);
    await server.ended;
    await releaseDataFolder(dir);
  };
  return {
    /** On 127.0.0.1. */
    port,
    pid: server.identity.pid,
    /** Connection string of the superuser, including the password. */
    superuserUrl,
    createDatabase: (name: string): Promise<void> => createDatabase(superuserUrl('postgres'), name),
    /** Resolves when the server has ended, rejects if it runs after about eleven seconds. May be called again. */
    stop: (): Promise<void> => (stopping ??= stop()),
    /** Resolves when the server has ended, requested or not, with the last lines of its log. */
    exited: server.ended.then((log) => ({ expected: stopping !== null, log })),
  };
}

async function createDatabase(url: string, name: string): Promise<void> {
  const dialect = postgresEngine.dialect({
    url,
    applicationName: 'outbox-console/embedded',
    lane: lanesOfOwn(1, 5_000),
    connectTimeoutMs: 5_000,
    clientTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
  const db = new Kysely({ dialect });
  try {
    await sql`create database ${sql.id(name)}`.execute(db);
  } finally {
    await db.destroy();
  }
}

async function tail(file: string): Promise<string> {
  const log = await open(file, 'r');
  try {
    const { size } = await log.stat();
    const end = Buffer.alloc(Math.min(TAIL_BYTES, size));
    await log.read(end, 0, end.length, size - end.length);
    return end.toString('utf8').trim();
  } finally {
    await log.close();
  }
}

/** Milliseconds between two checks of a process that is about to end. */
const LOOK_EVERY_MS = 50;
/** Fast shutdown, then immediate, then kill: each with its time limit in milliseconds. */
const STOPS = Object.entries({ SIGINT: 5_000, SIGQUIT: 3_000, SIGKILL: 3_000 } satisfies Partial<Record<NodeJS.Signals, number>>);

/** Whether the postmaster has written that it accepts connections. */
export async function isReady(dataDir: string, pid: number): Promise<boolean> {
  const lines = await pidFile(dataDir);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** The postmaster running on a data folder, whoever started it. */
export async function findPostmaster(dataDir: string): Promise<ProcessIdentity | null> {
  const pid = Number((await pidFile(dataDir))[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const identity = await identify(pid);
  // After a reboot the pid in the file may be another process.
  const command = identity && (await commandLine(pid));
  return command?.includes('postgres') && command.includes(dataDir) ? identity : null;
}

/** Resolves when the process has ended; throws if it survives SIGKILL. */
export async function stopPostmaster(postmaster: ProcessIdentity): Promise<void> {
  for (const [signal, waitMs] of STOPS) {
    if (!(await isRunning(postmaster))) return;
    try {
      process.kill(postmaster.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    if (await isGone(postmaster, waitMs)) return;
  }
  throw new Error(`PostgreSQL (process ${postmaster.pid}) does not end, not even by force.`);
}

async function isGone(identity: ProcessIdentity, waitMs: number): Promise<boolean> {
  const until = Date.now() + waitMs;
  while (Date.now() < until) {
    if (!(await isRunning(identity))) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}

const pidFile = async (dataDir: string): Promise<string[]> => (await readIfThere(path.join(dataDir, 'postmaster.pid')))?.split('\n') ?? [];
