import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** Which process a pid stands for: the number alone is handed out again once its process has ended. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, in the system's own notation; null when the system does not say. */
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

/** The identity of a running process, or null when there is none under this pid. */
export async function identify(pid: number): Promise<ProcessIdentity | null> {
  if (!isAlive(pid)) return null;
  const stat = await procStat(pid);
  if (stat) return stat.state === 'Z' ? null : { pid, startedAt: `${await bootId()}/${stat.startTicks}` };
  return { pid, startedAt: await ps(pid, 'lstart=') };
}

/** True while the very process that was identified is still running. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identify(identity.pid);
  if (!now) return false;
  return identity.startedAt === null || now.startedAt === null || now.startedAt === identity.startedAt;
}

/** The command line of a process, or null when there is none or it may not be read. */
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
  // The second field is the program's name in parentheses and may hold spaces and parentheses itself.
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
    const { stdout } = await execFileAsync('ps', ['-o', column, '-p', String(pid)]);
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
