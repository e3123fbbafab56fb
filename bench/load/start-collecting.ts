import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';

export interface CollectingOptions {
  url: string;
  storeUrl: string;
  shape: string;
  table: string;
}

/** One replica of a console, as far as collecting goes; told each kind of failure once in a row. */
export interface Collecting {
  pid: number;
  /** Gone within no time: nothing is given back. */
  kill(): Promise<void>;
  /** As a machine that sleeps, and wakes up believing that nothing has happened. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export function startCollecting(options: CollectingOptions, onError: (error: string) => void): Collecting {
  const child: ChildProcess = fork(path.join(import.meta.dirname, 'collecting.ts'), [JSON.stringify(options)], {
    execArgv: ['--import', 'tsx'],
  });
  child.on('message', (error) => onError(String(error)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
