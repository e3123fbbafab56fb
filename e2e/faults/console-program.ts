/** A production console as a process of its own, that can be killed, told to end, and started again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { readDemoEnvironment } from '@/demo/env';
import { ensureBuilt } from '@/demo/start/build';
import { endChild, tailOf, type Child } from '@/demo/start/child';
import { startConsole } from '@/demo/start/console';
import { freePort } from '@/lib/store/embedded/processes';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** As `npm start` has it: only then is a console that does not end killed. */
const GRACE_MS = 25_000;

export interface ConsoleProgram {
  url: string;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** SIGKILL, to it and all it has started. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it has ended by itself, with false when it had to be killed. */
  end(): Promise<boolean>;
  close(): Promise<void>;
}

/** Builds the console unless that is done; starts nothing yet. */
export async function consoleProgram(config: Record<string, unknown>): Promise<ConsoleProgram> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'outbox-console-faults-'));
  await ensureBuilt({ root: ROOT, logFile: path.join(folder, 'build.log'), started: () => undefined });
  const configPath = path.join(folder, 'console.yaml');
  await writeFile(configPath, stringify(config, { aliasDuplicateObjects: false }), { mode: 0o600 });
  const reading = readDemoEnvironment({ HOST: '127.0.0.1', PORT: String(await freePort()) });
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  const { env } = reading;
  let child: Child | null = null;
  let starts = 0;
  let logFile = '';
  const end = async (): Promise<boolean> => {
    if (child === null) return true;
    const ending = child;
    child = null;
    await endChild(ending, () => ending.process.kill('SIGTERM'), GRACE_MS);
    const { signal } = await ending.ended;
    if (signal === 'SIGKILL') console.error(`The console did not end after SIGTERM:\n${await tailOf(logFile)}`);
    return signal !== 'SIGKILL';
  };
  return {
    url: `http://127.0.0.1:${String(env.port)}`,
    async start() {
      starts += 1;
      logFile = path.join(folder, `console-${String(starts)}.log`);
      await startConsole({ env, configPath, dev: false, logFile, started: (started) => (child = started) });
    },
    async kill() {
      child?.signal('SIGKILL');
      await child?.ended;
      child = null;
    },
    end,
    async close() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
