/** Processes that carry runs out: started from the bundle, killed, stopped and continued. */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { environmentFor } from '@/demo/env';
import type { Address } from './people';
import { sleep } from './relay';

interface Replica {
  child: ChildProcess;
  output: string[];
  /** Ended by us; any other end is a finding. */
  killed: boolean;
  ended: Promise<void>;
}

const START = path.join(import.meta.dirname, 'start.mjs');

export type Replicas = ReturnType<typeof startReplicas>;

export function startReplicas(bundle: string, address: Address, count: number) {
  const all: Replica[] = [];
  const surprises: string[] = [];
  const start = (): void => {
    const child = spawn(process.execPath, [START, bundle, JSON.stringify(address)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: environmentFor({}),
    });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(data.toString()));
    const replica: Replica = { child, output, killed: false, ended: Promise.resolve() };
    replica.ended = new Promise((resolve) =>
      child.once('exit', (code, signal) => {
        if (!replica.killed) surprises.push(`a process ended by itself (${String(code ?? signal)}): ${output.join('').slice(-2_000)}`);
        resolve();
      }),
    );
    all.push(replica);
  };
  const alive = (): Replica[] => all.filter(({ killed }) => !killed);
  const owners = (pid: number | null): Replica[] => {
    const found = alive().filter(({ child }) => child.pid === pid);
    return found.length > 0 ? found : alive();
  };
  const kill = (replica: Replica): Promise<void> => {
    replica.killed = true;
    replica.child.kill('SIGKILL');
    return replica.ended;
  };
  for (let n = 0; n < count; n += 1) start();
  return {
    start,
    /** At once; without one, whoever there is. Another one is started, whoever takes over. */
    async killOwner(pid: number | null): Promise<void> {
      await Promise.all(owners(pid).map(kill));
      start();
    },
    /** Stands still, with all its connections open, and goes on when somebody else has taken over. */
    async stopOwner(pid: number | null, ms: number): Promise<void> {
      const stopped = owners(pid);
      for (const { child } of stopped) child.kill('SIGSTOP');
      if (alive().length === stopped.length) start();
      await sleep(ms);
      for (const { child } of stopped) child.kill('SIGCONT');
    },
    /** Ends the oldest, so that at most so many are left. */
    async thin(left: number): Promise<void> {
      await Promise.all(alive().slice(0, -left).map(kill));
    },
    killAll: () => Promise.all(alive().map(kill)),
    /** As a process manager ends them; answers what went wrong. */
    async end(): Promise<string[]> {
      await Promise.all(
        alive().map(async (replica) => {
          replica.killed = true;
          replica.child.kill('SIGTERM');
          const hung = await Promise.race([replica.ended.then(() => false), sleep(15_000).then(() => true)]);
          if (hung) surprises.push(`a process did not end within 15 s of SIGTERM: ${replica.output.join('').slice(-2_000)}`);
          replica.child.kill('SIGKILL');
          await replica.ended;
        }),
      );
      return surprises;
    },
    output: (): string => all.map(({ output }, at) => `--- process ${String(at)}\n${output.join('').slice(-6_000)}`).join('\n'),
  };
}
