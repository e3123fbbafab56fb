import { spawn, type SpawnOptions } from 'node:child_process';
import type { Account } from './account';

/** How a program ended. */
export interface RunResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

/** The spawn options that make a program run as `account` (null: as ourselves), in a folder it can enter. */
export function runningAs(account: Account | null): SpawnOptions {
  return {
    cwd: '/',
    // Nothing of our environment reaches PostgreSQL: PG* variables and locales would change what it does.
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' } as unknown as NodeJS.ProcessEnv,
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  };
}

/** Runs a program to its end. Rejects only when it could not be started at all. */
export function run(program: string, args: string[], account: Account | null): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...runningAs(account), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-8_192);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    // Emitted instead of thrown: without a listener a missing or unreachable binary would end the whole process.
    child.once('error', (cause) => {
      const as = account ? ` as user ${account.name}` : '';
      reject(new Error(`${program} could not be started${as}: ${cause.message}`, { cause }));
    });
    child.once('close', (code, signal) => resolve({ code, signal, output }));
  });
}
