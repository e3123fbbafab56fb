/** Starts the demo once for all stories, on a port and in a folder of its own, and stops it after them. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const READY_SECONDS = 180;
const STOP_SECONDS = 15;
const ROOT = path.resolve(import.meta.dirname, '../..');

export default async function globalSetup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.E2E_WORLD) return undefined;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-e2e-'));
  const log = path.join(folder, 'demo.log');
  const demo = spawn('npm', ['run', 'demo'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PORT: String(await freePort()),
      HOST: '127.0.0.1',
      OUTBOX_DEMO_DIR: path.join(folder, 'world'),
      OUTBOX_DEMO_PASSWORD: 'stories-need-a-long-password',
      OUTBOX_DEMO_TOKEN: 'obx_stories_0123456789abcdef0123456789abcdef',
      OUTBOX_DEMO_STATE: path.join(folder, 'state'),
    },
  });
  const stop = async (): Promise<void> => {
    await stopGroup(demo);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(demo, log);
  } catch (error) {
    await stopGroup(demo);
    throw new Error(`The demo did not start:\n${fs.readFileSync(log, 'utf8')}`, { cause: error });
  }
  process.env.E2E_WORLD = path.join(folder, 'state', 'demo.json');
  return stop;
}

/** Resolves at the line `ready <url>`; the whole output goes to `log`. */
function untilReady(demo: ChildProcess, log: string): Promise<void> {
  fs.writeFileSync(log, '');
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new Error(`not ready after ${String(READY_SECONDS)} s`));
    }, READY_SECONDS * 1000);
    let line = '';
    const read = (chunk: Buffer): void => {
      fs.appendFileSync(log, chunk);
      line = (line + chunk.toString('utf8')).slice(-4000);
      if (!/^ready http/m.test(line)) return;
      clearTimeout(late);
      resolve();
    };
    demo.stdout?.on('data', read);
    demo.stderr?.on('data', read);
    demo.once('close', (code) => {
      clearTimeout(late);
      reject(new Error(`ended with code ${String(code)}`));
    });
  });
}

function stopGroup(demo: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (demo.exitCode !== null || demo.pid === undefined) {
      resolve();
      return;
    }
    const group = -demo.pid;
    const late = setTimeout(() => {
      console.error(`The demo was still running ${String(STOP_SECONDS)} s after SIGTERM; killed.`);
      process.kill(group, 'SIGKILL');
    }, STOP_SECONDS * 1000);
    demo.once('close', () => {
      clearTimeout(late);
      resolve();
    });
    process.kill(group, 'SIGTERM');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
