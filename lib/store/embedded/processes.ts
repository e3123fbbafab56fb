import { execFile, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';

export type Account = { name: string; uid: number; gid: number };

/** Runs a program to its end. Rejects if it fails. */
export const runProgram = promisify(execFile);

/** The account for PostgreSQL, which refuses to run as root: null unless we are root, then `postgres` if it exists, otherwise `nobody`. */
export async function unprivilegedAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const account = await lookUp(name);
    if (account) return account;
  }
  throw new Error(
    'PostgreSQL does not run as root, and this machine has neither a user `postgres` nor `nobody` to run it as. Create one, or start as an ordinary user.',
  );
}

async function lookUp(name: string): Promise<Account | null> {
  const ids = await Promise.all([runProgram('id', ['-u', name]), runProgram('id', ['-g', name])]).catch(() => null);
  // macOS prints nobody's -2 as 4294967294; Node expects the signed number.
  return ids && { name, uid: Number(ids[0].stdout) | 0, gid: Number(ids[1].stdout) | 0 };
}

/** Spawn options to run a program as `account` (null: as ourselves), in a folder it can enter. */
export function runningAs(account: Account | null): SpawnOptions {
  return {
    cwd: '/',
    // Not our environment: PG* variables and locales would change what PostgreSQL does.
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' } as unknown as NodeJS.ProcessEnv,
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  };
}

/** Runs a program to its end. Rejects only if it could not be started. */
export function run(program: string, args: string[], account: Account | null) {
  return new Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>((resolve, reject) => {
    const child = spawn(program, args, { ...runningAs(account), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-8_192);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    // Without a listener for this event, a missing or unreachable binary would end our process.
    child.once('error', (cause) => {
      const as = account ? ` as user ${account.name}` : '';
      reject(new Error(`${program} could not be started${as}: ${cause.message}`, { cause }));
    });
    child.once('close', (code, signal) => resolve({ code, signal, output }));
  });
}

/** What comes of work on a file; null if that does not exist. */
export const ifThere = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

/** The text of a file; null if it does not exist. */
export const readIfThere = (file: string): Promise<string | null> => ifThere(readFile(file, 'utf8'));

/** Identifies a process beyond its pid, which is reused after the process has ended. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in the system's own notation; null if the system does not report it. */
  startedAt: string | null;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The identity of a running process; null if none has this pid. */
export async function identify(pid: number): Promise<ProcessIdentity | null> {
  if (!isAlive(pid)) return null;
  const stat = await procStat(pid);
  if (stat) return stat.state === 'Z' ? null : { pid, startedAt: `${await bootId()}/${stat.startTicks}` };
  return { pid, startedAt: await ps(pid, 'lstart=') };
}

/** Whether the identified process itself is still running. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identify(identity.pid);
  if (!now) return false;
  return identity.startedAt === null || now.startedAt === null || now.startedAt === identity.startedAt;
}

/** The command line of a process; null if there is none or it may not be read. */
export async function commandLine(pid: number): Promise<string | null> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  return line === null ? ps(pid, 'command=') : line.replaceAll('\0', ' ').trim();
}

async function procStat(pid: number): Promise<{ state: string; startTicks: string } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name in parentheses, and may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return state && startTicks ? { state, startTicks } : null;
}

const bootId = async (): Promise<string> => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'boot')).trim();

async function ps(pid: number, column: string): Promise<string | null> {
  const printed = await runProgram('ps', ['-o', column, '-p', String(pid)]).catch(() => null);
  return printed?.stdout.trim() || null;
}

/** A TCP port of 127.0.0.1 that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
