import net from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openStore } from './store';

const database = useTestDatabase();

test('whoever finds every connection in use waits in line', async () => {
  const store = openStore(database.url);
  // Ten at a time: the last ones wait for more than four seconds.
  const asked = Array.from({ length: 450 }, () => sql`select pg_sleep(0.1)`.execute(store.db));
  expect((await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')).toEqual([]);
  await store.close();
});

test('nobody waits in line for a store that does not answer', async () => {
  let attempts = 0;
  const silent = net.createServer((socket) => {
    attempts += 1;
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const store = openStore(`postgresql://nobody@127.0.0.1:${String((silent.address() as net.AddressInfo).port)}/none`);
  const asked = Array.from({ length: 200 }, () => sql`select 1`.execute(store.db));
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(asked.map(() => 'rejected'));
  // One found out for all of them.
  expect(attempts).toBe(1);
  await store.close();
  silent.close();
});
