import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '@/lib/config/config';
import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { SUPPORTED, parseConfig } from '@/lib/config/load';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { turnChanges } from '@/lib/proving/keep';
import { MINE, MINE_DDL } from '@/fixtures/mapping';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { CommandFailure, sentenceOf } from '../starting/command-failure';
import { useTestDatabase } from '../testing/database';
import { createRoles } from '../testing/outbox';
import { addProve } from './command';

const own = useTestDatabase();
const observed = useTestDatabase(async (db) => {
  await db.query(MINE_DDL);
  await db.query(`INSERT INTO mine (kind, body, state, key) VALUES ('mail', '{}', 3, 'one')`);
  await db.query('CREATE TABLE watched (id bigint PRIMARY KEY, sent boolean NOT NULL)');
});
const WATCHED = {
  columns: { id: 'id' },
  states: [
    { state: 'published', when: { column: 'sent', isTrue: true } },
    { state: 'pending', when: { always: true } },
  ],
};

let config: Config;
let store: Store;
beforeAll(async () => {
  expect(await migrateStore(own.url)).toMatchObject({ ok: true });
  store = openStore(own.url);
  const roles = await createRoles(observed);
  const outbox = (id: string, shape: unknown): string => `  - { id: ${id}, database: shop, table: ${id}, shape: ${JSON.stringify(shape)} }`;
  const reading = parseConfig(
    `databases:\n  shop: { url: "${roles.reader}", operatorUrl: "${roles.operator}" }\noutboxes:\n${outbox('mine', MINE)}\n${outbox('watched', WATCHED)}\n`,
    '/test.yaml',
    SUPPORTED,
    () => undefined,
  );
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  config = reading.config;
});
afterAll(() => store.close());

async function run(...args: string[]): Promise<{ out: string; status: number; error: string }> {
  const lines: string[] = [];
  const program = new Command('console').exitOverride().configureOutput({ writeErr: () => undefined });
  addProve(program, {
    configuration: () => Promise.resolve(config),
    withStore: (work) => work(store),
    answer: (line) => void lines.push(line),
  });
  try {
    await program.parseAsync(['node', 'console', 'prove', ...args]);
    return { out: lines.join('\n'), status: Number(process.exitCode ?? 0), error: '' };
  } catch (error) {
    return { out: lines.join('\n'), status: error instanceof CommandFailure ? error.status : 1, error: sentenceOf(error) };
  } finally {
    process.exitCode = undefined;
  }
}

async function withDirectory<T>(work: (directory: ReturnType<typeof createDirectory>) => Promise<T>): Promise<T> {
  const directory = createDirectory(directoryOptions(config));
  return work(directory).finally(() => directory.close());
}

async function install(id: string): Promise<void> {
  await withDirectory(async (directory) => {
    const outbox = await bindForInstall(directory.settings(id), directory.database(id), observed.url);
    await applyInstall(outbox, observed.url);
  });
}

describe('console prove', () => {
  it.each([
    [['mien'], 2, 'There is no outbox "mien" in the configuration; did you mean "mine"?'],
    [['mine', ...Array.from({ length: 13 }, () => ['--event', '1']).flat()], 2, '--event: at most 12 events'],
  ])('refuses %j before it does anything, and says what is wrong', async (args, status, error) => {
    const answer = await run(...args);
    expect(answer).toMatchObject({ out: '', status });
    expect(answer.error).toContain(error);
  });

  it('says what to run first', async () => {
    await install('watched');
    expect(await run('mine')).toMatchObject({ out: '', status: 1 });
    expect((await run('mine')).error).toContain('(not_installed): ');
    expect((await run('mine')).error).toContain('npm run console -- install mine');
  });

  it('says of each operation what it does, and where changes are turned on', async () => {
    await install('mine');
    const { out, status, error } = await run('mine');
    expect([status, error]).toEqual([0, '']);
    expect(out).toContain('ok   requeue dead → pending in public.mine, on 1 [');
    expect(out).toContain('Nothing of it remains');
    expect(out).toContain('/outboxes/mine/settings');
    expect(await observed.query('SELECT count(*)::int AS rows FROM mine')).toEqual([{ rows: 1 }]);
    await withDirectory(async (directory) =>
      turnChanges(
        store,
        directory,
        await directory.get('mine'),
        { on: true, reason: 'read' },
        { id: 'a', name: 'Anna', role: 'admin', kind: 'account' },
      ),
    );
    expect((await run('mine')).out).toMatch(/Changes are on\.$/);
  });

  it('answers the whole proof as JSON', async () => {
    const proof = JSON.parse((await run('mine', '--json')).out) as { outcome: string; results: { statements: unknown[] }[] };
    expect(proof.outcome).toBe('proven');
    expect(proof.results.filter(({ statements }) => statements.length > 0)).toHaveLength(3);
  });

  it('has nothing to prove of a mapping that only watches', async () => {
    const { out, status } = await run('watched');
    expect(status).toBe(1);
    expect(out).toMatch(/there is nothing to prove\. Operations are written into the mapping/);
  });
});
