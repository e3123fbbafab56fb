/**
 * `npm start`: checks everything the console needs, says every problem at once, and only then serves. Owns the
 * signals: what it started ends with it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Config } from '@/lib/config/config';
import { authAddress, childEnvironment, isLoopback, publicOriginOf, type Environment } from '@/lib/env';
import { migrateStore } from '@/lib/store/store';
import { ownStore, type OwnStore } from './starting/own-store';
import { builtBasePath, EXIT_CONFIG, readSettings, reportProblems, tableProblems } from './starting/settings';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Requests under way get this long after a signal, the store 5 s more; then the server is killed. The server itself waits for 18 s. */
const GRACE_MS = 20_000;

/** Why nobody can listen there; null when somebody can. */
function listeningProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(`PORT: ${String(port)} is in use on ${host}; stop what listens there or choose another`);
      else resolve(`HOST: cannot listen on ${host}:${String(port)} (${error.code ?? error.message})`);
    });
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

async function environmentProblems(env: Environment): Promise<string[]> {
  const problems: string[] = [];
  if (env.secret === undefined)
    problems.push('NEXTAUTH_SECRET: missing; set at least 32 characters, for instance from: openssl rand -base64 48');
  if (publicOriginOf(env) === null)
    problems.push('NEXTAUTH_URL: missing; set the address people open, for instance https://outbox.example.com');
  const listening = await listeningProblem(env.host, env.port);
  if (listening !== null) problems.push(listening);
  const built = await builtBasePath();
  if (built !== null && built !== env.basePath)
    problems.push(
      `OUTBOX_CONSOLE_BASE_PATH: is ${env.basePath}, but the console was built for ${built === '' ? 'the root of its host' : built}; run npm run build with it, or leave it out`,
    );
  return problems;
}

/** Opens the store and brings it up to date; a line per problem. The embedded one is only started when all else is well. */
async function prepareStore(config: Config, allElseIsWell: boolean): Promise<{ store: OwnStore | null; problems: string[] }> {
  if (config.storeUrl === null && !allElseIsWell) return { store: null, problems: [] };
  let store: OwnStore;
  try {
    store = await ownStore(config, { share: false });
  } catch (error) {
    return { store: null, problems: [`store: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const migrated = await migrateStore(store.url);
  if (migrated.ok) return { store, problems: [] };
  await store.stop();
  return {
    store: null,
    problems: [
      `store: ${migrated.why === 'unreachable' ? 'cannot be reached: ' : migrated.why === 'failed' ? 'a migration failed: ' : ''}${migrated.detail}`,
    ],
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

async function announce(env: Environment, origin: string, child: ChildProcess): Promise<void> {
  const host = env.host === '0.0.0.0' || env.host === '::' ? '127.0.0.1' : env.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${String(env.port)}${env.basePath}/api/health/ready`;
  while (child.exitCode === null && child.signalCode === null) {
    if (await answers(url)) {
      console.log(`ready ${origin}${env.basePath}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** A signal that came before there was anything to stop: remembered, and obeyed as soon as there is. */
let asked = false;
let stopServing: (() => void) | null = null;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    asked = true;
    stopServing?.();
  });
}

function serve(env: Environment, config: Config, store: OwnStore, origin: string): void {
  const next = path.join(ROOT, 'node_modules/next/dist/bin/next');
  const child = spawn(process.execPath, [next, 'start', '-H', env.host, '-p', String(env.port)], {
    cwd: ROOT,
    // The channel tells the server when this process is gone, however it went.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...childEnvironment({
        NEXTAUTH_URL: authAddress(origin, env.basePath),
        OUTBOX_CONSOLE_CONFIG: config.path,
        PORT: String(env.port),
        HOST: env.host,
      }),
      NODE_ENV: 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      ...(store.embedded === null ? {} : { OUTBOX_CONSOLE_EMBEDDED_STORE: store.url }),
    },
  });

  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  };
  stopServing = stop;
  void store.embedded?.exited.then(({ expected, log }) => {
    if (expected) return;
    process.stderr.write(`The embedded store has ended by itself:\n${log}\n`);
    process.exitCode = 1;
    stop();
  });
  child.once('error', (error) => {
    process.stderr.write(`The server could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once('close', (code) => {
    void store.stop().finally(() => process.exit(process.exitCode ?? (asked ? 0 : (code ?? 1))));
  });
  void announce(env, origin, child);
}

async function main(): Promise<void> {
  const { env, config, usable, problems } = await readSettings();
  if (usable !== null) problems.push(...(await tableProblems(usable)));
  if (env !== null) problems.push(...(await environmentProblems(env)));
  if ((await builtBasePath()) === null) problems.push('.next: the console is not built; run npm run build');
  const prepared = config === null ? { store: null, problems: [] } : await prepareStore(config, problems.length === 0);
  problems.push(...prepared.problems);
  const origin = env === null ? null : publicOriginOf(env);
  if (problems.length > 0 || env === null || config === null || prepared.store === null || origin === null) {
    reportProblems(problems);
    await prepared.store?.stop();
    process.exitCode = EXIT_CONFIG;
    return;
  }
  if (asked) {
    await prepared.store.stop();
    return;
  }
  for (const line of config.unused) process.stderr.write(`${line}\n`);
  if (prepared.store.embedded !== null) {
    process.stderr.write('store: none configured, so the embedded PostgreSQL keeps accounts and audit; run one console only on it\n');
  }
  if (origin.startsWith('http://') && !isLoopback(new URL(origin).hostname)) {
    process.stderr.write('NEXTAUTH_URL: without https, passwords and cookies travel in the clear\n');
  }
  serve(env, config, prepared.store, origin);
}

await main();
