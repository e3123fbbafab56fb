import { describe, expect, it } from 'vitest';
import { PROTOCOL } from '@/lib/shared/embedding/messages';
import { hostOrigin, readMessage, tokenEndMs } from './host';

const said = (over: object): object => ({ protocol: PROTOCOL, type: 'token', token: 'a.b.c', ...over });
const encoded = (payload: unknown): string => `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.c2ln`;

describe('a message of the host', () => {
  it('is taken in exactly its shape', () => {
    expect(readMessage(said({}))).toEqual({ protocol: PROTOCOL, type: 'token', token: 'a.b.c' });
    expect(readMessage({ protocol: PROTOCOL, type: 'theme', theme: 'dark' })).toEqual({ protocol: PROTOCOL, type: 'theme', theme: 'dark' });
  });

  it.each([
    ['no object', 'token'],
    ['nothing', null],
    ['an array', Object.assign([], said({}))],
    ['another protocol', said({ protocol: 'outbox-card.v2' })],
    ['a type that frames send', { protocol: PROTOCOL, type: 'size', height: 3 }],
    ['a field more', said({ more: 1 })],
    ['a field less', { protocol: PROTOCOL, type: 'token' }],
    ['a token that is no text', said({ token: { toString: () => 'a.b.c' } })],
    ['an empty token', said({ token: '' })],
    ['a token that would end its header', said({ token: 'a\r\nX-Evil: 1' })],
    ['a token of more than 8,000 characters', said({ token: 'a'.repeat(8_001) })],
    ['a theme nobody knows', { protocol: PROTOCOL, type: 'theme', theme: 'constructor' }],
    ['fields of its prototype', Object.create(said({})) as unknown],
    ['a prototype of its own', JSON.parse(`{"protocol":"${PROTOCOL}","type":"token","__proto__":{"token":"a.b.c"}}`)],
  ])('is ignored if it is %s', (_, message) => {
    expect(readMessage(message)).toBeNull();
  });
});

describe('the origin of the host', () => {
  const origins = ['https://orders.example.com', 'https://ops.example.com'];

  it('is the first that is listed', () => {
    expect(hostOrigin(origins, [null, undefined, 'https://ops.example.com'])).toBe('https://ops.example.com');
    expect(hostOrigin(origins, ['https://evil.example', 'https://orders.example.com'])).toBe('https://orders.example.com');
  });

  it('is not known where none is', () => {
    expect(hostOrigin(origins, ['https://orders.example.com.evil.example', 'null', 'https://orders.example.com/'])).toBeNull();
  });
});

describe('the end of a token', () => {
  it('is read from it', () => {
    expect(tokenEndMs(encoded({ exp: 1_800_000_000, key: '주문-8812' }))).toBe(1_800_000_000_000);
  });

  it.each([['no token'], ['a.b.c'], [encoded(null)], [encoded({ exp: 'soon' })]])('is not known of %s', (token) => {
    expect(tokenEndMs(token)).toBe(Infinity);
  });
});
