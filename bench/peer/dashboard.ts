import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@/lib/store/embedded/processes';
import { environmentFor } from '../env';
import type { Peer } from './install';

const START_TIMEOUT_MS = 30_000;

export interface Dashboard {
  /** Fetches a page whole; answers milliseconds until its last byte. Throws for anything but 200. */
  open(path: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startDashboard(peer: Peer, databaseUrl: string): Promise<Dashboard> {
  const port = await freePort();
  const child = spawn(peer.node, [peer.dashboard], {
    cwd: peer.dir,
    env: environmentFor({ DATABASE_URL: databaseUrl, PORT: String(port), HOST: '127.0.0.1', NODE_ENV: 'production' }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const open = async (path: string): Promise<number> => {
    const begun = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    await response.text();
    if (response.status !== 200) throw new Error(`The peer answered ${response.status} to ${path}: ${errors.slice(-500)}`);
    return performance.now() - begun;
  };
  const until = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await open('/');
      break;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > until) {
        child.kill();
        throw new Error(`The peer's dashboard did not start: ${errors.slice(-1_000)}`, { cause: error });
      }
      await sleep(200);
    }
  }
  return {
    open,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
