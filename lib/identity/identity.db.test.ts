import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { changeAccount, createAccount } from './accounts';
import { actorOfSession } from './known-askers';
import { signIn } from './sign-in';
import { actorOfToken, createToken, revokeToken } from './tokens';
import { selectApiTokens } from '@/lib/store/api-tokens';
import { insertSession, revokeSession } from '@/lib/store/sign-ins';

const database = useTestDatabase();
let store: Store;
beforeAll(async () => {
  expect(await migrateStore(database.url)).toMatchObject({ ok: true });
  store = openStore(database.url);
});
afterAll(() => store.close());

const password = 'correct horse';
const from = (email: string, secret: string, address = '10.0.0.1', browser: string | null = null) =>
  signIn(store, { email, password: secret, address, browser }, 8);
const entries = (email: string) =>
  database.query<{
    operation: string;
    outcome: string;
    code: string | null;
    outbox: string | null;
    actor_name: string;
    before: unknown;
    after: unknown;
  }>(
    `select operation, outcome, code, outbox, actor_name, before, after from audit_entry
      where actor_name = $1 or coalesce(after, before) ->> 'email' = $1 or coalesce(after, before) ->> 'name' = $1 order by recorded_at`,
    [email],
  );

describe('signing in', () => {
  it('takes the right password, whatever the capitals of the address', async () => {
    const id = await createAccount(store, { email: 'Mina@Example.com', password, role: 'operator' });
    expect(await from('MINA@example.COM', password)).toEqual({
      ok: true,
      accountId: id,
      email: 'mina@example.com',
      sid: expect.any(String),
    });
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

  it('asks the store the same of an address that an account has as of any other, however often it fails', async () => {
    await createAccount(store, { email: 'has@example.com', password, role: 'viewer' });
    await createAccount(store, { email: 'disabled@example.com', password, role: 'viewer' });
    await changeAccount(store, 'disabled@example.com', { disabled: true });
    const failures = async (email: string): Promise<string[][]> => {
      const runs: string[][] = [];
      // One more than are let through from one place.
      for (let run = 0; run <= 10; run += 1) {
        const statements: string[] = [];
        const db = store.db.withPlugin({
          transformQuery({ node, queryId }) {
            statements.push(store.db.getExecutor().compileQuery(node, queryId).sql);
            return node;
          },
          transformResult: ({ result }) => Promise.resolve(result),
        });
        const end = await signIn({ ...store, db }, { email, password: 'guess', address: `192.0.2.${email.length}`, browser: null }, 8);
        expect(end.ok).toBe(false);
        runs.push(statements);
      }
      return runs;
    };
    const [unknown, known, disabled] = [
      await failures('has-not@example.com'),
      await failures('has@example.com'),
      await failures('disabled@example.com'),
    ];
    expect(known).toEqual(unknown);
    expect(disabled).toEqual(unknown);
    // Each ends with a write, which waits for the disk in all of them.
    expect(unknown.map((statements) => /(insert into|update) "login_attempt"/.test(statements.at(-1) ?? ''))).toEqual(
      unknown.map(() => true),
    );
  }, 480_000);

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
  });
});

