/** The data of cards, as another back end's page or a signed-in person gets it: of its outboxes alone, and as a viewer sees it. */
import { SignJWT } from 'jose';
import { encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { createToken } from '@/lib/identity/tokens';
import type { DeadLettersCard, FateCard, FleetCard, OutboxCard } from '@/lib/shared/embedding/cards';
import { CARD_VIEWS, type CardView } from '@/lib/shared/embedding/views';
import type { Role } from '@/lib/shared/permissions';
import { insertAccount } from '@/lib/store/accounts';
import { insertSession } from '@/lib/store/sign-ins';
import { useTestConsole } from '@/scripts/testing/console';
import { overCountingLine, type CountingLine } from '@/scripts/testing/counting-line';
import { useTestDatabase } from '@/scripts/testing/database';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { createSample } from '@/scripts/testing/outbox';
import { getConsole } from '@/lib/server/console';
import { GET } from './route';

const ORIGIN = 'http://localhost:3000';
const SECRET = 'a secret of at least thirty-two bytes';
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

let line: CountingLine;
const store = useTestDatabase();
useTestDatabase(async (db) => {
  await createSample(db, escrowStatus, { rows: false });
  await db.query('CREATE TABLE p2p.foreign_outbox (LIKE p2p.transaction_outbox INCLUDING ALL)');
  const tables = [
    ['p2p.transaction_outbox', 'own_type', 'login failed for swordfish'],
    ['p2p.foreign_outbox', 'foreign_type', 'foreign trouble'],
  ];
  for (const [table, type, error] of tables)
    for (const [n, status] of ['failed', 'failed', 'pending'].entries())
      await db.query(
        `INSERT INTO ${table} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, error_message) VALUES ($1, $2, $3, 'r', $4, $5, $6)`,
        [id(n), `${type}${n}`, type, status, { password: 'swordfish', name: 'Ada Lovelace' }, status === 'failed' ? error : null],
      );
  line = await overCountingLine(db);
});
const OUTBOXES = [
  '{id: foreign, name: The foreign one, database: d, table: p2p.foreign_outbox, shape: escrow-status}',
  '{id: own, name: Our own, database: d, table: p2p.transaction_outbox, shape: escrow-status}',
];
const yaml = (embedding: string): string =>
  `databases: {d: {url: '${line.url}'}}\noutboxes: [${OUTBOXES.join(', ')}]\n${embedding === '' ? '' : `embedding: ${embedding}\n`}`;
const KEYS = `[{id: orders, secret: ${SECRET}, outboxes: [own]}, {id: desk, secret: ${SECRET}}]`;
const both = (): string => yaml(`{origins: ['https://orders.example.com'], session: true, keys: ${KEYS}}`);
const { call, restart } = useTestConsole(() => store.url, both);

const PARAMETERS: Record<CardView, Record<string, string>> = {
  fate: { key: 'order-8812' },
  outbox: { outbox: 'own' },
  'dead-letters': {},
  fleet: {},
};
const token = (claims: Record<string, unknown>, kid = 'orders'): Promise<string> =>
  new SignJWT({ aud: ORIGIN, ...claims })
    .setProtectedHeader({ alg: 'HS256', kid })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(Buffer.from(SECRET));
const cardOf = async (view: CardView, parameters: Record<string, unknown> = PARAMETERS[view], kid?: string): Promise<Response> =>
  asked(view, { authorization: `Bearer ${await token({ view, ...parameters }, kid)}` });
const asked = (view: string, headers: Record<string, string>, query = ''): Promise<Response> =>
  call(GET, { path: `/api/embed/${view}${query}`, params: { view }, headers });
const codeOf = async (answer: Response): Promise<[number, string]> => {
  const text = await answer.text();
  expect(text).not.toMatch(/own_type|foreign_type|swordfish|secret of/);
  return [answer.status, (JSON.parse(text) as { code: string }).code];
};
async function shown<T>(answer: Promise<Response>): Promise<T> {
  const response = await answer;
  const text = await response.text();
  expect([response.status, text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  expect(text).not.toMatch(/(?<!pas)sword|Lovelace|payload/);
  return JSON.parse(text) as T;
}

let people = 0;
async function person(role: Role): Promise<string> {
  const { store: own } = await getConsole();
  people += 1;
  const account = (await insertAccount(own.db, { email: `${role}${people}@example.com`, passwordHash: 'never used here', role })) ?? '';
  const sid = (await insertSession(own.db, account, 8)) ?? '';
  const secret = 'a secret of at least thirty-two characters';
  return `outbox-console.session=${await encode({ token: { sub: account, sid }, secret })}`;
}
const SAME = { 'sec-fetch-site': 'same-origin' };

beforeAll(async () => {
  await vi.waitFor(
    async () => {
      const { lines } = await shown<FleetCard>(cardOf('fleet', {}, 'desk'));
      expect(lines.map(({ unread }) => unread)).toEqual([false, false]);
      const { outboxes } = await shown<DeadLettersCard>(cardOf('dead-letters', undefined, 'desk'));
      expect(outboxes.map(({ complete }) => complete)).toEqual([true, true]);
    },
    { timeout: PATIENCE_MS, interval: 200 },
  );
});
afterAll(() => line.close());

describe('with a token', () => {
  it('a card shows what a viewer sees of the outboxes of its key, and of no other', async () => {
    const fleet = await shown<FleetCard>(cardOf('fleet'));
    expect(fleet.lines.map(({ outbox, summary }) => [outbox.id, summary.depth.dead.count])).toEqual([['own', 2]]);
    const dead = await shown<DeadLettersCard>(cardOf('dead-letters'));
    expect(dead.outboxes).toMatchObject([{ id: 'own', name: 'Our own', dead: { count: 2 }, complete: true, stale: null }]);
    expect(dead.groups).toMatchObject([{ outbox: 'own', type: 'own_type', count: 2, error: 'login failed for ••••' }]);
    expect(await shown<DeadLettersCard>(cardOf('dead-letters', { outbox: 'own' }))).toMatchObject({ groups: dead.groups, moreGroups: 0 });
    const outbox = await shown<OutboxCard>(cardOf('outbox', { outbox: 'own', window: '15m' }));
    expect(outbox).toMatchObject({ view: 'outbox', window: '15m', stepSeconds: 60, line: { outbox: { id: 'own' }, stale: null } });
    expect(outbox.line.summary.depth).toMatchObject({ waiting: { count: 1 }, dead: { count: 2 } });
    expect(outbox.points.length).toBeGreaterThan(10);
    const fate = await shown<FateCard>(cardOf('fate'));
    expect(fate).toMatchObject({ view: 'fate', key: 'order-8812', names: { own: 'Our own' } });
    expect(fate.outboxes.map((one) => one.outbox)).toEqual(['own']);
    expect(JSON.stringify([fleet, dead, outbox, fate])).not.toContain('foreign');
  });

  it('of a key without a list, a card shows all outboxes', async () => {
    const of = async <T>(view: CardView): Promise<T> => shown<T>(cardOf(view, undefined, 'desk'));
    expect((await of<FleetCard>('fleet')).lines).toHaveLength(2);
    expect((await of<DeadLettersCard>('dead-letters')).groups.map(({ type }) => type).sort()).toEqual(['foreign_type', 'own_type']);
    expect(Object.keys((await of<FateCard>('fate')).names).sort()).toEqual(['foreign', 'own']);
  });

  it('an outbox of others is as foreign as one that there is not', async () => {
    for (const view of ['outbox', 'dead-letters'] as const) {
      const refused = await Promise.all(
        ['foreign', 'nowhere', 'OWN', ' own'].map(
          async (outbox) => (await cardOf(view, { outbox })).json() as Promise<Record<string, unknown>>,
        ),
      );
      expect(refused[0]).toMatchObject({ status: 403, code: 'not_allowed' });
      expect(new Set(refused.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(await codeOf(await cardOf(view, { outbox: 'nowhere' }, 'desk'))).toEqual([403, 'not_allowed']);
    }
  });

  it.each(CARD_VIEWS)('%s is refused with any query beside it, and without its token', async (view) => {
    const authorization = `Bearer ${await token({ view, ...PARAMETERS[view] })}`;
    for (const query of ['?outbox=foreign', '?x', '?key=other', '?window=1h'])
      expect(await codeOf(await asked(view, { authorization }, query))).toEqual([400, 'invalid']);
    const { store: own } = await getConsole();
    const console = `Bearer ${await createToken(own, { name: `bot for ${view}`, role: 'admin' })}`;
    const cookie = await person('admin');
    const wrong: Record<string, string>[] = [
      { authorization: console },
      { authorization: `${authorization.slice(0, -1)}${authorization.endsWith('A') ? 'E' : 'A'}` },
      { authorization: `${authorization}, ${authorization}` },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${'x'.repeat(5_000)}` },
      // A token that is wrong is not made good by a session.
      { authorization: 'Bearer x.y.z', cookie, ...SAME },
    ];
    for (const headers of wrong) expect(await codeOf(await asked(view, headers))).toEqual([401, 'token_invalid']);
    for (const other of CARD_VIEWS.filter((one) => one !== view))
      expect(await codeOf(await asked(other, { authorization }))).toEqual([403, 'not_allowed']);
    expect(await codeOf(await asked('events', { authorization }))).toEqual([404, 'not_found']);
  });

  it('the answer is for nobody else, and no other origin reads it', async () => {
    const { headers } = await cardOf('fleet');
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['private, no-store', 'Cookie, Authorization']);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    const refused = await asked('fleet', { authorization: 'Bearer x.y.z', origin: 'https://orders.example.com' });
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect([...refused.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('fifty frames that ask the same cost what one costs', async () => {
    await restart(both());
    const ask = (): Promise<unknown> => Promise.all(Array.from({ length: 50 }, () => shown(cardOf('dead-letters', {}, 'desk'))));
    line.heard();
    await ask();
    await ask();
    // One of the newest dead of each outbox; whatever else a reading takes, it takes it once in five seconds.
    const heard = line.heard();
    expect(heard.filter((text) => /from "p2p"."\w+_outbox".*limit 1000\b/s.test(text))).toHaveLength(2);
    expect(heard.length).toBeLessThan(60);
  });

  it('is told to the log once, with its key and whom it is shown to', async () => {
    const info = vi.spyOn((await getConsole()).log, 'info');
    for (const _ of [1, 2, 3]) await shown(cardOf('fleet', { sub: 'user-17' }));
    await shown(cardOf('fate', { ...PARAMETERS.fate, sub: 'user-17' }));
    const said = info.mock.calls.map(([of]) => of);
    info.mockRestore();
    expect(said).toEqual(['fleet', 'fate'].map((view) => ({ entry: 'api.embed', key: 'orders', sub: 'user-17', view })));
  });
});

describe('with a session', () => {
  it('a signed-in person sees every outbox, as a viewer whoever it is', async () => {
    const cookie = await person('admin');
    const dead = await shown<DeadLettersCard>(asked('dead-letters', { cookie, ...SAME }, '?outbox=own'));
    expect(dead.groups).toMatchObject([{ error: 'login failed for ••••' }]);
    expect((await shown<FleetCard>(asked('fleet', { cookie, ...SAME }))).lines).toHaveLength(2);
    expect(await shown(asked('fate', { cookie, ...SAME }, '?key=k'))).toMatchObject({ key: 'k' });
    expect(await shown(asked('outbox', { cookie, ...SAME }, '?outbox=own&window=24h'))).toMatchObject({ window: '24h' });
  });

  it('is for the frame of the console itself alone', async () => {
    const cookie = await person('viewer');
    for (const site of ['same-site', 'cross-site', 'none', 'SAME-ORIGIN', ''])
      expect(await codeOf(await asked('fleet', { cookie, 'sec-fetch-site': site }))).toEqual([403, 'forbidden']);
    // Browsers say it over https and on this machine alone; who says nothing is no page that could read the answer.
    expect((await shown<FleetCard>(asked('fleet', { cookie }))).lines).toHaveLength(2);
    expect(await codeOf(await asked('fleet', SAME))).toEqual([401, 'unauthenticated']);
    expect(await codeOf(await asked('fleet', { cookie: `${cookie}x`, ...SAME }))).toEqual([401, 'unauthenticated']);
  });

  it.each([
    ['fate', ''],
    ['fate', '?key='],
    ['fate', '?key=a&key=b'],
    ['fate', `?key=${'k'.repeat(301)}`],
    ['fate', '?key=a&outbox=own'],
    ['outbox', ''],
    ['outbox', '?outbox=own&window=2h'],
    ['fleet', '?x=1'],
  ])('%s is not understood with %#', async (view, query) => {
    expect(await codeOf(await asked(view, { cookie: await person('viewer'), ...SAME }, query))).toEqual([400, 'invalid']);
  });

  it('an outbox that there is not is not there', async () => {
    const headers = { cookie: await person('viewer'), ...SAME };
    for (const view of ['outbox', 'dead-letters'])
      expect(await codeOf(await asked(view, headers, '?outbox=nowhere'))).toEqual([404, 'not_found']);
  });
});

// Last: each is another console.
describe.each<[string, string, [number, string], [number, string]]>([
  ['tokens alone', `{origins: ['https://orders.example.com'], keys: ${KEYS}}`, [401, 'token_invalid'], [200, '']],
  ['sessions alone', `{origins: ['https://orders.example.com'], session: true}`, [200, ''], [401, 'token_invalid']],
  ['no embedding', '', [404, 'not_found'], [404, 'not_found']],
])('where the configuration has %s', (_, embedding, bySession, byToken) => {
  beforeAll(() => restart(yaml(embedding)));

  it('nothing else opens a card', async () => {
    const cookie = await person('admin');
    for (const view of CARD_VIEWS) {
      const query = new URLSearchParams(PARAMETERS[view]).toString();
      const answers = [await asked(view, { cookie, ...SAME }, query === '' ? '' : `?${query}`), await cardOf(view)];
      for (const [index, [status, code]] of [bySession, byToken].entries()) {
        const answer = answers[index] as Response;
        if (status === 200) expect(answer.status).toBe(200);
        else expect(await codeOf(answer)).toEqual([status, code]);
      }
      expect(await codeOf(await asked(view, {}))).toEqual(embedding === '' ? [404, 'not_found'] : expect.any(Array));
    }
    expect(await codeOf(await asked('nothing', {}))).toEqual([404, 'not_found']);
  });
});
