import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { changeAccount, createAccount } from './accounts';
import { knownAskers, type KnownAskers } from './known-askers';
import { createToken, revokeToken } from './tokens';
import { insertSession } from '@/lib/store/sign-ins';

const database = useTestDatabase();
let store: Store;
let clock = Date.now();
const unnoted: unknown[] = [];
const askers = (): KnownAskers => knownAskers(store, { now: () => clock, onUnnoted: (error) => unnoted.push(error) });

beforeAll(async () => {
  expect(await migrateStore(database.url)).toMatchObject({ ok: true });
  store = openStore(database.url);
});
afterAll(() => store.close());

const sessionOf = async (email: string): Promise<string> => {
  const id = await createAccount(store, { email, password: 'correct horse', role: 'operator' });
  const sid = await insertSession(store.db, id, 8);
  if (sid === null) throw new Error('no session');
  return sid;
};

const lookups = async (): Promise<number> => {
  const [row] = await database.query<{ scans: string }>(
    `select pg_stat_force_next_flush() is null as flushed, coalesce(idx_scan, 0) as scans from pg_stat_user_tables where relname = 'session'`,
  );
  return Number(row?.scans);
};

test('what many screens of a session ask in seconds is asked of the store once', async () => {
  const sid = await sessionOf('many@example.com');
  const known = askers();
  // Another connection's statistics arrive a moment later: the pool's own backend reports when it rests.
  const before = await lookups();
  const found = await Promise.all(Array.from({ length: 200 }, () => known.ofSession(sid, false)));
  expect(new Set(found.map((actor) => actor?.name))).toEqual(new Set(['many@example.com']));
  await expect.poll(lookups).toBeGreaterThan(before);
  expect((await lookups()) - before).toBeLessThanOrEqual(2);
});

test('who may no longer change anything is refused at once, and reads no longer than seconds', async () => {
  const sid = await sessionOf('gone@example.com');
  const known = askers();
  expect(await known.ofSession(sid, false)).toMatchObject({ role: 'operator' });
  await changeAccount(store, 'gone@example.com', { disabled: true });
  expect(await known.ofSession(sid, false)).toMatchObject({ role: 'operator' });
  expect(await known.ofSession(sid, true)).toBeNull();
  // What a change was refused for is known to who reads.
  expect(await known.ofSession(sid, false)).toBeNull();

  const token = await createToken(store, { name: 'script', role: 'viewer' });
  expect(await known.ofToken(token, false)).toMatchObject({ name: 'script' });
  await revokeToken(store, 'script');
  expect(await known.ofToken(token, false)).toMatchObject({ name: 'script' });
  clock += 10_001;
  expect(await known.ofToken(token, false)).toBeNull();
});

test('who signs out is nobody at once', async () => {
  const sid = await sessionOf('out@example.com');
  const known = askers();
  expect(await known.ofSession(sid, false)).not.toBeNull();
  await known.signOut(sid);
  expect(await known.ofSession(sid, false)).toBeNull();
});

test('the use of a token is noted, and a store that takes no writes keeps nobody from reading', async () => {
  const usedAt = async (): Promise<unknown[]> =>
    database.query(`select 1 from api_token where name = 'noted' and last_used_at is not null`);
  const token = await createToken(store, { name: 'noted', role: 'viewer' });
  expect(await askers().ofToken(token, true)).toMatchObject({ name: 'noted' });
  await expect.poll(usedAt).toHaveLength(1);

  await database.query(`update api_token set last_used_at = null where name = 'noted'`);
  const reading = openStore(`${database.url}${database.url.includes('?') ? '&' : '?'}options=-c%20default_transaction_read_only%3Don`);
  try {
    const known = knownAskers(reading, { onUnnoted: (error) => unnoted.push(error) });
    expect(await known.ofToken(token, true)).toMatchObject({ name: 'noted' });
    await expect.poll(() => unnoted.length).toBe(1);
    expect(await usedAt()).toHaveLength(0);
  } finally {
    await reading.close();
  }
});

test('a store that does not answer is no answer to remember', async () => {
  const sid = await sessionOf('again@example.com');
  const away = openStore('postgresql://nobody@127.0.0.1:1/none');
  const known = knownAskers(away, { onUnnoted: () => undefined });
  await expect(known.ofSession(sid, false)).rejects.toMatchObject({ code: 'connection' });
  await expect(known.ofSession(sid, false)).rejects.toMatchObject({ code: 'connection' });
  await away.close();
});

test('who is remembered keeps nothing of the request that asked first', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const sid = await sessionOf('forgetful@example.com');
  const known = askers();
  const request = new AsyncLocalStorage<object>();
  const answered = await (async () => {
    const answer = { rows: [] };
    await request.run(answer, () => known.ofSession(sid, false));
    return new WeakRef(answer);
  })();
  await expect
    .poll(
      () => {
        collect();
        return answered.deref() === undefined;
      },
      { timeout: 5_000 },
    )
    .toBe(true);
  expect(await known.ofSession(sid, false)).not.toBeNull();
});
