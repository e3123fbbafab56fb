import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '@/lib/store/embedded/processes';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { environmentFor } from './env';
import { eventually } from './testing/relay-stage';

interface State {
  pids: Record<'starter' | 'postgres' | 'world', number>;
  databases: Record<string, string>;
  accounts: { email: string; role: string }[];
  password: string;
  token: string;
  sinkUrl: string;
  hostUrl: string;
}

const ROOT = path.resolve(import.meta.dirname, '..');
let folder: string;
const programs: ChildProcess[] = [];

/** The demo without its console, in a process group of its own as in a terminal. */
function start(env: Record<string, string> = {}): { program: ChildProcess; output: () => string; exit: Promise<number | null> } {
  const program = spawn(process.execPath, ['--import', 'tsx', 'demo/main.ts', '--no-console'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentFor({
      NODE_ENV: 'test',
      OUTBOX_DEMO_DIR: path.join(folder, 'world'),
      OUTBOX_DEMO_STATE: path.join(folder, 'state'),
      ...env,
    }),
  });
  programs.push(program);
  let output = '';
  program.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  program.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { program, output: () => output, exit: once(program, 'exit').then(([code]) => code as number | null) };
}

async function ready(demo: ReturnType<typeof start>): Promise<State> {
  await expect.poll(demo.output, { interval: 100 }).toMatch(/^ready http/m);
  return JSON.parse(await readFile(path.join(folder, 'state/demo.json'), 'utf8')) as State;
}

const nothingLeft = (state: State) => eventually(() => Object.values(state.pids).filter(isAlive), []);

beforeEach(async () => {
  folder = makeDataFolder('demo-');
  await chmod(folder, 0o711);
});
afterEach(async () => {
  for (const program of programs.splice(0)) program.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
});

describe('npm run demo', () => {
  it('says where everything is, and a signal to its group leaves nothing running', async () => {
    const demo = start({ OUTBOX_DEMO_PASSWORD: 'a password of mine', OUTBOX_DEMO_TOKEN: 'obx_a_token_of_mine' });
    const state = await ready(demo);
    expect((await stat(path.join(folder, 'state/demo.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(path.join(folder, 'state/demo.yaml'))).mode & 0o777).toBe(0o600);
    expect(Object.keys(state.databases)).toEqual(['escrow', 'orders-sqs', 'orders-kafka', 'orders-redis', 'notifications']);
    expect(state.accounts.map(({ email }) => email)).toEqual([
      'viewer@outbox.local',
      'operator@outbox.local',
      'approver@outbox.local',
      'admin@outbox.local',
    ]);
    expect(state).toMatchObject({ password: 'a password of mine', token: 'obx_a_token_of_mine' });
    expect((await fetch(`${state.sinkUrl}/deliveries?outbox=escrow`)).status).toBe(200);
    expect(await (await fetch(state.hostUrl)).text()).toMatch(/<dt>Customer[^]*view="fate" key="order-\d+"/);
    const second = start();
    expect(await second.exit).toBe(1);
    expect(second.output()).toContain(`belongs to process ${state.pids.starter}`);

    process.kill(-(demo.program.pid ?? 0), 'SIGINT');
    expect(await demo.exit).toBe(0);
    await nothingLeft(state);
    expect(await readdir(path.join(folder, 'state'))).not.toContain('demo.json');
  });

  it('starts again after it was killed, and what the killed one had started is gone', async () => {
    const first = start();
    const killed = await ready(first);
    process.kill(killed.pids.starter, 'SIGKILL');
    await nothingLeft(killed);
    const second = start();
    const state = await ready(second);
    process.kill(state.pids.world, 'SIGKILL');
    expect(await second.exit).toBe(1);
    expect(second.output()).toContain('The world of relays and traffic has ended unasked (SIGKILL)');
    await nothingLeft(state);
  });

  it('can be stopped while it starts', async () => {
    const demo = start();
    await expect.poll(demo.output, { interval: 20 }).toContain('creating five outboxes');
    demo.program.kill('SIGTERM');
    expect(await demo.exit).toBe(0);
    expect(await readdir(path.join(folder, 'world'))).not.toContainEqual(expect.stringMatching(/^demo-/));
  });

  it('refuses other addresses and production before it starts anything', async () => {
    const demo = start({ HOST: '0.0.0.0', NODE_ENV: 'production', OUTBOX_DEMO_PASSWORD: 'a password of mine' });
    expect(await demo.exit).toBe(78);
    expect(demo.output()).toContain('HOST: the demo has accounts');
    expect(demo.output()).toContain('NODE_ENV: says production');
    expect(await readdir(folder)).toEqual([]);
  });
});
