import { describe, expect, it } from 'vitest';
import { requireDoor, requireForm } from './auth-handler';

const door = (method: string, path: string, query = ''): (() => void) => {
  return () => requireDoor(method, path === '' ? [] : path.split('/'), new URLSearchParams(query));
};

describe('the doors of next-auth', () => {
  it.each([
    ['GET', 'csrf'],
    ['HEAD', 'csrf'],
    ['GET', 'session'],
    ['GET', 'providers'],
    ['GET', 'signin'],
    ['GET', 'error'],
    ['GET', 'signout'],
    ['POST', 'signout'],
    ['POST', 'callback/credentials'],
  ])('%s %s is one', (method, path) => expect(door(method, path)).not.toThrow());

  it.each([
    ['GET', 'callback/credentials'],
    ['HEAD', 'callback/credentials'],
    ['POST', 'session'],
    ['POST', 'csrf'],
    ['DELETE', 'session'],
  ])('%s %s has another method', (method, path) => expect(door(method, path)).toThrow(expect.objectContaining({ status: 405 })));

  it.each([
    '',
    'nope',
    '_log',
    'verify-request',
    '__proto__',
    'constructor',
    'callback',
    'callback/google',
    'error/💩',
    'session/x',
    'CSRF',
  ])('/%s is none', (path) => {
    for (const method of ['GET', 'POST']) expect(door(method, path)).toThrow(expect.objectContaining({ code: 'not_found' }));
  });

  it.each(['💩', '%00', '', 'a b', 'x'.repeat(65), 'a\r\nSet-Cookie: b=c', '../x'])('takes no error %j', (error) => {
    const query = new URLSearchParams([
      ['error', 'CredentialsSignin'],
      ['error', error],
    ]).toString();
    for (const path of ['error', 'signin']) expect(door('GET', path, query)).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('takes the errors that signing in has', () => expect(door('GET', 'error', 'error=too_many')).not.toThrow());
});

describe('a form', () => {
  it.each([
    ['application/x-www-form-urlencoded', 'email=%F0%9F%92%A9'],
    ['application/x-www-form-urlencoded', '%'],
    [null, ''],
    ['application/json', '{"email": "a@b"}'],
  ])('of type %j may say %j', (type, body) => expect(() => requireForm(type, body)).not.toThrow());

  it.each(['', '{', 'null', '5', '{"callbackUrl": 5}', '{"email": {"$ne": ""}}', '[["a"]]'])('as JSON may not say %j', (body) =>
    expect(() => requireForm('application/json; charset=utf-8', body)).toThrow(expect.objectContaining({ status: 400 })),
  );
});
