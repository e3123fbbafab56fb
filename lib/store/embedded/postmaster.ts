import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine, identify, isRunning, type ProcessIdentity } from './processes';

/** Milliseconds between looks at a process or a file that is about to change. */
const LOOK_EVERY_MS = 50;
/** A fast shutdown gets this long before an immediate one is asked for. */
const FAST_STOP_MS = 5_000;
const IMMEDIATE_STOP_MS = 3_000;

/** True once the postmaster has written that it accepts connections. */
export async function isReady(dataDir: string, pid: number): Promise<boolean> {
  const lines = await pidFile(dataDir);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** The postmaster that is running on a data folder, whoever started it. */
export async function findPostmaster(dataDir: string): Promise<ProcessIdentity | null> {
  const pid = Number((await pidFile(dataDir))[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const identity = await identify(pid);
  // After a restart of the machine the number in the file may be anybody's.
  const command = identity && (await commandLine(pid));
  return command?.includes('postgres') && command.includes(dataDir) ? identity : null;
}

/** Fast shutdown, then immediate, then by force; resolves when the process is gone. */
export async function stopPostmaster(postmaster: ProcessIdentity): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ];
  for (const [signal, waitMs] of steps) {
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

async function pidFile(dataDir: string): Promise<string[]> {
  try {
    return (await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
