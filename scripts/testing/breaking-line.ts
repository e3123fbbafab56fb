/** A line to a test's database that breaks at the first commit. */
import net from 'node:net';
import { openDatabase, type Database } from '@/lib/database/database';
import type { AnyTestDatabase } from './outbox';

/** The end of a packet that commits: MySQL puts the query's attributes, none here, before it, PostgreSQL a zero after it. */
const COMMIT = /commit\0?$/;

/** The test's database with its operator (`createRoles`) behind a line that breaks before the commit is through, or before it is answered. */
export async function behindBreakingLine(
  when: 'before' | 'after',
  database: AnyTestDatabase,
): Promise<{ database: Database; broke: () => boolean; close: () => Promise<void> }> {
  const target = Number(new URL(database.url).port);
  const sockets = new Set<net.Socket>();
  let broken = false;
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    upstream.on('data', (data) => client.write(data));
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.on('data', (data) => {
      if (broken || !COMMIT.test(data.toString('latin1'))) {
        upstream.write(data);
        return;
      }
      broken = true;
      upstream.removeAllListeners('data');
      if (when === 'before') client.destroy();
      // The server's answer comes to nobody: it has committed.
      else upstream.once('data', () => client.destroy()).write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(database.urlFor(`o_${database.name}`, 'test'));
  url.port = String((server.address() as net.AddressInfo).port);
  const proxied = openDatabase({ id: 'test', url: database.urlFor(`r_${database.name}`, 'test'), operatorUrl: url.href });
  return {
    database: proxied,
    broke: () => broken,
    close: async () => {
      await proxied.close();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
