import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** How a child process ended. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process of ours in a group of its own: a Ctrl-C in the terminal reaches the starter only, which then ends all. */
export interface Child {
  pid: number;
  process: ChildProcess;
  ended: Promise<Ending>;
  /** Signals the process and everything it has started. */
  signal(signal: NodeJS.Signals): void;
}

export interface ChildOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Where its output goes; without it, to ours. */
  logFile?: string;
  /** A channel for messages; its end tells the child that we are gone. */
  channel: boolean;
}

/** Starts a program of this Node. Rejects when it could not be started. */
export async function startChild(args: string[], { cwd, env, logFile, channel }: ChildOptions): Promise<Child> {
  const log = logFile === undefined ? null : openSync(logFile, 'w', 0o600);
  const output = log ?? 'inherit';
  const stdio: StdioOptions = channel ? ['ignore', output, output, 'ipc'] : ['ignore', output, output];
  const child = spawn(process.execPath, args, { cwd, env, stdio, detached: true });
  const ended = new Promise<Ending>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  } finally {
    if (log !== null) closeSync(log);
  }
  // A message to a child that has just ended is nobody's loss.
  child.on('error', () => undefined);
  const pid = child.pid ?? 0;
  return {
    pid,
    process: child,
    ended,
    signal(signal) {
      try {
        process.kill(-pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}

/** Asks a child to end, and makes it end after `silenceLimitMs`, with whatever it has started. */
export async function endChild(child: Child, ask: () => void, silenceLimitMs: number): Promise<void> {
  const late = setTimeout(() => child.signal('SIGKILL'), silenceLimitMs);
  ask();
  await child.ended;
  clearTimeout(late);
  // What the child itself had started and left behind.
  child.signal('SIGKILL');
}

/** The last lines of a log file. */
export async function tailOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-30).join('\n');
}