// A guess costs a second of computing or more, as it should: what takes as long as these may hangs.
describe('guessing', () => {
  const guesses = async (count: number, email: string, place: (index: number) => [address: string, browser?: string]) => {
    const answers = [];
    for (let i = 0; i < count; i += 1) answers.push(await from(email, 'guess', ...place(i)));
    return answers.map((answer) => (answer.ok ? 'ok' : answer.why));
  };

  it('from many places does not lock an account out of where it signed in before, and does so everywhere else', async () => {
    await createAccount(store, { email: 'owner@example.com', password, role: 'admin' });
    expect(await from('owner@example.com', password, '192.0.2.1', 'a browser at home')).toMatchObject({ ok: true });
    expect(await from('owner@example.com', password, '2001:db8:1:2::3')).toMatchObject({ ok: true });
    await database.query('delete from login_attempt');
    const answers = await guesses(60, 'owner@example.com', (i) => [`198.51.100.${String(i)}`]);
    expect(answers.filter((why) => why === 'wrong')).toHaveLength(50);
    expect(answers.slice(50)).toEqual(Array(10).fill('too_many'));
    // By address, by the address's network, and by the browser wherever it is; a browser that pretends is a new place.
    expect(await from('owner@example.com', password, '192.0.2.1')).toMatchObject({ ok: true });
    expect(await from('owner@example.com', password, '2001:db8:1:2:ffff::9')).toMatchObject({ ok: true });
    expect(await from('owner@example.com', password, '203.0.113.7', 'a browser at home')).toMatchObject({ ok: true });
    expect(await from('owner@example.com', password, '203.0.113.8', 'some browser')).toMatchObject({ ok: false, why: 'too_many' });
    // What was open before its owner came in is not open again: the guesses are not forgiven with it.
    expect(await from('owner@example.com', 'guess', '203.0.113.9')).toMatchObject({ ok: false, why: 'too_many' });
  }, 480_000);

  it('at the address of its owner leaves the owner the browser, and a known place is no way around', async () => {
    await createAccount(store, { email: 'shared@example.com', password, role: 'viewer' });
    expect(await from('shared@example.com', password, '192.0.2.50', 'the browser')).toMatchObject({ ok: true });
    const answers = await guesses(51, 'shared@example.com', () => ['192.0.2.50']);
    expect(answers.filter((why) => why === 'wrong')).toHaveLength(10);
    expect(await from('shared@example.com', password, '192.0.2.50', 'the browser')).toMatchObject({ ok: true });
    const stolen = await guesses(15, 'shared@example.com', (i) => [`198.51.101.${String(i)}`, 'the browser']);
    expect(stolen.filter((why) => why === 'wrong')).toHaveLength(10);
    await changeAccount(store, 'shared@example.com', { password: 'another password' });
    expect(
      await database.query(`select 1 from sign_in_place p join account a on a.id = p.account_id where a.email = 'shared@example.com'`),
    ).toEqual([]);
  }, 480_000);

  it('from one address is no attempt on the account once that address is stopped', async () => {
    await createAccount(store, { email: 'quiet@example.com', password, role: 'viewer' });
    await guesses(51, 'quiet@example.com', () => ['198.51.102.1']);
    expect(await from('quiet@example.com', password, '192.0.2.77')).toMatchObject({ ok: true });
  }, 480_000);
});

describe('the audit', () => {
  it('tells of sign-ins, of one failure in a quarter of an hour, and of no name that nobody has', async () => {
    await createAccount(store, { email: 'told@example.com', password, role: 'operator' });
    await database.query('delete from audit_entry');
    for (let i = 0; i < 3; i += 1) await from('told@example.com', 'guess', '192.0.2.9');
    await from('told@example.com', password, '192.0.2.9');
    await from('nobody-at-all@example.com', 'guess');
    await from('my password', 'guess');
    expect(await entries('told@example.com')).toEqual([
      {
        operation: 'sign_in_failed',
        outcome: 'refused',
        code: 'wrong',
        outbox: null,
        actor_name: 'told@example.com',
        before: null,
        after: { address: '192.0.2.9' },
      },
      {
        operation: 'sign_in',
        outcome: 'applied',
        code: null,
        outbox: null,
        actor_name: 'told@example.com',
        before: null,
        after: { address: '192.0.2.9' },
      },
    ]);
    expect(await database.query(`select 1 from audit_entry where actor_name like 'nobody%' or actor_name like 'my%'`)).toEqual([]);
    // Whoever could not sign in has no role.
    expect(await database.query(`select operation, actor_role from audit_entry where actor_name = 'told@example.com' order by 1`)).toEqual([
      { operation: 'sign_in', actor_role: 'operator' },
      { operation: 'sign_in_failed', actor_role: '' },
    ]);
  });

  it('tells of accounts and tokens, in the transaction that changes them', async () => {
    await createAccount(store, { email: 'changed@example.com', password, role: 'viewer' });
    await changeAccount(store, 'changed@example.com', { role: 'admin', disabled: true, password: 'another password' });
    await createToken(store, { name: 'changing', role: 'viewer', days: 3 }, { id: 'account:x', name: 'boss@example.com', role: 'admin' });
    await revokeToken(store, 'changing');
    const email = 'changed@example.com';
    expect(await entries(email)).toMatchObject([
      { operation: 'account_created', outbox: null, actor_name: 'command line', before: null, after: { email, role: 'viewer' } },
      {
        operation: 'account_changed',
        before: { email, role: 'viewer', state: 'enabled' },
        after: { email, role: 'admin', state: 'disabled', password: 'changed' },
      },
    ]);
    expect(await entries('changing')).toMatchObject([
      { operation: 'token_created', actor_name: 'boss@example.com', after: { name: 'changing', role: 'viewer', days: '3' } },
      { operation: 'token_revoked', actor_name: 'command line', before: { name: 'changing', role: 'viewer' }, after: null },
    ]);
    const secrets = JSON.stringify(await database.query('select * from audit_entry'));
    for (const secret of [password, 'another password', 'obx_', '$scrypt$']) expect(secrets).not.toContain(secret);
  });

  it('that takes no entry lets nobody in and changes nothing', async () => {
    await createAccount(store, { email: 'closed@example.com', password, role: 'viewer' });
    await database.query(
      `alter table audit_entry add constraint closed check (operation <> 'sign_in' and operation <> 'account_changed') not valid`,
    );
    try {
      await expect(from('closed@example.com', password)).rejects.toThrow();
      await expect(changeAccount(store, 'closed@example.com', { role: 'admin' })).rejects.toThrow();
    } finally {
      await database.query('alter table audit_entry drop constraint closed');
    }
    expect(
      await database.query(
        `select role, (select count(*)::int from session where account_id = account.id) as sessions from account where email = 'closed@example.com'`,
      ),
    ).toEqual([{ role: 'viewer', sessions: 0 }]);
  });
});

