import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { encode } from 'next-auth/jwt';
import { NextRequest } from 'next/server';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { z } from 'zod';
import { useTestDatabase } from '@/scripts/testing/database';
import { changeAccount } from '@/lib/identity/accounts';
import { createToken } from '@/lib/identity/tokens';
import type { Role } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { insertAccount } from '@/lib/store/accounts';
import { migrateStore } from '@/lib/store/store';
import { getConsole, stopConsole } from './console';
import { readMarks } from './reads/marks';
import { defineRoute } from './route';
import { insertSession, revokeSession } from '@/lib/store/sign-ins';

const ORIGIN = 'http://localhost:3000';
const SECRET = 'a secret of at least thirty-two characters';
const database = useTestDatabase();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'outbox-console-route-'));
  const config = path.join(folder, 'console.yaml');
  await writeFile(
    config,
    `store: ${database.url}\ndatabases: {a: {url: '${database.url}'}}\noutboxes: [{id: a, database: a, table: t, shape: published-at}]\n`,
  );
  vi.stubEnv('OUTBOX_CONSOLE_CONFIG', config);
  vi.stubEnv('NEXTAUTH_URL', ORIGIN);
  vi.stubEnv('NEXTAUTH_SECRET', SECRET);
  vi.stubEnv('LOG_LEVEL', 'silent');
  expect(await migrateStore(database.url)).toMatchObject({ ok: true });
});
afterAll(async () => {
  await stopConsole();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const runs: string[] = [];
const read = defineRoute({
  id: 'test.read',
  permission: 'outbox:read',
  query: z.strictObject({ n: z.string().optional() }),
  run: async ({ actor }) => ({ actor: actor.name }),
});
const change = defineRoute({
  id: 'test.change',
  permission: 'event:operate',
  body: z.strictObject({ event: z.string() }),
  attempted: ({ body }) => ({ operation: 'retry', outbox: 'a', events: [{ id: body.event }], reason: 'why' }),
  run: async ({ actor }, { body }) => {
    runs.push(body.event);
    return { done: body.event, by: actor.id };
  },
});
const marks = defineRoute({ id: 'test.marks', permission: 'outbox:read', run: (context) => readMarks(context, {}) });
const broken = defineRoute({
  id: 'test.broken',
  permission: 'outbox:read',
  run: async () => {
    throw new Error('SELECT secret FROM somewhere');
  },
});
const busy = defineRoute({
  id: 'test.busy',
  permission: 'outbox:read',
  run: async () => {
    throw new Problem('too_many', 'Later', { retryAfterSeconds: 7 });
  },
});
const open = defineRoute({ id: 'test.open', public: true, run: async () => ({ ok: true }) });

type Handler = typeof read;
const call = (
  handler: Handler,
  init: { method?: string; headers?: Record<string, string>; body?: unknown; query?: string } = {},
): Promise<Response> =>
  handler(
    new NextRequest(`${ORIGIN}/api/test${init.query ?? ''}`, {
      method: init.method ?? 'GET',
      headers: { ...(init.body === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    }),
    { params: Promise.resolve({}) },
  );

let people = 0;
async function person(role: Role): Promise<{ id: string; email: string; sid: string; cookie: string }> {
  const { store } = await getConsole();
  people += 1;
  const email = `${role}${people}@example.com`;
  const id = (await insertAccount(store.db, { email, passwordHash: 'never used here', role })) ?? '';
  const sid = (await insertSession(store.db, id, 8)) ?? '';
  return { id, email, sid, cookie: `outbox-console.session=${await encode({ token: { sub: id, sid }, secret: SECRET })}` };
}

const audit = (actor: string) =>
  database.query<{ operation: string; outbox: string; event_id: string | null; outcome: string; code: string }>(
    'select * from audit_entry where actor_name = $1 order by recorded_at',
    [actor],
  );

describe('who is asking', () => {
  it('is not known while the store is away, which is said of the store and of no outbox', async () => {
    const { cookie } = await person('viewer');
    const authorization = `Bearer ${await createToken((await getConsole()).store, { name: 'early bot', role: 'viewer' })}`;
    const known = `Bearer ${await createToken((await getConsole()).store, { name: 'known bot', role: 'viewer' })}`;
    expect((await call(marks, { headers: { authorization: known } })).status).toBe(200);
    const server = new pg.Client({ connectionString: inject('postgresUrl') });
    await server.connect();
    try {
      await server.query(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS false`);
      await server.query('SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1', [database.name]);
      for (const headers of [{ cookie }, { authorization }] as Record<string, string>[]) {
        const answer = await call(read, { headers });
        expect(answer.status).toBe(503);
        expect(await answer.json()).toMatchObject({
          code: 'unavailable',
          detail: expect.stringMatching(/^The console's own store does not answer.*try again/) as string,
        });
      }
      // Who is asking is known from a moment ago, and what they ask for is in the store.
      const answer = await call(marks, { headers: { authorization: known } });
      expect([answer.status, await answer.json()]).toMatchObject([
        503,
        { code: 'unavailable', detail: expect.stringMatching(/^The console's own store does not answer/) as string },
      ]);
    } finally {
      await server.query(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS true`);
      await server.end();
    }
    await expect.poll(async () => (await call(read, { headers: { authorization } })).status).toBe(200);
  });

  it('must say so', async () => {
    const answer = await call(read);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await answer.json()).toMatchObject({ code: 'unauthenticated', status: 401 });
  });

  it('is known by cookie or token', async () => {
    const { email, cookie } = await person('viewer');
    expect(await (await call(read, { headers: { cookie } })).json()).toEqual({ actor: email });
    const token = await createToken((await getConsole()).store, { name: 'bot', role: 'viewer' });
    const answer = await call(read, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toEqual({ actor: 'bot' });
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
  });

  it.each(['Bearer %', 'Bearer obx_unknown-token', 'Bearer'])('is nobody with %j, even beside a good cookie', async (authorization) => {
    const { cookie } = await person('viewer');
    expect((await call(read, { headers: { cookie, authorization } })).status).toBe(401);
  });

  it('is nobody with a forged, foreign or expired cookie', async () => {
    const { id, sid, cookie } = await person('viewer');
    const name = 'outbox-console.session';
    const forged = [
      `${name}=${await encode({ token: { sub: id, sid }, secret: 'another secret of thirty-two characters' })}`,
      `${name}=${await encode({ token: { sub: id, sid }, secret: SECRET, maxAge: -60 })}`,
      `${name}=${await encode({ token: { sub: id }, secret: SECRET })}`,
      `${name}=${await encode({ token: { sub: id, sid: "' or true --" }, secret: SECRET })}`,
      `${name}=eyJhbGciOiJub25lIn0.e30.`,
      `${name}=`,
      `${name}.0=${cookie.slice(name.length + 1, 60)}; ${name}.1=${cookie.slice(60)}`,
      `__Host-${cookie}`,
    ];
    for (const attempt of forged) expect((await call(read, { headers: { cookie: attempt } })).status).toBe(401);
  });

  it('is nobody once signed out, disabled or changed', async () => {
    const { store } = await getConsole();
    const gone = await person('viewer');
    await revokeSession(store.db, gone.sid);
    const disabled = await person('operator');
    await changeAccount(store, disabled.email, { disabled: true });
    const lowered = await person('operator');
    await changeAccount(store, lowered.email, { role: 'viewer' });
    for (const { cookie } of [gone, disabled, lowered]) expect((await call(read, { headers: { cookie } })).status).toBe(401);
  });
});

describe('a changing request', () => {
  const body = { event: 'e1' };

  it('is carried out by cookie from our own pages, and by token from anywhere', async () => {
    const { id, cookie } = await person('operator');
    const answer = await call(change, { method: 'POST', body, headers: { cookie, origin: ORIGIN, 'sec-fetch-site': 'same-origin' } });
    expect(await answer.json()).toEqual({ done: 'e1', by: `account:${id}` });
    const token = await createToken((await getConsole()).store, { name: 'operator bot', role: 'operator' });
    expect((await call(change, { method: 'POST', body, headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  });

  it.each([
    {},
    { origin: 'null' },
    { origin: 'https://evil.com' },
    { origin: 'http://localhost:3001' },
    { origin: `${ORIGIN}.evil.com` },
    { origin: ORIGIN, 'sec-fetch-site': 'same-site' },
    { origin: ORIGIN, 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[])('is refused by cookie with %j, and audited', async (headers) => {
    const { email, cookie } = await person('operator');
    const before = runs.length;
    const answer = await call(change, { method: 'POST', body, headers: { cookie, ...headers } });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'forbidden' });
    expect(runs).toHaveLength(before);
    expect(await audit(email)).toMatchObject([{ operation: 'retry', outbox: 'a', event_id: 'e1', outcome: 'refused', code: 'forbidden' }]);
  });

  it('is refused for a role that may not, and audited, understood or not', async () => {
    const { email, cookie } = await person('viewer');
    const before = runs.length;
    const headers = { cookie, origin: ORIGIN };
    expect((await call(change, { method: 'POST', body, headers })).status).toBe(403);
    expect((await call(change, { method: 'POST', body: { nonsense: 1 }, headers })).status).toBe(403);
    expect(runs).toHaveLength(before);
    expect(await audit(email)).toMatchObject([
      { operation: 'retry', event_id: 'e1', code: 'forbidden' },
      { operation: 'test.change', event_id: null, code: 'forbidden' },
    ]);
  });

  it('says what it cannot understand', async () => {
    const { cookie } = await person('operator');
    const headers = { cookie, origin: ORIGIN };
    const answer = await call(change, { method: 'POST', body: { event: 1, more: true }, headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'invalid', fields: { event: expect.any(String), more: 'unknown' } });
    expect((await call(change, { method: 'POST', body, headers: { ...headers, 'content-type': 'text/plain' } })).status).toBe(415);
  });
});

describe('answers', () => {
  it('never say what broke, only where the log says it', async () => {
    const { cookie } = await person('viewer');
    const answer = await call(broken, { headers: { cookie } });
    const text = await answer.text();
    expect(answer.status).toBe(503);
    expect(text).not.toContain('SELECT');
    expect(JSON.parse(text)).toMatchObject({ code: 'unavailable', reference: expect.stringMatching(/^[0-9a-f]{12}$/) });
  });

  it('carry the problem and when to try again', async () => {
    const { cookie } = await person('viewer');
    const answer = await call(busy, { headers: { cookie } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
  });

  it('refuse unknown query parameters', async () => {
    const { cookie } = await person('viewer');
    expect((await call(read, { headers: { cookie }, query: '?m=1' })).status).toBe(400);
    expect((await call(read, { headers: { cookie }, query: '?n=1&n=2' })).status).toBe(400);
  });

  it('come without a sign-in only where that is declared', async () => {
    expect((await call(open)).status).toBe(200);
    expect([read, change, broken, busy, open].map((handler) => handler.entry)).toEqual([
      { id: 'test.read', permission: 'outbox:read' },
      { id: 'test.change', permission: 'event:operate' },
      { id: 'test.broken', permission: 'outbox:read' },
      { id: 'test.busy', permission: 'outbox:read' },
      { id: 'test.open', public: true },
    ]);
  });
});
