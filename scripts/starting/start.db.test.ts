import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '@/lib/identity/sign-in';
import { actorOfToken } from '@/lib/identity/tokens';
import { freePort } from '@/lib/store/embedded/processes';
import { openStore } from '@/lib/store/store';
import { useTestDatabase } from '../testing/database';

const ROOT = path.resolve(import.meta.dirname, '../..');
const database = useTestDatabase();
let folder: string;
let config: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'outbox-console-start-'));
  config = path.join(folder, 'console.yaml');
  await writeFile(
    config,
    `store: ${database.url}\ndatabases: {a: {url: '${database.url}'}}\noutboxes: [{id: a, database: a, table: t, shape: published-at}]\n`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function run(script: string, args: string[], env: Record<string, string>, input = ''): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', path.join(ROOT, 'scripts', script), ...args], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', ...env },
    });
    const ended: Ended = { code: null, out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (ended.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (ended.err += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...ended, code }));
    child.stdin.end(input);
  });
}

const command = (args: string[], input = ''): Promise<Ended> => run('console.ts', args, { OUTBOX_CONSOLE_CONFIG: config }, input);

describe('npm start', () => {
  it('lists every problem at once, ends with 78 and listens nowhere', async () => {
    const bad = path.join(folder, 'bad.yaml');
    await writeFile(bad, `databases: {a: {url: 'sqlite://x'}}\noutboxes: [{id: a, database: b, tabel: t, shape: nope}]\n`);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, out, err } = await run('start.ts', [], {
      OUTBOX_CONSOLE_CONFIG: bad,
      PORT: String(port),
      OUTBOX_CONSOLE_DIST_DIR: path.join(folder, 'not-built'),
    });
    taken.close();
    expect(code).toBe(78);
    expect(out).toBe('');
    for (const start of [
      'NEXTAUTH_SECRET: missing',
      `PORT: ${String(port)} is in use`,
      'databases.a.url: ',
      'outboxes[0].database: ',
      'outboxes[0].shape: ',
      'outboxes[0].tabel: outbox a: unknown key; did you mean "table"?',
      'outboxes[0].table: outbox a: missing',
      '.next: the console is not built; run npm run build',
    ]) {
      expect(err).toContain(`\n  ${start}`);
    }
  });

  it('looks at the tables before it listens, and says what they say against mappings beside all the rest', async () => {
    await database.query('CREATE TABLE started (id bigint PRIMARY KEY, made_at timestamptz NOT NULL)');
    const mapped = path.join(folder, 'mapped.yaml');
    const port = String(await freePort());
    const shape = (column: string): string => `{columns: {id: id, createdAt: ${column}}, states: [{state: pending, when: {always: true}}]}`;
    const lines = [
      `{id: typo, database: a, table: started, shape: published-att}`,
      `{id: misfit, database: a, table: started, shape: ${shape('mad_at')}}`,
      `{id: fits, database: a, table: started, shape: ${shape('made_at')}}`,
      `{id: no-table, database: a, table: starded, shape: ${shape('made_at')}}`,
    ];
    const start = async (outboxes: string[]): Promise<Ended> => {
      await writeFile(mapped, `store: ${database.url}\ndatabases: {a: {url: '${database.url}'}}\noutboxes: [${outboxes.join(', ')}]\n`);
      return run('start.ts', [], {
        OUTBOX_CONSOLE_CONFIG: mapped,
        PORT: port,
        NEXTAUTH_URL: `http://127.0.0.1:${port}`,
        NEXTAUTH_SECRET: 'x'.repeat(32),
        OUTBOX_CONSOLE_DIST_DIR: path.join(folder, 'not-built'),
      });
    };
    const { code, out, err } = await start(lines);
    expect([code, out]).toEqual([78, '']);
    expect(err).toContain('\n  outboxes[0].shape: outbox typo: there is no shape "published-att"');
    expect(err).toContain(
      '\n  outboxes[1].shape.columns.createdAt: outbox misfit: the table has no column "mad_at"; did you mean "made_at"?',
    );
    expect(err).toContain('\n  outboxes[3].table: outbox no-table: table starded does not exist');
    expect(err).toContain('\nAn outbox that is left out (its lines commented) keeps no other from starting.');
    expect(err).toContain('4 problems');
    expect((await start(lines.slice(1))).err).toContain('\n  outboxes[0].shape.columns.createdAt: outbox misfit: the table has no column');
  });

  it('serves below the path it was built for, and refuses another one', async () => {
    const built = path.join(folder, 'built');
    await mkdir(built);
    await writeFile(path.join(built, 'BUILD_ID'), 'x');
    await writeFile(path.join(built, 'routes-manifest.json'), '{"basePath": "/outbox"}');
    const start = async (env: Record<string, string>): Promise<string> => {
      // Without a secret nothing starts, whatever else is well.
      const port = String(await freePort());
      const { code, err } = await run('start.ts', [], {
        OUTBOX_CONSOLE_CONFIG: config,
        OUTBOX_CONSOLE_DIST_DIR: built,
        PORT: port,
        ...env,
      });
      expect(code).toBe(78);
      return err;
    };
    const fitting: Record<string, string>[] = [{}, { NEXTAUTH_URL: 'https://a.example/outbox' }, { OUTBOX_CONSOLE_BASE_PATH: '/outbox' }];
    for (const env of fitting) expect(await start(env)).toContain('cannot start: 1 problem\n  NEXTAUTH_SECRET: missing');
    expect(await start({ NEXTAUTH_URL: 'https://a.example/other' })).toContain(
      '\n  NEXTAUTH_URL: write the address without a path, or with /outbox',
    );
    expect(await start({ OUTBOX_CONSOLE_BASE_PATH: '/other', NEXTAUTH_URL: 'https://a.example/other' })).toContain(
      '\n  OUTBOX_CONSOLE_BASE_PATH: is /other, but the console was built for /outbox; run npm run build with it, or leave it out',
    );
  });

  it('must be told its address when others can reach it, and needs a store that answers', async () => {
    const away = path.join(folder, 'away.yaml');
    const port = String(await freePort());
    await writeFile(
      away,
      `store: postgresql://x@127.0.0.1:1/x\ndatabases: {a: {url: '${database.url}'}}\noutboxes: [{id: a, database: a, table: t, shape: published-at}]\n`,
    );
    const { code, err } = await run('start.ts', [], {
      OUTBOX_CONSOLE_CONFIG: away,
      HOST: '0.0.0.0',
      PORT: port,
      NEXTAUTH_SECRET: 'too short',
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(78);
    expect(err).toContain('\n  NEXTAUTH_SECRET: use at least 32 characters');
    expect(err).toContain('\n  LOG_LEVEL: write one of');
    expect(err).toContain('\n  store: cannot be reached');
    const again = await run('start.ts', [], {
      OUTBOX_CONSOLE_CONFIG: away,
      HOST: '0.0.0.0',
      PORT: port,
      NEXTAUTH_SECRET: 'x'.repeat(32),
    });
    expect(again.err).toContain('\n  NEXTAUTH_URL: missing');
  });
});

describe('the command line', () => {
  it('creates accounts and tokens that work, on a store nobody has migrated, and answers nothing else', async () => {
    const user = await command(
      ['user', 'create', '--email', 'Mina@Example.com', '--role', 'operator', '--password-stdin'],
      'correct horse\n',
    );
    expect(user).toEqual({ code: 0, out: 'created Mina@Example.com (operator)\n', err: '' });
    const token = await command(['token', 'create', '--name', 'deploy', '--role', 'viewer', '--json']);
    expect([token.code, token.err]).toEqual([0, '']);
    const store = openStore(database.url);
    try {
      expect(await signIn(store, { email: 'mina@example.com', password: 'correct horse', address: 'x', browser: null }, 8)).toMatchObject({
        ok: true,
      });
      expect(await actorOfToken(store, (JSON.parse(token.out) as { token: string }).token)).toMatchObject({
        name: 'deploy',
        role: 'viewer',
      });
      expect(JSON.parse((await command(['user', 'list', '--json'])).out)).toEqual({
        users: [
          {
            id: expect.any(String) as string,
            email: 'mina@example.com',
            role: 'operator',
            disabled: false,
            createdAt: expect.stringMatching(/^20.*Z$/) as string,
            lastSignInAt: expect.stringMatching(/^20.*Z$/) as string,
          },
        ],
      });
      const short = await command(['token', 'create', '--name', 'short', '--role', 'viewer', '--days', '2', '--json']);
      const listed = await command(['token', 'list', '--json']);
      expect([short.err, listed.err]).toEqual(['', '']);
      for (const { out } of [token, short]) expect(listed.out).not.toContain((JSON.parse(out) as { token: string }).token.slice(4, 12));
      expect((JSON.parse(listed.out) as { tokens: unknown[] }).tokens).toMatchObject([
        { name: 'deploy', role: 'viewer', expiresAt: null, revokedAt: null },
        { name: 'short', role: 'viewer', expiresAt: expect.stringMatching(/^20.*Z$/) as string, lastUsedAt: null },
      ]);
      expect((await command(['token', 'list'])).out).toMatch(/^ {2}NAME +ROLE +ENDS +LAST USED\n {2}deploy +viewer +when revoked/);
      expect((await command(['user', 'list'])).out).toMatch(/mina@example\.com +operator +enabled +20/);
    } finally {
      await store.close();
    }
    expect(await command(['migrate', '--json'])).toMatchObject({ code: 0, out: '{"applied":[]}\n' });
  });

  it('says on standard error what is wrong, and ends accordingly', async () => {
    const [noPassword, noRole, noVerb, noConfig, noDays, help] = await Promise.all([
      command(['user', 'create', '--email', 'x@example.com', '--role', 'viewer']),
      command(['user', 'create', '--email', 'x@example.com', '--role', 'boss', '--password-stdin'], 'correct horse'),
      command(['no-such-verb']),
      run('console.ts', ['migrate'], { OUTBOX_CONSOLE_CONFIG: '/nowhere.yaml' }),
      command(['token', 'create', '--name', 'x', '--role', 'viewer', '--days', '0']),
      command(['user', 'create', '--help']),
    ]);
    expect(noPassword).toMatchObject({ code: 2, out: '' });
    expect(noRole).toMatchObject({ code: 1, out: '', err: 'There is no role "boss"; use one of viewer, operator, approver, admin\n' });
    expect(noVerb).toMatchObject({ code: 2, out: '' });
    expect(noConfig).toMatchObject({ code: 78, out: '' });
    expect(noDays).toMatchObject({ code: 2, out: '', err: '--days: write a whole number of days, 1 to 3650\n' });
    expect(help.code).toBe(0);
    expect(help.out).toContain('--password-stdin');
  });
});
