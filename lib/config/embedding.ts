/** The section `embedding`: which pages may frame a card, and who signs for what it shows. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { isLoopback } from '@/lib/env';
import { formatPath } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import type { Config, EmbeddingKey } from './config';
import { idsIn, isMap, listOf, type Unread } from './document';
import type { ConfigFile } from './schema';

/** HS256 is as strong as its secret; RFC 7518 asks for as many bytes as the digest has. */
const SECRET_BYTES_MIN = 32;

/** The origin as browsers write it, or what is wrong with it: it becomes part of a Content-Security-Policy as it stands. */
function originOf(text: string): { origin: string } | { problem: string } {
  if (text.includes('*')) return { problem: 'write every origin in full: a * would let pages in that nobody named' };
  const url = /^https?:\/\/[^/\\?#@\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(url.origin))
    return { problem: 'write an origin, without path, such as https://orders.example.com' };
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return { problem: 'write https://; http:// is for pages on this machine alone' };
  return { origin: url.origin };
}

const keyOfJwk = (jwk: Unread): KeyObject | null =>
  jwk.kty === 'OKP' && jwk.crv === 'Ed25519'
    ? createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: String(jwk.x) }, format: 'jwk' })
    : null;

/** An Ed25519 public key as SPKI PEM, or what is wrong with it; never quotes it. */
function publicKeyOf(written: unknown): { pem: string } | { problem: string } {
  const text = typeof written === 'string' ? written.trim() : '';
  try {
    const jwk: unknown = text.startsWith('{') ? JSON.parse(text) : written;
    if (/PRIVATE KEY/.test(text) || (isMap(jwk) && 'd' in jwk))
      return { problem: 'is a private key, which stays with the back end that signs: write the public one' };
    const key = isMap(jwk) ? keyOfJwk(jwk) : text.startsWith('-----BEGIN PUBLIC KEY-----') ? createPublicKey(text) : null;
    if (key?.asymmetricKeyType === 'ed25519') return { pem: key.export({ type: 'spki', format: 'pem' }).toString() };
  } catch {
    // The advice is the same, and the error may quote the key.
  }
  return { problem: 'write an Ed25519 public key: SPKI PEM (-----BEGIN PUBLIC KEY-----), or a JWK with kty OKP and crv Ed25519' };
}

/** `already`: problems of the schema and of variables that are not set; of what they are about nothing more is said. */
export function checkEmbedding(document: unknown, already: readonly string[]): string[] {
  const embedding = isMap(document) ? document.embedding : undefined;
  if (!isMap(embedding)) return [];
  const problems: string[] = [];
  const say = (path: readonly PropertyKey[], problem: string): void => {
    const at = formatPath(['embedding', ...path]);
    if (!already.some((line) => line.startsWith(`${at}: `))) problems.push(`${at}: ${problem}`);
  };
  const sayTwice = (path: readonly [list: string, index: number, ...PropertyKey[]], values: readonly unknown[]): void => {
    const [list, index] = path;
    const before = values.indexOf(values[index]);
    if (typeof values[index] === 'string' && before < index) say(path, `is already at embedding.${list}[${before}]; leave one out`);
  };
  const origins = listOf(embedding.origins).map((text) => (typeof text === 'string' ? originOf(text) : { problem: 'write text' }));
  const names = origins.map((one) => 'origin' in one && one.origin);
  for (const [index, one] of origins.entries()) {
    if ('problem' in one) say(['origins', index], one.problem);
    sayTwice(['origins', index], names);
  }
  const keys = listOf(embedding.keys).map((key) => (isMap(key) ? key : {}));
  const ids = keys.map(({ id }) => id);
  if (origins.length === 0 && (keys.length > 0 || embedding.session === true))
    say(['origins'], 'missing; write the origins of the pages that show cards: no other page may');
  if (origins.length > 0 && keys.length === 0 && embedding.session !== true)
    say([], 'nobody could see a card: write keys, whose tokens open one, or session: true');
  const known = idsIn(isMap(document) ? document.outboxes : []);
  for (const [index, { secret, publicKey, outboxes }] of keys.entries()) {
    sayTwice(['keys', index, 'id'], ids);
    if ((secret === undefined) === (publicKey === undefined))
      say(['keys', index], 'write either secret or publicKey: what its tokens are signed with');
    if (typeof secret === 'string' && Buffer.byteLength(secret) < SECRET_BYTES_MIN)
      say(['keys', index, 'secret'], `write at least ${SECRET_BYTES_MIN} bytes, for instance from: openssl rand -base64 48`);
    const read = publicKey === undefined ? null : publicKeyOf(publicKey);
    if (read !== null && 'problem' in read) say(['keys', index, 'publicKey'], read.problem);
    for (const [place, outbox] of listOf(outboxes).entries())
      if (typeof outbox === 'string' && !known.includes(outbox))
        say(['keys', index, 'outboxes', place], `there is no outbox ${JSON.stringify(outbox)} under outboxes${suggestion(outbox, known)}`);
  }
  return problems;
}

/** Of a section that `checkEmbedding` has nothing against; null where no page may show a card. */
export function embeddingOf(section: ConfigFile['embedding']): Config['embedding'] {
  const origins = (section?.origins ?? []).map(originOf).flatMap((one) => ('origin' in one ? one.origin : []));
  const keys = (section?.keys ?? []).map(({ id, secret, publicKey, outboxes = null }): EmbeddingKey => {
    const key = publicKey === undefined ? null : publicKeyOf(publicKey);
    return key !== null && 'pem' in key
      ? { id, algorithm: 'EdDSA', publicKey: key.pem, outboxes }
      : { id, algorithm: 'HS256', secret, outboxes };
  });
  return origins.length === 0 ? null : { origins, session: section?.session ?? false, keys };
}
