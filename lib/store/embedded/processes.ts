import { execFile, spawn, type SpawnOptions } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
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
  try {
    const [uid, gid] = await Promise.all([runProgram('id', ['-u', name]), runProgram('id', ['-g', name])]);
    // macOS prints nobody's -2 as 4294967294; Node expects the signed number.
    return { name, uid: Number(uid.stdout) | 0, gid: Number(gid.stdout) | 0 };
  } catch {
    return null;
  }
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

/** The text of a file; null if it does not exist. */
export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

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
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
  } catch {
    return ps(pid, 'command=');
  }
}

async function procStat(pid: number): Promise<{ state: string; startTicks: string } | null> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the program's name in parentheses, and may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return state && startTicks ? { state, startTicks } : null;
}

async function bootId(): Promise<string> {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  } catch {
    return 'boot';
  }
}

async function ps(pid: number, column: string): Promise<string | null> {
  try {
    const { stdout } = await runProgram('ps', ['-o', column, '-p', String(pid)]);
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

/** A TCP port of 127.0.0.1 that is free at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
