import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { changeAccount, checkPassword, createAccount } from './accounts';
import { actorOfSession, beginSession, endSession } from './sessions';
import { actorOfToken, createToken, revokeToken } from './tokens';

const database = useTestDatabase();
let store: Store;
beforeAll(async () => {
  expect(await migrateStore(database.url)).toMatchObject({ ok: true });
  store = openStore(database.url);
});
afterAll(() => store.close());

const password = 'correct horse';
const from = (email: string, secret: string, address = '10.0.0.1') => checkPassword(store, { email, password: secret, address });

describe('signing in', () => {
  it('takes the right password, whatever the capitals of the address', async () => {
    const id = await createAccount(store, { email: 'Mina@Example.com', password, role: 'operator' });
    expect(await from('MINA@example.COM', password)).toEqual({ ok: true, accountId: id, email: 'mina@example.com' });
    expect(await from('mina@example.com', 'wrong')).toEqual({ ok: false, why: 'wrong' });
    expect(await from('nobody@example.com', password)).toEqual({ ok: false, why: 'wrong' });
    expect(await from('mina＠example.com', password)).toEqual({ ok: false, why: 'wrong' });
    await expect(createAccount(store, { email: 'mina@example.com', password, role: 'admin' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(createAccount(store, { email: 'joon@example.com', password, role: 'owner' })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('says "disabled" only to who knows the password', async () => {
    await createAccount(store, { email: 'gone@example.com', password, role: 'viewer' });
    await changeAccount(store, 'gone@example.com', { disabled: true });
    expect(await from('gone@example.com', password)).toEqual({ ok: false, why: 'disabled' });
    expect(await from('gone@example.com', 'wrong')).toEqual({ ok: false, why: 'wrong' });
  });

  it('stops guessing, parallel guesses too, and forgets after a good sign-in', async () => {
    await createAccount(store, { email: 'target@example.com', password, role: 'viewer' });
    for (let i = 0; i < 9; i += 1) expect(await from('target@example.com', 'guess')).toEqual({ ok: false, why: 'wrong' });
    expect(await from('target@example.com', password)).toMatchObject({ ok: true });
    const guesses = await Promise.all(Array.from({ length: 15 }, () => from('target@example.com', 'guess')));
    expect(guesses.filter((guess) => !guess.ok && guess.why === 'wrong')).toHaveLength(10);
    expect(await from('target@example.com', password)).toMatchObject({ ok: false, why: 'too_many', retryAfterSeconds: expect.any(Number) });
    expect(await from('target@example.com', password, '10.0.0.2')).toMatchObject({ ok: true });
    await database.query(`update login_attempt set window_started_at = now() - interval '16 minutes'`);
    expect(await from('target@example.com', password)).toMatchObject({ ok: true });
  }, 60_000);
});

describe('sessions', () => {
  it('end at once when revoked, disabled, or the role changes', async () => {
    const id = await createAccount(store, { email: 'sess@example.com', password, role: 'operator' });
    const begin = async () => (await beginSession(store, id, 8)) ?? '';
    const one = await begin();
    expect(await actorOfSession(store, one)).toEqual({ id: `account:${id}`, name: 'sess@example.com', role: 'operator', kind: 'account' });
    await endSession(store, one);
    expect(await actorOfSession(store, one)).toBeNull();
    const two = await begin();
    await changeAccount(store, 'sess@example.com', { role: 'viewer' });
    expect(await actorOfSession(store, two)).toBeNull();
    const three = await begin();
    await changeAccount(store, 'sess@example.com', { disabled: true });
    expect(await actorOfSession(store, three)).toBeNull();
    expect(await beginSession(store, id, 8)).toBeNull();
  });

  it.each([undefined, null, 1, '', 'x', "' or 1=1"])('are not %j', async (sid) => {
    expect(await actorOfSession(store, sid)).toBeNull();
  });
});

describe('tokens', () => {
  it('are known by hash only, noted when used, and end when revoked', async () => {
    const token = await createToken(store, { name: 'deploy', role: 'operator' });
    expect(token).toMatch(/^obx_[\w-]{43}$/);
    expect(JSON.stringify(await database.query('select * from api_token'))).not.toContain(token);
    expect(await actorOfToken(store, token)).toMatchObject({ name: 'deploy', role: 'operator', kind: 'token' });
    const used = await database.query<{ last_used_at: Date | null }>('select last_used_at from api_token');
    expect(used[0]?.last_used_at).not.toBeNull();
    expect(await actorOfToken(store, `${token}x`)).toBeNull();
    await expect(createToken(store, { name: 'deploy', role: 'viewer' })).rejects.toMatchObject({ code: 'conflict' });
    await revokeToken(store, 'deploy');
    expect(await actorOfToken(store, token)).toBeNull();
    await expect(revokeToken(store, 'deploy')).rejects.toMatchObject({ code: 'not_found' });
    expect(await createToken(store, { name: 'deploy', role: 'viewer', given: 'a-token-of-my-own' })).toBe('a-token-of-my-own');
    expect(await actorOfToken(store, 'a-token-of-my-own')).toMatchObject({ role: 'viewer' });
  });
});
