import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lanesOfOwn } from '@/lib/database/connections/share';
import { postgresEngine } from '@/lib/database/postgres/engine';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS, type EmbeddedPostgres } from './embedded-postgres';
import { EmbeddedPostgresInUse } from './data-folder';
import { identify, isAlive } from './processes';

let dir: string;
const running: EmbeddedPostgres[] = [];
const others: ChildProcess[] = [];

async function start(more: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dir, settings: THROWAWAY_SETTINGS, ...more });
  running.push(postgres);
  return postgres;
}

async function ask(postgres: EmbeddedPostgres, statement: string, database = 'postgres'): Promise<string[]> {
  const dialect = postgresEngine.dialect({
    url: postgres.superuserUrl(database),
    applicationName: 'test',
    lane: lanesOfOwn(1, 5_000),
    connectTimeoutMs: 5_000,
    clientTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  const db = new Kysely({ dialect });
  try {
    const { rows } = await sql.raw<Record<string, string>>(statement).execute(db);
    return rows.map((row) => Object.values(row).join(' '));
  } finally {
    await db.destroy();
  }
}

/** A process that does nothing and is not a child of the server it owns. */
async function bystander(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  others.push(child);
  await once(child, 'spawn');
  return child;
}

beforeEach(async () => {
  dir = path.join(makeDataFolder('embedded-'), 'pg');
  // mkdtemp closes its folder to everybody else, and under root the server's user must pass.
  await chmod(path.dirname(dir), 0o711);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  for (const child of others.splice(0)) child.kill('SIGKILL');
  await rm(path.dirname(dir), { recursive: true, force: true });
});

describe('startEmbeddedPostgres', () => {
  it('answers on loopback only, in UTC and UTF-8, and keeps its password to itself', async () => {
    const postgres = await start();
    expect(await ask(postgres, 'show listen_addresses')).toEqual(['127.0.0.1']);
    expect(await ask(postgres, 'show unix_socket_directories')).toEqual(['']);
    expect(await ask(postgres, 'show timezone')).toEqual(['UTC']);
    expect(await ask(postgres, 'show server_encoding')).toEqual(['UTF8']);
    expect(await ask(postgres, 'show fsync')).toEqual(['off']);
    expect((await stat(path.join(dir, 'password'))).mode & 0o777).toBe(0o600);
    const stranger = { ...postgres, superuserUrl: (name: string) => postgres.superuserUrl(name).replace(/:[^:@]+@/, ':wrong@') };
    await expect(ask(stranger, 'select 1')).rejects.toThrow();
  });

  it('makes databases under any name, and keeps data over a restart', async () => {
    const first = await start();
    await first.createDatabase('odd "name"');
    await ask(first, 'create table kept as select 7 as n', 'odd "name"');
    await first.stop();
    const second = await start();
    expect(await ask(second, 'select n from kept', 'odd "name"')).toEqual(['7']);
    await second.stop();
    const third = await start({ fresh: true });
    expect(await ask(third, "select count(*) from pg_database where datname like 'odd%'")).toEqual(['0']);
  });

  it('refuses a folder whose owner is running', async () => {
    await start();
    await expect(startEmbeddedPostgres({ dir })).rejects.toThrow(EmbeddedPostgresInUse);
    await expect(startEmbeddedPostgres({ dir })).rejects.toThrow(new RegExp(`belongs to process ${process.pid}`));
  });

  it('takes over from an owner that was killed, server and data', async () => {
    const owner = await bystander();
    const orphan = await start({ ownerPid: owner.pid ?? 0 });
    await ask(orphan, 'create table kept as select 7 as n');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    const heir = await start();
    expect(heir.pid).not.toBe(orphan.pid);
    expect(isAlive(orphan.pid)).toBe(false);
    expect(await ask(heir, 'select n from kept')).toEqual(['7']);
    expect(await orphan.exited).toMatchObject({ expected: false });
  });

  it('knows an owner from another process that got its number', async () => {
    const postgres = await start();
    await postgres.stop();
    const other = await bystander();
    const identity = await identify(other.pid ?? 0);
    await writeFile(path.join(dir, 'owner.json'), JSON.stringify({ owner: { pid: other.pid, startedAt: 'another boot/1' } }));
    expect(identity?.startedAt).not.toBe('another boot/1');
    await start();
    expect(isAlive(other.pid ?? 0)).toBe(true);
  });

  it('ignores a half-written owner file and a half-made data folder', async () => {
    await mkdir(path.join(dir, 'draft/data'), { recursive: true });
    await writeFile(path.join(dir, 'owner.json'), '{"own');
    expect(await ask(await start(), 'select 1')).toEqual(['1']);
  });

  it('says what is wrong when the port is taken, and leaves the folder free', async () => {
    const blocker = net.createServer();
    blocker.listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as net.AddressInfo;
    await expect(startEmbeddedPostgres({ dir, port })).rejects.toThrow(/Address already in use/);
    blocker.close();
    expect((await start({ port })).port).toBe(port);
  });

  it('reports a server that ends by itself', async () => {
    const postgres = await start();
    process.kill(postgres.pid, 'SIGQUIT');
    const report = await postgres.exited;
    expect(report.expected).toBe(false);
    expect(report.log).toContain('immediate shutdown');
    await postgres.stop();
  });

  it('stops within its time although a session is busy', async () => {
    const postgres = await start();
    const busy = ask(postgres, 'select pg_sleep(60)').catch(() => 'ended');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = Date.now();
    await postgres.stop();
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(await busy).toBe('ended');
    await expect(readFile(path.join(dir, 'owner.json'))).rejects.toThrow('ENOENT');
  });

  it('refuses settings that PostgreSQL refuses, with its words', async () => {
    await expect(startEmbeddedPostgres({ dir, settings: { max_connections: 'many' } })).rejects.toThrow(
      /invalid value for parameter "max_connections"/,
    );
  });
});
