/** The built console as it is run in production, in a process of its own, and sessions that are signed in to it. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { createAccount } from '@/lib/identity/accounts';
import { freePort } from '@/lib/store/embedded/processes';
import { migrateStore, openStore } from '@/lib/store/store';
import { descendantsOf } from '@/scripts/processes';
import { environmentFor } from '../env';

const MEGABYTE_KB = 1_024;

export interface BuiltConsole {
  url: string;
  /** A cookie for each of so many sessions. */
  signIn(sessions: number): Promise<string[]>;
  /** Memory of the server's process in MB; null where the system does not tell (not Linux). */
  memoryMb(): Promise<number | null>;
  stop(): Promise<void>;
}

/** Starts it on a store that is migrated first. Rejects when it ends before it is ready. */
export async function startBuiltConsole(root: string, storeUrl: string, config: object): Promise<BuiltConsole> {
  const migrated = await migrateStore(storeUrl);
  if (!migrated.ok) throw new Error(migrated.detail);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'outbox-console-viewers-'));
  const file = path.join(folder, 'console.yaml');
  await writeFile(file, stringify({ store: storeUrl, ...config }), { mode: 0o600 });
  const [port, secret] = [await freePort(), randomBytes(48).toString('base64')];
  const url = `http://localhost:${String(port)}`;
  const child = spawn(process.execPath, ['--import', 'tsx', path.join(root, 'scripts/start.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environmentFor({
      OUTBOX_CONSOLE_CONFIG: file,
      PORT: String(port),
      HOST: '127.0.0.1',
      NEXTAUTH_URL: url,
      NEXTAUTH_SECRET: secret,
      LOG_LEVEL: 'error',
    }),
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
      if (/^ready http/m.test(output)) resolve();
    });
    void ended.then(() => reject(new Error(`The console ended:\n${output}`)));
  });
  return {
    url,
    async signIn(sessions) {
      const [email, password] = [`${randomBytes(4).toString('hex')}@bench.local`, secret];
      const store = openStore(storeUrl);
      await createAccount(store, { email, password, role: 'viewer' }).finally(() => store.close());
      const cookies: string[] = [];
      for (let at = 0; at < sessions; at += 1) cookies.push(await signedIn(url, email, password));
      return cookies;
    },
    async memoryMb() {
      const each = await Promise.all(
        (child.pid === undefined ? [] : descendantsOf(child.pid)).map(async (pid) => {
          const status = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
          return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / MEGABYTE_KB;
        }),
      );
      const most = Math.max(0, ...each);
      return most === 0 ? null : most;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As the form does it; answers what the browser would send back. */
async function signedIn(url: string, email: string, password: string): Promise<string> {
  const before = await fetch(`${url}/api/auth/csrf`);
  const { csrfToken } = (await before.json()) as { csrfToken: string };
  const after = await fetch(`${url}/api/auth/callback/credentials`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, cookie: cookiesOf(before) },
    body: new URLSearchParams({ csrfToken, email, password, json: 'true' }),
  });
  const cookie = cookiesOf(after);
  if (!cookie.includes('session')) throw new Error(`The sign-in was answered ${String(after.status)}: ${await after.text()}`);
  return cookie;
}

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0] ?? '')
    .join('; ');