describe('sessions', () => {
  it('end at once when revoked, disabled, or the role changes', async () => {
    const id = await createAccount(store, { email: 'sess@example.com', password, role: 'operator' });
    const begin = async () => (await insertSession(store.db, id, 8)) ?? '';
    const one = await begin();
    expect(await actorOfSession(store, one)).toEqual({ id: `account:${id}`, name: 'sess@example.com', role: 'operator', kind: 'account' });
    await revokeSession(store.db, one);
    expect(await actorOfSession(store, one)).toBeNull();
    const two = await begin();
    await changeAccount(store, 'sess@example.com', { role: 'viewer' });
    expect(await actorOfSession(store, two)).toBeNull();
    const three = await begin();
    await changeAccount(store, 'sess@example.com', { disabled: true });
    expect(await actorOfSession(store, three)).toBeNull();
    expect(await insertSession(store.db, id, 8)).toBeNull();
  });

  it.each([undefined, null, 1, '', 'x', "' or 1=1"])('are not %j', async (sid) => {
    expect(await actorOfSession(store, sid)).toBeNull();
  });
});

describe('tokens', () => {
  it('are known by hash only, and end when revoked', async () => {
    const token = await createToken(store, { name: 'deploy', role: 'operator' });
    expect(token).toMatch(/^obx_[\w-]{43}$/);
    expect(JSON.stringify(await database.query('select * from api_token'))).not.toContain(token);
    expect(await actorOfToken(store, token)).toMatchObject({ name: 'deploy', role: 'operator', kind: 'token' });
    expect(await actorOfToken(store, `${token}x`)).toBeNull();
    await expect(createToken(store, { name: 'deploy', role: 'viewer' })).rejects.toMatchObject({ code: 'conflict' });
    await revokeToken(store, 'deploy');
    expect(await actorOfToken(store, token)).toBeNull();
    await expect(revokeToken(store, 'deploy')).rejects.toMatchObject({ code: 'not_found' });
    expect(await createToken(store, { name: 'deploy', role: 'viewer', given: 'a-token-of-my-own' })).toBe('a-token-of-my-own');
    expect(await actorOfToken(store, 'a-token-of-my-own')).toMatchObject({ role: 'viewer' });
  });

  it('end by themselves, and give their name back', async () => {
    const token = await createToken(store, { name: 'for a day', role: 'viewer', days: 1 });
    expect(await actorOfToken(store, token)).toMatchObject({ name: 'for a day' });
    await database.query(`update api_token set expires_at = now() where name = 'for a day'`);
    expect(await actorOfToken(store, token)).toBeNull();
    expect(await selectApiTokens(store.db, { ended: false })).not.toContainEqual(expect.objectContaining({ name: 'for a day' }));
    await expect(revokeToken(store, 'for a day')).rejects.toMatchObject({ code: 'not_found' });
    const next = await createToken(store, { name: 'for a day', role: 'viewer' });
    expect(await actorOfToken(store, next)).toMatchObject({ name: 'for a day' });
    expect(await actorOfToken(store, token)).toBeNull();
    const all = (await selectApiTokens(store.db, { ended: true })).filter(({ name }) => name === 'for a day');
    expect(all.map(({ revokedAt }) => revokedAt === null).sort()).toEqual([false, true]);
    expect(JSON.stringify(all)).not.toContain(token.slice(4, 12));
  });
});
