/** Starting and stopping the programs that stories need. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const STOP_SECONDS = 15;

const ROOT = path.resolve(import.meta.dirname, '../..');

/** `npm run <script>` with our environment and `changes` on top, in a process group of its own. */
export function startScript(script: string, changes: Record<string, string>): ChildProcess {
  return spawn('npm', ['run', script], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...changes },
  });
}

const SILENT_SECONDS = 600;

/** Resolves at the line `ready <url>`, rejects when the program ends or says nothing for long; the whole output goes to `log`. */
export function untilReady(program: ChildProcess, log: string): Promise<void> {
  fs.writeFileSync(log, '');
  return new Promise((resolve, reject) => {
    const silent = setTimeout(() => {
      reject(new Error(`not ready, and silent for ${String(SILENT_SECONDS)} s`));
    }, SILENT_SECONDS * 1000);
    let line = '';
    const read = (chunk: Buffer): void => {
      silent.refresh();
      fs.appendFileSync(log, chunk);
      line = (line + chunk.toString('utf8')).slice(-4000);
      if (!/^ready http/m.test(line)) return;
      clearTimeout(silent);
      resolve();
    };
    program.stdout?.on('data', read);
    program.stderr?.on('data', read);
    program.once('close', (code) => {
      clearTimeout(silent);
      reject(new Error(`ended with code ${String(code)}`));
    });
  });
}

/** SIGTERM to the program's group, SIGKILL when it does not end in time. */
export function stopGroup(program: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (program.exitCode !== null || program.pid === undefined) {
      resolve();
      return;
    }
    const group = -program.pid;
    const late = setTimeout(() => {
      console.error(`A program was still running ${String(STOP_SECONDS)} s after SIGTERM; killed.`);
      process.kill(group, 'SIGKILL');
    }, STOP_SECONDS * 1000);
    program.once('close', () => {
      clearTimeout(late);
      resolve();
    });
    process.kill(group, 'SIGTERM');
  });
}

/** A port nobody listens on at the moment. */
export function freePort(): Promise<number> {
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
