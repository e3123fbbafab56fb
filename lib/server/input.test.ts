import { describe, expect, it } from 'vitest';
import { bearerToken } from './auth/session';
import { readJson, queryOf } from './input';
import { chooseLanguage, chooseTimeZone } from './language';
import { readEventsQuery } from './reads/events';
import { auditQuery, interventionRequest } from './schemas';

const post = (body: BodyInit, type = 'application/json') =>
  new Request('http://x/', { method: 'POST', body, headers: { 'content-type': type } });

describe('a JSON body', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/merge-patch+json'])(
    'may be %s',
    async (type) => {
      expect(await readJson(post('{"a":1}', type))).toEqual({ a: 1 });
    },
  );

  it.each([
    ['{"a":1}', 'text/plain', 415],
    ['a=1', 'application/x-www-form-urlencoded', 415],
    ['{"a":1}', 'application/jsonx', 415],
    ['{bad', 'application/json', 400],
    ['', 'application/json', 400],
    ['{"filter": {"__proto__" : {}}}', 'application/json', 400],
    [String.raw`{"\u005f_proto__":{}}`, 'application/json', 400],
    [`"${'x'.repeat(1_048_577)}"`, 'application/json', 413],
  ])('%.20j as %s is refused', async (body, type, status) => {
    await expect(readJson(post(body, type))).rejects.toMatchObject({ status });
  });

  it('may speak of "__proto__" in a text', async () => {
    expect(await readJson(post(String.raw`{"reason":"\"__proto__\": it says"}`))).toEqual({ reason: '"__proto__": it says' });
  });

  it('is cut off when it goes on and on without saying how long it is', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(97));
      },
    });
    const request = new Request('http://x/', {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    } as RequestInit);
    await expect(readJson(request)).rejects.toMatchObject({ status: 413 });
    expect(sent).toBeLessThan(2_000_000);
  });

  it('must be UTF-8', async () => {
    await expect(readJson(post(new Uint8Array([0x22, 0xff, 0x22])))).rejects.toMatchObject({ status: 400 });
  });
});

describe('an Authorization header', () => {
  it.each([
    [null, 'none'],
    ['Basic dXNlcjpwYXNz', 'none'],
    ['Bearer', 'malformed'],
    ['Bearer ', 'malformed'],
    ['Bearer %', 'malformed'],
    ['Bearer short', 'malformed'],
    ['Bearer two parts', 'malformed'],
    [`Bearer ${'a'.repeat(513)}`, 'malformed'],
    ['bearer obx_0123456789', 'token'],
    ['Bearer obx_0123456789', 'token'],
  ])('%.30j is %s', (header, kind) => expect(bearerToken(header).kind).toBe(kind));
});

describe('queries', () => {
  it('keep repeated parameters apart', () => {
    expect(queryOf(new URL('http://x/?a=1&b=2&b=3&__proto__=4'))).toEqual(
      Object.fromEntries([
        ['a', '1'],
        ['b', ['2', '3']],
        ['__proto__', '4'],
      ]),
    );
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=NaN',
    'limit=1e9',
    'limit=1&limit=2',
    'statee=dead',
    'state=gone',
    'cursor=',
    'order=sideways',
    'from=yesterday',
    'q=%00',
  ])('of events refuse %s', (text) =>
    expect(() => readEventsQuery(new URLSearchParams(text))).toThrow(expect.objectContaining({ code: 'invalid' })),
  );

  it('of events read the rest', () => {
    expect(readEventsQuery(new URLSearchParams('state=dead,retrying&type=a&type=b&limit=200'))).toEqual({
      filter: { state: ['retrying', 'dead'], type: ['a', 'b'] },
      cursor: undefined,
      limit: 200,
    });
    expect(readEventsQuery(new URLSearchParams()).limit).toBe(50);
  });

  it('of the audit take an empty filter for none', () => {
    expect(auditQuery.parse({ outbox: 'escrow', event: '', actor: '', from: '', to: '', cursor: '' })).toEqual({
      outbox: 'escrow',
      limit: 50,
    });
    expect(auditQuery.safeParse({ from: 'yesterday' }).success).toBe(false);
  });
});

describe('an intervention', () => {
  const event = { id: '1', version: 'v' };
  const good = { operation: 'retry', events: [event], reason: 'node is back' };
  it.each([
    { ...good, events: [] },
    { ...good, events: Array.from({ length: 201 }, (_, id) => ({ id: String(id), version: 'v' })) },
    { ...good, events: [event, event] },
    { ...good, events: [{ id: '1' }] },
    { ...good, events: [{ ...event, payload: 'x' }] },
    { ...good, reason: '  a  ' },
    { ...good, reason: 'x'.repeat(501) },
    { ...good, force: true },
    { ...good, operation: '' },
    [],
    'retry',
    null,
  ])('%.60j is refused', (input) => expect(interventionRequest.safeParse(input).success).toBe(false));
  it('is read', () => expect(interventionRequest.parse(good)).toEqual(good));
});

describe('language and time zone', () => {
  it.each([
    [undefined, null, 'en'],
    [undefined, 'ko-KR,ko;q=0.9,en;q=0.8', 'ko'],
    [undefined, 'fr, en;q=0.5, ko;q=0.9', 'ko'],
    [undefined, 'ko;q=0, en', 'en'],
    ['ko', 'en', 'ko'],
    ['tlh', 'ko', 'ko'],
    ['__proto__', ';;q=,,', 'en'],
  ])('cookie %s and Accept-Language %j give %s', (cookie, accept, code) => expect(chooseLanguage(cookie, accept)).toBe(code));
  it.each([
    [undefined, 'UTC'],
    ['Asia/Seoul', 'Asia/Seoul'],
    ['Mars/Olympus', 'UTC'],
  ])('the zone cookie %s gives %s', (cookie, zone) => expect(chooseTimeZone(cookie)).toBe(zone));
});
