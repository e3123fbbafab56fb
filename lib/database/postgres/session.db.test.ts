import net from 'node:net';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openDatabase, type Database } from '../database';

const database = useTestDatabase(async (db) => {
  await db.query('CREATE TABLE t (id int PRIMARY KEY)');
});

/** A line that writes down which side said what, one after the other; `held`: the server's answers wait. */
let said: ('client' | 'server')[];
let texts: string[];
let held: (() => void)[] | null;
let line: net.Server;
let db: Database;

beforeEach(async () => {
  [said, texts, held] = [[], [], null];
  line = net.createServer((client) => {
    const upstream = net.connect(Number(new URL(database.url).port), '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (data) => {
      said.push('client');
      texts.push(data.toString('latin1'));
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      said.push('server');
      if (held === null) client.write(data);
      else held.push(() => client.write(data));
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  const url = new URL(database.url);
  url.port = String((line.address() as net.AddressInfo).port);
  db = openDatabase({ id: 'test', url: url.href, operatorUrl: url.href });
  // Connected, and its version known.
  await db.read((read) => sql`select 1`.execute(read));
  await db.write?.((write) => sql`select 1`.execute(write));
  [said, texts] = [[], []];
});
afterEach(async () => {
  held?.forEach((answer) => answer());
  held = null;
  await db.close();
  line.close();
});

const all = (): string => texts.join('');
/** Ways there and back: a side that says more before the other one answers is still on its way. */
const ways = (): number => said.filter((side, index) => side === 'client' && said[index - 1] !== 'client').length;

describe('a transaction that reads', () => {
  it('goes out whole before anything is answered: its beginning, its settings, its statement', async () => {
    held = [];
    const read = db.read(
      async (at) => {
        await db.engine.byIndex(at);
        return sql<{
          timeout: string;
          seq: string;
        }>`select current_setting('statement_timeout') as timeout, current_setting('enable_seqscan') as seq`.execute(at);
      },
      { statementMs: 1_234 },
    );
    await expect.poll(all).toMatch(/start transaction.*read only.*set_config.*current_setting/s);
    held.splice(0).forEach((answer) => answer());
    held = null;
    expect((await read).rows).toEqual([{ timeout: '1234ms', seq: 'off' }]);
  });

  it('is two ways there and back with its end', async () => {
    const before = ways();
    await db.read((read) => sql`select 1`.execute(read));
    await expect.poll(all).toMatch(/commit\0/);
    await expect.poll(() => said.at(-1)).toBe('server');
    expect(ways() - before).toBe(2);
  });

  it('of one statement is one way there and back, and over also where it fails', async () => {
    const before = ways();
    await db.read((read) => sql`select 1`.execute(read), { alone: true });
    expect(ways() - before).toBe(1);
    await expect(db.read((read) => sql`select 1 / 0`.execute(read), { alone: true })).rejects.toMatchObject({ code: 'bad_value' });
    expect(all().match(/commit\0/g)).toHaveLength(2);
    await expect(
      db.read(
        async (read) => {
          await sql`select 1`.execute(read);
          await sql`select 2`.execute(read);
        },
        { alone: true },
      ),
    ).rejects.toThrow('one statement');
    expect((await db.read((read) => sql`select 1 as one`.execute(read))).rows).toEqual([{ one: 1 }]);
  });

  it('ends before whoever comes next begins, and leaves its settings to nobody', async () => {
    const settings = sql<{ timeout: string; pid: number }>`select current_setting('statement_timeout') as timeout, pg_backend_pid() as pid`;
    const first = await db.read((read) => settings.execute(read), { statementMs: 1_111 });
    const next = await db.read((read) => settings.execute(read), { statementMs: 2_222 });
    expect([first.rows[0]?.timeout, next.rows[0]?.timeout]).toEqual(['1111ms', '2222ms']);
    expect(next.rows[0]?.pid).toBe(first.rows[0]?.pid);
    await expect
      .poll(() =>
        database.query(
          `select pid, state from pg_stat_activity where application_name like 'outbox-console/reader%' and datname = current_database()`,
        ),
      )
      .toEqual([{ pid: next.rows[0]?.pid, state: 'idle' }]);
  });

  it('that fails is over: the next one finds nothing of it', async () => {
    await expect(db.read((read) => sql`select 1 / 0`.execute(read))).rejects.toMatchObject({ code: 'bad_value' });
    await expect(db.read((read) => sql`insert into t values (1)`.execute(read))).rejects.toMatchObject({ code: 'read_only' });
    const slow = db.read((read) => sql`select pg_sleep(5)`.execute(read), { statementMs: 50 });
    await expect(slow).rejects.toMatchObject({ code: 'timeout' });
    expect((await db.read((read) => sql`select 1 as one`.execute(read))).rows).toEqual([{ one: 1 }]);
  });

  it('that asks nothing sends nothing', async () => {
    expect(await db.read(() => Promise.resolve('nothing'))).toBe('nothing');
    expect(texts).toEqual([]);
  });
});

describe('a transaction that writes', () => {
  it('has begun, with its limits, before its first statement is sent, and its end is waited for', async () => {
    held = [];
    let over = false;
    const written = db.write?.((write) => sql`insert into t values (1)`.execute(write)).finally(() => (over = true));
    await expect.poll(all).toMatch(/start transaction.*read write.*set_config/s);
    await expect.poll(() => held?.length).toBeGreaterThan(0);
    expect(all()).not.toMatch(/insert/);
    const release = (): void => held?.splice(0).forEach((answer) => answer());
    release();
    await expect.poll(all).toMatch(/insert/);
    await expect.poll(() => held?.length).toBeGreaterThan(0);
    expect(all()).not.toMatch(/commit\0/);
    release();
    await expect.poll(all).toMatch(/commit\0/);
    await expect.poll(() => held?.length).toBeGreaterThan(0);
    expect(over).toBe(false);
    release();
    await written;
    expect(await database.query('select id from t')).toEqual([{ id: 1 }]);
  });

  it('that fails leaves nothing, and the connection serves the next', async () => {
    await expect(
      db.write?.(async (write) => {
        await sql`insert into t values (2)`.execute(write);
        await sql`insert into t values (2)`.execute(write);
      }),
    ).rejects.toMatchObject({ code: 'duplicate' });
    await db.write?.((write) => sql`insert into t values (3)`.execute(write));
    expect(await database.query('select id from t where id > 1')).toEqual([{ id: 3 }]);
  });
});
