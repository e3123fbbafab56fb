/** Lines to a test's databases that break: at a commit, or when they are told to. */
import net from 'node:net';
import { openDatabase, type Database } from '@/lib/database/database';
import type { AnyTestDatabase } from './outbox';

/** The end of a packet that commits: MySQL puts the query's attributes, none here, before it, PostgreSQL a zero after it. */
const COMMIT = /commit\0?$/;
/** How much of such a packet is kept back when it is cut inside. */
const HALF_A_COMMIT = 6;

/**
 * Where a line breaks at a commit. `before`: it does not arrive. `inside`: half of its bytes do. `after`: it does, its answer does
 * not. `swallowed`: the same, and the connection stays open.
 */
export type Break = 'before' | 'inside' | 'after' | 'swallowed';

export interface Line {
  /** The same address through the line. */
  url: string;
  broke: () => boolean;
  /** Breaks at the next commit; `onBreak` as for `lineTo`. */
  breakAt: (when: Break, onBreak?: () => void) => void;
  /** Ends every connection and takes no new one, until `mend`. */
  cut: () => void;
  /** From now on every packet takes so many milliseconds longer, in both directions. */
  delay: (ms: number) => void;
  /** Open connections stay open and nothing comes through them any more, until `mend` ends them; new ones get through. */
  halfOpen: () => void;
  /** Lets everybody through at once; it does not break at a commit any more. */
  mend: () => void;
  close: () => void;
}

/** `onBreak` is called when it has broken at the commit; whoever connects then gets through, unless it is cut there. */
export async function lineTo(address: string, when: Break | null, onBreak: () => void = () => undefined): Promise<Line> {
  const url = new URL(address);
  const target = Number(url.port);
  const sockets = new Set<net.Socket>();
  let armed = when === null ? null : { when, onBreak };
  let broke = false;
  let down = false;
  let delayMs = 0;
  const silent = new Set<net.Socket>();
  /** Keeps the order of what was sent, whatever the delay was then. */
  const passing = (from: net.Socket, to: net.Socket): ((data: Buffer) => void) => {
    let last = 0;
    return (data) => {
      if (silent.has(from)) return;
      last = Math.max(last, Date.now() + delayMs);
      if (delayMs === 0 && last <= Date.now()) to.write(data);
      else setTimeout(() => silent.has(from) || to.write(data), last - Date.now());
    };
  };
  const cut = (): void => {
    down = true;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = net.createServer((client) => {
    if (down) {
      client.destroy();
      return;
    }
    const upstream = net.connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    upstream.on('data', passing(upstream, client));
    upstream.on('close', () => silent.has(client) || client.destroy());
    client.on('close', () => silent.has(client) || upstream.destroy());
    const forward = passing(client, upstream);
    client.on('data', (data) => {
      if (armed === null || silent.has(client) || !COMMIT.test(data.toString('latin1'))) {
        forward(data);
        return;
      }
      const at = armed;
      armed = null;
      broke = true;
      upstream.removeAllListeners('data');
      const breakDown = (): void => {
        client.destroy();
        at.onBreak();
      };
      if (at.when === 'before') breakDown();
      else if (at.when === 'inside') upstream.write(data.subarray(0, -HALF_A_COMMIT), breakDown);
      // The server's answer comes to nobody: it has committed.
      else upstream.once('data', at.when === 'after' ? breakDown : at.onBreak).write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    broke: () => broke,
    breakAt: (at, then = () => undefined) => {
      armed = { when: at, onBreak: then };
      broke = false;
    },
    cut,
    delay: (ms) => (delayMs = ms),
    halfOpen: () => {
      for (const socket of sockets) silent.add(socket);
    },
    mend: () => {
      down = false;
      armed = null;
      delayMs = 0;
      for (const socket of silent) socket.destroy();
      silent.clear();
    },
    close: () => {
      cut();
      server.close();
    },
  };
}

export interface BrokenDatabase extends Omit<Line, 'close'> {
  database: Database;
  close: () => Promise<void>;
}

/** The test's database with its operator (`createRoles`) behind a line that breaks at its first commit; its reader goes past it. */
export async function behindBreakingLine(when: Break | null, database: AnyTestDatabase, onBreak?: () => void): Promise<BrokenDatabase> {
  const line = await lineTo(database.urlFor(`o_${database.name}`, 'test'), when, onBreak);
  const proxied = openDatabase({ id: 'test', url: database.urlFor(`r_${database.name}`, 'test'), operatorUrl: line.url });
  return {
    ...line,
    database: proxied,
    close: async () => {
      await proxied.close();
      line.close();
    },
  };
}
