/** Who may show cards, and who signs for them: nothing that would let somebody in by mistake is taken. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { withoutWayOut } from '@/scripts/testing/way-out';
import type { Config } from './config';
import { parseConfig } from './load';

const SECRET = 'a secret of at least thirty-two bytes';
const own = generateKeyPairSync('ed25519');
const PEM = own.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const JWK = own.publicKey.export({ format: 'jwk' });
const SHAPES = [{ key: 'published-at', engines: ['postgres' as const], parameters: { timeZone: 'UTC' } }];

function read(embedding: unknown) {
  const document = {
    databases: { shop: { url: 'postgresql://reader@db/shop' } },
    outboxes: ['escrow', 'orders'].map((id) => ({ id, database: 'shop', table: id, shape: 'published-at' })),
    embedding,
  };
  return parseConfig(stringify(document), '/etc/console.yaml', { shapes: SHAPES }, (name) => ({ EMBED_KEY: SECRET })[name]);
}
function taken(embedding: unknown): Config['embedding'] {
  const reading = read(embedding);
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  return reading.config.embedding;
}
function problems(embedding: unknown): string[] {
  const reading = read(embedding);
  const lines = reading.ok ? [] : reading.problems;
  expect.soft(withoutWayOut(lines), 'each says what to do').toEqual([]);
  return lines;
}
const origins = ['https://orders.example.com'];
const key = { id: 'orders', secret: SECRET };

describe('embedding', () => {
  it('is off where it is left out, or says nothing', () => {
    expect([taken(undefined), taken({}), taken({ origins: [], session: false, keys: [] })]).toEqual([null, null, null]);
  });

  it('takes origins as browsers write them, sessions, and keys of either kind', () => {
    const written = ['https://Orders.example.com:443/', 'http://localhost:4000', 'http://127.0.0.1:5000/', 'https://a.b.example:8443'];
    const keys = [
      { id: 'orders', secret: '${EMBED_KEY}', outboxes: ['escrow'] },
      { id: 'as-pem', publicKey: PEM },
      { id: 'as-jwk', publicKey: { ...JWK, kid: 'x', use: 'sig' } },
      { id: 'as-json', publicKey: JSON.stringify(JWK) },
    ];
    expect(taken({ origins: written, session: true, keys })).toEqual({
      origins: ['https://orders.example.com', 'http://localhost:4000', 'http://127.0.0.1:5000', 'https://a.b.example:8443'],
      session: true,
      keys: [
        { id: 'orders', algorithm: 'HS256', secret: SECRET, outboxes: ['escrow'] },
        ...['as-pem', 'as-jwk', 'as-json'].map((id) => ({ id, algorithm: 'EdDSA', publicKey: PEM, outboxes: null })),
      ],
    });
    expect(taken({ origins, session: true })).toEqual({ origins, session: true, keys: [] });
    expect(taken({ origins, keys: [key] })?.session).toBe(false);
  });

  it.each([
    'https://*.example.com',
    '*',
    'https://orders.example.com/cards',
    'https://orders.example.com//',
    'https://orders.example.com?x',
    'https://orders.example.com#x',
    'https://user@orders.example.com',
    'https://orders.example.com;script-src',
    "https://orders.example.com 'unsafe-inline'",
    'https://orders.example.com\thttps://evil.example',
    'https://orders.example.com,',
    'http://orders.example.com',
    'http://localhost.example.com',
    'http://[::1]:3000',
    'https:orders.example.com',
    'orders.example.com',
    'ftp://orders.example.com',
    'null',
    '',
  ])('refuses the origin %j', (origin) => {
    expect(problems({ origins: [...origins, origin], session: true })).toEqual([expect.stringMatching(/^embedding\.origins\[1\]: /)]);
  });

  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  it.each([
    ['a private PEM', own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), /is a private key/],
    ['a private JWK', own.privateKey.export({ format: 'jwk' }), /is a private key/],
    ['a private JWK as text', JSON.stringify(own.privateKey.export({ format: 'jwk' })), /is a private key/],
    ['another curve', ec.publicKey.export({ type: 'spki', format: 'pem' }).toString(), /write an Ed25519 public key/],
    ['a JWK of another curve', ec.publicKey.export({ format: 'jwk' }), /write an Ed25519 public key/],
    ['a JWK for encryption', generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }), /write an Ed25519 public key/],
    ['a key for HS256', { kty: 'oct', k: 'c2VjcmV0' }, /write an Ed25519 public key/],
    ['half a PEM', PEM.slice(0, 60), /write an Ed25519 public key/],
    ['half a JWK', '{"kty": "OKP"', /write an Ed25519 public key/],
    ['a JWK without its key', { kty: 'OKP', crv: 'Ed25519' }, /write an Ed25519 public key/],
    ['nothing', '', /write an Ed25519 public key/],
  ])('refuses %s as a public key, and does not quote it', (_, publicKey, said) => {
    const found = problems({ origins, keys: [{ id: 'orders', publicKey }] });
    expect(found).toEqual([expect.stringMatching(/^embedding\.keys\[0\]\.publicKey: /)]);
    expect(found[0]).toMatch(said);
    const secrets = [String(own.privateKey.export({ format: 'jwk' }).d), String(JWK.x), 'c2VjcmV0'];
    expect(secrets.filter((text) => found.join().includes(text))).toEqual([]);
  });

  it('lists every problem at once, each by its path, and quotes no secret', () => {
    const found = problems({
      origins: ['https://a.example', 'https://A.example/', 5, '${NOT_SET}'],
      sesion: true,
      keys: [
        { id: 'Orders', secret: 'hunter2' },
        { id: 'same', secret: SECRET, publicKey: PEM },
        { id: 'same' },
        { id: 'far', secret: '${NOT_SET}', outboxes: ['escrw', 'nowhere'] },
        { id: 'none', secret: 'é'.repeat(16), outboxes: [] },
        { secret: SECRET, outboxes: 'escrow' },
      ],
    });
    expect(found).toEqual([
      'embedding.keys[0].id: write a slug: small letters, digits and single dashes, for instance orders-kafka',
      'embedding.keys[0].secret: write at least 32 bytes, for instance from: openssl rand -base64 48',
      'embedding.keys[1]: write either secret or publicKey: what its tokens are signed with',
      'embedding.keys[2]: write either secret or publicKey: what its tokens are signed with',
      'embedding.keys[2].id: is already at embedding.keys[1]; leave one out',
      'embedding.keys[3].outboxes[0]: there is no outbox "escrw" under outboxes; did you mean "escrow"?',
      'embedding.keys[3].outboxes[1]: there is no outbox "nowhere" under outboxes; known: escrow, orders',
      'embedding.keys[3].secret: the environment variable NOT_SET is not set; set it or write the value here',
      'embedding.keys[4].outboxes: write at least one, or leave it out for all',
      'embedding.keys[5].id: missing; write text',
      'embedding.keys[5].outboxes: write a list, not a string',
      'embedding.origins[1]: is already at embedding.origins[0]; leave one out',
      'embedding.origins[2]: write text, not a number',
      'embedding.origins[3]: the environment variable NOT_SET is not set; set it or write the value here',
      'embedding.sesion: unknown key; did you mean "session"?',
    ]);
  });

  it('is refused where nobody could see a card, or no page show one', () => {
    const nobody = 'embedding: nobody could see a card: write keys, whose tokens open one, or session: true';
    const nowhere = 'embedding.origins: missing; write the origins of the pages that show cards: no other page may';
    expect(problems({ origins })).toEqual([nobody]);
    expect(problems({ origins, session: false, keys: [] })).toEqual([nobody]);
    expect(problems({ keys: [key] })).toEqual([nowhere]);
    expect(problems({ session: true, origins: [] })).toEqual([nowhere]);
  });
});
