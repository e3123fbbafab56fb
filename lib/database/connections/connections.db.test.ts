import net from 'node:net';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openDatabase, type Database, type DatabaseOptions } from '../database';
import { createServers, connectionLimits, type Servers } from './servers';

const one = useTestDatabase();
const two = useTestDatabase();
const three = useTestDatabase();

let servers: Servers;
let opened: Database[];
const open = (url: string, more: Partial<DatabaseOptions> = {}): Database => {
  const database = openDatabase({ id: new URL(url).pathname.slice(1) || 'none', url, servers, ...more });
  opened.push(database);
  return database;
};
beforeEach(() => {
  servers = createServers(6);
  opened = [];
});
afterEach(() => Promise.all(opened.map((database) => database.close())));

const ask = (database: Database, seconds = 0): Promise<unknown> => database.read((db) => sql`select pg_sleep(${seconds})`.execute(db));
/** Connections of ours that the server itself sees. */
const seen = async (): Promise<number> => {
  const rows = await one.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where application_name like 'outbox-console/%' and datname in ('${one.name}', '${two.name}', '${three.name}')`,
  );
  return rows[0]?.n ?? 0;
};

describe('the bound of a server', () => {
  it('is divided between kinds of work, with one for each at the least', () => {
    expect(connectionLimits(24)).toEqual({ reader: 11, content: 1, collector: 8, operator: 4 });
    expect(connectionLimits(3)).toEqual({ reader: 1, content: 0, collector: 1, operator: 1 });
  });

  it('holds over all its databases, connections at rest included, and everybody is served', async () => {
    const databases = [one, two, three].map(({ url }) => open(url));
    let most = 0;
    let done = false;
    const watching = (async () => {
      while (!done) most = Math.max(most, await seen());
    })();
    await Promise.all(Array.from({ length: 60 }, (_, at) => ask(databases[at % 3] ?? open(one.url), 0.01)));
    done = true;
    await watching;
    // Of the six that a server allows, three are for reading.
    expect(most).toBe(3);
    expect(servers.connections(one.name)?.server).toMatchObject({ open: 3, limit: 6 });
  });

  it('leaves an operator and the collector theirs, however many read', async () => {
    const reader = open(one.url, { operatorUrl: one.url });
    const collector = open(one.url, { readAs: 'collector' });
    const reading = Promise.all(Array.from({ length: 9 }, () => ask(reader, 0.9)));
    const began = performance.now();
    await Promise.all([reader.write?.((db) => sql`select 1`.execute(db)), ask(collector)]);
    // Before the first of them is served: whoever waited behind them would come after.
    expect(performance.now() - began).toBeLessThan(850);
    expect(reader.status().roles).toMatchObject({
      reader: { inUse: 3, waiting: 6, limit: 3 },
      collector: { inUse: 0, idle: 1, limit: 2 },
      operator: { inUse: 0, idle: 1, limit: 1 },
    });
    await reading;
  });

  it('makes somebody wait ten seconds at the most, and says that it was the wait', async () => {
    servers = createServers(3);
    const database = open(one.url);
    const long = [1, 2].map(() => database.read((db) => sql`select pg_sleep(6)`.execute(db), { statementMs: 7_000 }));
    await expect(ask(database)).rejects.toMatchObject({ code: 'busy' });
    await Promise.all(long);
    expect(database.status().state).toBe('up');
  });

  it('gives the place of a connection at rest to a database that needs it', async () => {
    servers = createServers(3);
    const [first, second] = [open(one.url), open(two.url)];
    for (let round = 0; round < 3; round += 1) {
      await ask(first);
      await ask(second);
    }
    expect(servers.connections(one.name)?.server.open).toBe(1);
    await expect.poll(seen).toBe(1);
  });
});

describe('a database that is away', () => {
  const sockets = new Set<net.Socket>();
  /** A door in front of the server: as it is opened it lets through, says nothing, or is not there. */
  async function door(): Promise<{
    url: string;
    tried: () => number;
    says: (mode: 'nothing' | 'through') => void;
    close(): Promise<void>;
  }> {
    let mode: 'nothing' | 'through' = 'nothing';
    let tried = 0;
    const target = new URL(one.url);
    const server = net.createServer((socket) => {
      tried += 1;
      sockets.add(socket.on('error', () => undefined));
      if (mode === 'nothing') return;
      const behind = net.connect(Number(target.port), target.hostname);
      sockets.add(behind.on('error', () => undefined));
      socket.pipe(behind).pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = new URL(one.url);
    url.host = `127.0.0.1:${String((server.address() as net.AddressInfo).port)}`;
    return {
      url: url.href,
      tried: () => tried,
      says: (wanted) => (mode = wanted),
      async close() {
        for (const socket of sockets) socket.destroy();
        sockets.clear();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  it('is tried by one caller for all who ask, and nobody waits once it is known', async () => {
    const silent = await door();
    const database = open(silent.url);
    await Promise.all(Array.from({ length: 20 }, () => expect(ask(database)).rejects.toMatchObject({ code: 'connection' })));
    expect(silent.tried()).toBe(1);
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => expect(ask(database)).rejects.toMatchObject({ code: 'connection' })));
    // An attempt takes three seconds.
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(silent.tried()).toBe(1);
    expect(database.status()).toMatchObject({ state: 'down', failure: { code: 'connection' } });
    await silent.close();
  });

  it('takes no connection that another database of the server could use', async () => {
    servers = createServers(3);
    const gone = new URL(one.url);
    gone.pathname = '/not_there';
    const [down, up] = [open(gone.href), open(two.url)];
    await Promise.all([
      ...Array.from({ length: 10 }, () => expect(ask(down)).rejects.toMatchObject({ code: 'connection' })),
      ...Array.from({ length: 10 }, () => ask(up)),
    ]);
    expect(down.status().state).toBe('down');
    expect(up.status().state).toBe('up');
  });

  it('is tried again ever more rarely, every two seconds in the end, and is up again soon after it is back', async () => {
    const changing = await door();
    changing.says('nothing');
    const database = open(changing.url);
    const until = Date.now() + 20_000;
    while (Date.now() < until && changing.tried() < 3) {
      await ask(database).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // Three seconds each, with half a second and a whole one between them.
    expect(changing.tried()).toBe(3);
    changing.says('through');
    const back = Date.now();
    await expect
      .poll(
        () =>
          ask(database).then(
            () => 'up',
            () => 'down',
          ),
        { interval: 100 },
      )
      .toBe('up');
    expect(Date.now() - back).toBeLessThan(12_000);
    expect(database.status()).toMatchObject({ state: 'up', failure: null });
    expect(database.status().version).toMatch(/^PostgreSQL \d+/);
    await changing.close();
  });

  it('does not keep an operator from trying', async () => {
    const silent = await door();
    const database = open(silent.url, { operatorUrl: one.url });
    await expect(ask(database)).rejects.toMatchObject({ code: 'connection' });
    await database.write?.((db) => sql`select 1`.execute(db));
    await silent.close();
  });
});
