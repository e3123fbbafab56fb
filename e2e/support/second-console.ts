/** A console beside the demo's own, with another configuration, through `npm start`; and the command line on the same. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import type { World } from '@/scripts/testing/world';
import { freePort, startScript, stopGroup, untilReady } from './programs';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface Configured {
  store: string;
  databases: Record<string, { url: string; operatorUrl?: string }>;
  outboxes: Record<string, unknown>[];
  /** The demo's has one: its page elsewhere shows cards. */
  embedding?: Record<string, unknown>;
  approvals?: Record<string, unknown>[];
}

export interface Answered {
  status: number;
  out: string;
  error: string;
}

export interface SecondConsole {
  /** The demo's world as this console shows it. */
  world: World;
  /** Where it listens itself, whatever address people open. */
  port: number;
  config: Configured;
  /** `npm run console -- …` with its configuration. */
  command: (...args: string[]) => Promise<Answered>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Prepares one with the demo's configuration as `change` leaves it, and `changes` of its environment; nothing runs before `start`. */
export async function secondConsole(
  world: World,
  change: (config: Configured) => void,
  changes: Record<string, string> = {},
): Promise<SecondConsole> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-second-'));
  const config = parse(fs.readFileSync(world.config, 'utf8')) as Configured;
  change(config);
  const file = path.join(folder, 'console.yaml');
  fs.writeFileSync(file, stringify(config, { aliasDuplicateObjects: false }), { mode: 0o600 });
  const port = String(await freePort());
  const url = changes.NEXTAUTH_URL ?? `http://localhost:${port}`;
  const environment = { OUTBOX_CONSOLE_CONFIG: file, ...changes };
  const running: { program: ReturnType<typeof startScript> | null } = { program: null };
  return {
    world: { ...world, url },
    port: Number(port),
    config,
    command: (...args) =>
      new Promise((resolve) => {
        execFile(
          'npm',
          ['run', '--silent', 'console', '--', ...args],
          { cwd: ROOT, env: { ...process.env, ...environment } },
          (error, out, said) => resolve({ status: error === null ? 0 : Number(error.code), out, error: said }),
        );
      }),
    async start() {
      running.program = startScript('start', {
        PORT: port,
        HOST: '127.0.0.1',
        NEXTAUTH_URL: url,
        ...environment,
        NEXTAUTH_SECRET: 'a secret of the stories, long enough for a cookie',
      });
      await untilReady(running.program, path.join(folder, 'console.log'));
    },
    async stop() {
      if (running.program !== null) await stopGroup(running.program);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
