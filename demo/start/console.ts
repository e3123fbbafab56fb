import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { authAddress } from '@/lib/env';
import { environmentFor, type DemoEnvironment } from '../env';
import { startChild, tailOf, type Child } from './child';

/** While it runs it is on its way: this ends one that hangs. */
const READY_TIMEOUT_MS = 600_000;

export interface ConsoleOptions {
  env: DemoEnvironment;
  configPath: string;
  /** With hot reload instead of a build. */
  dev: boolean;
  logFile: string;
  started: (child: Child) => void;
}

/** Starts Next and waits until it says that it is ready. Rejects with the end of its log when it does not. */
export async function startConsole({ env, configPath, dev, logFile, started }: ConsoleOptions): Promise<Child> {
  const next = path.join(env.root, 'node_modules/next/dist/bin/next');
  const child = await startChild([next, dev ? 'dev' : 'start', '-H', env.host, '-p', String(env.port)], {
    cwd: env.root,
    env: environmentFor({
      NODE_ENV: dev ? 'development' : 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      OUTBOX_CONSOLE_CONFIG: configPath,
      NEXTAUTH_URL: authAddress(new URL(env.url).origin, env.basePath),
      NEXTAUTH_SECRET: randomBytes(48).toString('base64'),
      HOST: env.host,
      PORT: String(env.port),
      // The demo's own secrets are none of the console's business.
      OUTBOX_DEMO_PASSWORD: undefined,
      OUTBOX_DEMO_TOKEN: undefined,
      OUTBOX_DEMO_MYSQL_URL: undefined,
    }),
    // Somebody who works on the code wants to see what the server says.
    logFile: dev ? undefined : logFile,
    channel: true,
  });
  started(child);
  const health = `http://${env.host.includes(':') ? `[${env.host}]` : env.host}:${env.port}${env.basePath}/api/health/ready`;
  let last = 'no answer';
  let over = false;
  void child.ended.then(() => (over = true));
  const until = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < until && !over) {
    try {
      const response = await fetch(health, { signal: AbortSignal.timeout(10_000) });
      if (response.ok) return child;
      last = `${response.status}: ${(await response.text()).slice(0, 2_000)}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(150);
  }
  throw new Error(`The console did not become ready (${over ? 'it ended' : last}):\n${await tailOf(logFile)}`);
}
