/** Tokens: what opens a card, and everything that does not. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EmbeddingKey } from '@/lib/config/config';
import { CARD_VIEWS, type CardView } from '@/lib/shared/embedding/views';
import { Problem } from '@/lib/shared/problems';
import { readCardToken } from './token';

const ORIGIN = 'https://outbox.example.com';
const NOW = 1_800_000_000;
const SECRET = 'a secret of at least thirty-two bytes';
const own = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const PEM = own.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const KEYS: EmbeddingKey[] = [
  { id: 'orders', algorithm: 'HS256', secret: SECRET, outboxes: ['escrow'] },
  { id: 'desk', algorithm: 'EdDSA', publicKey: PEM, outboxes: null },
  { id: 'third', algorithm: 'HS256', secret: 'another secret of thirty-two bytes', outboxes: null },
];

type Claims = Record<string, unknown>;
const base = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Signed by hand, so that a token can be as wrong as one likes. */
function signed(header: Claims, claims: unknown, by: (text: string) => Buffer): string {
  const text = `${base(header)}.${typeof claims === 'string' ? Buffer.from(claims).toString('base64url') : base(claims)}`;
  return `${text}.${by(text).toString('base64url')}`;
}
const hmac =
  (secret: string | Buffer, digest = 'sha256') =>
  (text: string): Buffer =>
    createHmac(digest, secret).update(text).digest();
const ed25519 =
  (key = own.privateKey) =>
  (text: string): Buffer =>
    sign(null, Buffer.from(text), key);

const claims = (over: Claims = {}): Claims => ({ aud: ORIGIN, iat: NOW, exp: NOW + 300, view: 'fate', key: 'order-8812', ...over });
const without = (...names: string[]): Claims => Object.fromEntries(Object.entries(claims()).filter(([name]) => !names.includes(name)));
const HS = { alg: 'HS256', kid: 'orders' };
const ED = { alg: 'EdDSA', kid: 'desk' };
const hs = (over: Claims = {}): string => signed(HS, claims(over), hmac(SECRET));

const read = (token: string, view: CardView = 'fate', at = NOW) =>
  readCardToken(token, { view, keys: KEYS, origin: ORIGIN, now: new Date(at * 1_000) });
async function refused(token: string, view?: CardView, at?: number): Promise<Problem> {
  const problem = await read(token, view, at).then(
    (grant) => new Error(`taken: ${JSON.stringify(grant)}`),
    (error: unknown) => error,
  );
  if (!(problem instanceof Problem)) throw problem;
  expect(problem.detail).not.toMatch(/secret of|BEGIN|hmac|alg\b/i);
  return problem;
}

describe('a token', () => {
  it('opens its card by either algorithm, and says for whom', async () => {
    expect(await read(hs({ sub: 'user-17' }))).toEqual({ key: KEYS[0], sub: 'user-17', parameters: { key: 'order-8812' } });
    expect(await read(signed({ ...ED, typ: 'JWT' }, claims(), ed25519()))).toEqual({
      key: KEYS[1],
      sub: null,
      parameters: { key: 'order-8812' },
    });
  });

  it.each<[string, Claims]>([
    ['an aud in a list of one', { aud: [ORIGIN] }],
    ['what every JWT may have', { iss: 'https://orders.example.com', jti: '17', nbf: NOW }],
    ['a clock that is 15 s ahead', { iat: NOW + 15, nbf: NOW + 15, exp: NOW + 315 }],
    ['an end 14 s ago', { iat: NOW - 314, exp: NOW - 14 }],
    ['a long key', { key: '가'.repeat(300) }],
  ])('may have %s', async (_, over) => {
    expect((await read(hs(over))).key.id).toBe('orders');
  });

  it.each<[CardView, Claims, Claims]>([
    ['fate', { key: 'k' }, { key: 'k' }],
    ['outbox', { outbox: 'escrow' }, { outbox: 'escrow' }],
    ['outbox', { outbox: 'escrow', window: '24h' }, { outbox: 'escrow', window: '24h' }],
    ['dead-letters', {}, {}],
    ['dead-letters', { outbox: 'escrow' }, { outbox: 'escrow' }],
    ['fleet', {}, {}],
  ])('of %s takes %j', async (view, parameters, given) => {
    const token = signed(HS, { ...without('key'), view, ...parameters }, hmac(SECRET));
    expect((await read(token, view)).parameters).toEqual(given);
  });
});

