/** A line to a test's database that hears every statement sent over it. */
import net from 'node:net';
import type { AnyTestDatabase } from './outbox';

export interface CountingLine {
  /** The database's own URL, over the line. */
  url: string;
  /** Statements since it was asked last, without those that begin, limit and end transactions, and without the collector's. */
  heard(): string[];
  close(): Promise<void>;
}

const HOUSEKEEPING = /^\s*(begin|start transaction|set|commit|rollback|select set_config)\b/i;

export async function overCountingLine(database: AnyTestDatabase): Promise<CountingLine> {
  const target = Number(new URL(database.url).port);
  const sockets = new Set<net.Socket>();
  let statements: string[] = [];
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    let ofCollector = false;
    const listen = (database.engine === 'postgres' ? postgresListener : mysqlListener)((text) => {
      if (!ofCollector) statements.push(text);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => {
      // Who connects says its name before anything else.
      ofCollector ||= data.includes('outbox-console/collector');
      listen(data);
      upstream.write(data);
    });
    upstream.on('data', (data) => client.write(data));
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(database.url);
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    heard() {
      const heard = statements.filter((text) => !HOUSEKEEPING.test(text));
      statements = [];
      return heard;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Listener = (say: (text: string) => void) => (data: Buffer) => void;

/** Messages are a letter, a length and a body; the first one has no letter. */
const postgresListener: Listener = (say) => {
  let left: Buffer = Buffer.alloc(0);
  let begun = false;
  return (data) => {
    left = Buffer.concat([left, data]);
    for (;;) {
      const at = begun ? 1 : 0;
      if (left.length < at + 4) return;
      const end = at + left.readUInt32BE(at);
      if (left.length < end) return;
      const kind = begun ? String.fromCharCode(left[0] ?? 0) : '';
      const body = left.subarray(at + 4, end);
      // A statement that is parsed has a name before it.
      if (kind === 'P') say(body.subarray(body.indexOf(0) + 1, body.indexOf(0, body.indexOf(0) + 1)).toString('utf8'));
      if (kind === 'Q') say(body.subarray(0, -1).toString('utf8'));
      begun = true;
      left = left.subarray(end);
    }
  };
};

/** Commands are packets with the number 0; one that was prepared before is executed by its number, and told as `execute`. */
const mysqlListener: Listener = (say) => {
  const [QUERY, EXECUTE] = [0x03, 0x17];
  let left: Buffer = Buffer.alloc(0);
  return (data) => {
    left = Buffer.concat([left, data]);
    while (left.length >= 4) {
      const end = 4 + left.readUIntLE(0, 3);
      if (left.length < end) return;
      if (left[3] === 0 && left[4] === QUERY) say(left.subarray(5, end).toString('utf8').replaceAll('\0', ''));
      if (left[3] === 0 && left[4] === EXECUTE) say('execute');
      left = left.subarray(end);
    }
  };
};