const good = hs();
const [head = '', body = '', signature = ''] = good.split('.');
const JWK_TEXT = JSON.stringify(own.publicKey.export({ format: 'jwk' }));

describe('a token that nobody here signed', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['no token at all', 'x'],
    ['a token of the console', 'obx_0123456789abcdef0123456789abcdef'],
    ['half of one', `${head}.${body}`],
    ['one without its signature', `${head}.${body}.`],
    ['edited claims', `${head}.${base(claims({ key: 'order-1' }))}.${signature}`],
    ['an edited signature', `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
    ['an edited header', `${base({ ...HS, typ: 'JWT' })}.${body}.${signature}`],
    ['a second signature', `${good}.${signature}`],
    ['alg none', signed({ alg: 'none', kid: 'orders' }, claims(), () => Buffer.alloc(0))],
    ['alg none, signed', signed({ alg: 'none', kid: 'orders' }, claims(), hmac(SECRET))],
    ['alg None', signed({ alg: 'None', kid: 'orders' }, claims(), () => Buffer.alloc(0))],
    ['no alg', signed({ kid: 'orders' }, claims(), hmac(SECRET))],
    ['HS512 with the right secret', signed({ ...HS, alg: 'HS512' }, claims(), hmac(SECRET, 'sha512'))],
    ['HS256 by the text of the public key', signed({ ...ED, alg: 'HS256' }, claims(), hmac(PEM))],
    ['HS256 by the public key as it is written', signed({ ...ED, alg: 'HS256' }, claims(), hmac(PEM.trim()))],
    ['HS256 by the public key as a JWK', signed({ ...ED, alg: 'HS256' }, claims(), hmac(JWK_TEXT))],
    [
      'HS256 by the bytes of the public key',
      signed({ ...ED, alg: 'HS256' }, claims(), hmac(own.publicKey.export({ type: 'spki', format: 'der' }))),
    ],
    ['the alg of another key', signed({ ...HS, alg: 'EdDSA' }, claims(), ed25519())],
    ['another kid', signed({ ...HS, kid: 'third' }, claims(), hmac(SECRET))],
    ['an unknown kid', signed({ ...HS, kid: 'nobody' }, claims(), hmac(SECRET))],
    ['the kid of a prototype', signed({ ...HS, kid: '__proto__' }, claims(), hmac(''))],
    ['no kid', signed({ alg: 'HS256' }, claims(), hmac(SECRET))],
    ['a kid that is no text', signed({ ...HS, kid: ['orders'] }, claims(), hmac(SECRET))],
    ['another secret', signed(HS, claims(), hmac('another secret of thirty-two bytes'))],
    ['an empty secret', signed(HS, claims(), hmac(''))],
    ['another private key', signed(ED, claims(), ed25519(other.privateKey))],
    ['a key of its own', signed({ ...ED, jwk: other.publicKey.export({ format: 'jwk' }) }, claims(), ed25519(other.privateKey))],
    ['a header that is to be understood', signed({ ...HS, crit: ['view'], view: 'fate' }, claims(), hmac(SECRET))],
    ['claims that are not encoded', signed({ ...HS, crit: ['b64'], b64: false }, claims(), hmac(SECRET))],
    ['claims that are a list', signed(HS, [claims()], hmac(SECRET))],
    ['claims that are no JSON', signed(HS, 'view=fate', hmac(SECRET))],
    ['more than 4 kB', hs({ jti: 'x'.repeat(4_000) })],
  ])('is refused, and not told why: %s', async (_, token) => {
    expect(await refused(token)).toMatchObject({
      code: 'token_invalid',
      status: 401,
      detail: 'The token is not signed as one of embedding.keys says: sign a JWT by the key that its kid names',
    });
  });
});

describe('a signed token', () => {
  it.each<[string, Claims]>([
    ['to a second', { iat: NOW - 315, exp: NOW - 15 }],
    ['long ago', { iat: NOW - 9_000, exp: NOW - 8_800 }],
  ])('is over once it has ended: %s', async (_, over) => {
    expect(await refused(hs(over))).toMatchObject({ code: 'token_expired', status: 401, detail: 'The token has ended: ask for a new one' });
  });

  it('is over when its time is, not before', async () => {
    expect((await read(hs(), 'fate', NOW + 314)).key.id).toBe('orders');
    expect(await refused(hs(), 'fate', NOW + 315)).toMatchObject({ code: 'token_expired' });
  });

  it.each<[string, Claims, RegExp]>([
    ['early by nbf', { nbf: NOW + 16 }, /nbf/],
    ['early by iat', { iat: NOW + 16, exp: NOW + 100 }, /iat/],
    ['of 301 seconds', { exp: NOW + 301 }, /at most 300 seconds/],
    ['of a day, signed long ago', { iat: NOW - 86_000, exp: NOW + 400 }, /at most 300 seconds/],
    ['without exp', { exp: undefined }, /exp/],
    ['without iat', { iat: undefined }, /iat/],
    ['with an exp in words', { exp: '2027-01-01' }, /exp/],
    ['with an iat in words', { iat: String(NOW) }, /iat/],
    ['with an iat of null', { iat: null }, /iat/],
    ['without aud', { aud: undefined }, /aud/],
    ['for another console', { aud: 'https://outbox.example.org' }, /aud/],
    ['for another port', { aud: `${ORIGIN}:8443` }, /aud/],
    ['for something that begins alike', { aud: `${ORIGIN}.evil.example` }, /aud/],
    ['for our page, not our origin', { aud: `${ORIGIN}/` }, /aud/],
    ['for several', { aud: [ORIGIN, 'https://outbox.example.org'] }, /aud/],
    ['for nobody', { aud: [] }, /aud/],
  ])('is refused, and told what to write: %s', async (_, over, said) => {
    const problem = await refused(hs(over));
    expect(problem).toMatchObject({ code: 'token_invalid', status: 401 });
    expect(problem.detail).toMatch(said);
  });

  it('is refused where its times are no numbers of this world', async () => {
    for (const times of ['"iat":1e999,"exp":1e999', '"iat":-1e999,"exp":1e999', `"iat":${NOW},"exp":1e999`])
      expect(await refused(signed(HS, `{"aud":"${ORIGIN}","view":"fate","key":"k",${times}}`, hmac(SECRET)))).toMatchObject({
        code: 'token_invalid',
      });
  });

  it('opens no other view', async () => {
    const of: Record<CardView, Claims> = { fate: { key: 'k' }, outbox: { outbox: 'escrow' }, 'dead-letters': {}, fleet: {} };
    for (const view of CARD_VIEWS)
      for (const asked of CARD_VIEWS.filter((one) => one !== view))
        expect(await refused(signed(HS, { ...without('key'), view, ...of[view] }, hmac(SECRET)), asked)).toMatchObject({
          code: 'not_allowed',
          status: 403,
        });
  });

  it.each<[string, Claims, string]>([
    ['an unknown claim', claims({ role: 'admin' }), 'role'],
    ['a claim in another case', claims({ Window: '1h' }), 'Window'],
    ['a parameter of another view', claims({ outbox: 'escrow' }), 'outbox'],
    ['no view', without('view'), 'view'],
    ['an unknown view', claims({ view: 'events' }), 'view'],
    ['a view in a list', claims({ view: ['fate'] }), 'view'],
    ['no key', without('key'), 'key'],
    ['an empty key', claims({ key: '' }), 'key'],
    ['a key of 301 characters', claims({ key: 'k'.repeat(301) }), 'key'],
    ['a key with a NUL', claims({ key: 'a\0' }), 'key'],
    ['a key that is a number', claims({ key: 8812 }), 'key'],
    ['a sub that is no text', claims({ sub: { name: 'x' } }), 'sub'],
  ])('is refused for %s, by its name', async (_, given, name) => {
    const problem = await refused(signed(HS, given, hmac(SECRET)));
    expect(problem).toMatchObject({ code: 'invalid', status: 400 });
    expect(Object.keys(problem.fields ?? {})).toEqual([name]);
  });

  it('is refused for what only looks like nothing', async () => {
    const token = signed(HS, JSON.stringify(claims()).replace('{', '{"__proto__":{"outbox":"escrow"},"constructor":1,'), hmac(SECRET));
    expect(Object.keys((await refused(token)).fields ?? {})).toContain('constructor');
    const wrong = signed(HS, { ...without('key'), view: 'outbox', window: '2h', more: 1 }, hmac(SECRET));
    expect(Object.keys((await refused(wrong, 'outbox')).fields ?? {}).sort()).toEqual(['more', 'outbox', 'window']);
  });
});
