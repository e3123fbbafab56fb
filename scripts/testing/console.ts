/** A running console for tests of routes: configuration, store and tokens are real, and the request is handed in directly. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { NextRequest } from 'next/server';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { createToken } from '@/lib/identity/tokens';
import type { Role } from '@/lib/shared/permissions';
import { migrateStore } from '@/lib/store/store';
import { getConsole, stopConsole } from '@/lib/server/console';
import type { Context } from '@/lib/server/context';
import type { RouteHandler } from '@/lib/server/route';

const ORIGIN = 'http://localhost:3000';

export interface Call {
  method?: string;
  /** Path and query. */
  path?: string;
  params?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface TestConsole {
  /** A request without a sign-in. */
  call(handler: RouteHandler, call?: Call): Promise<Response>;
  /** A request with a token of this role. */
  callAs(role: Role, handler: RouteHandler, call?: Call): Promise<Response>;
  /** Stops the console and starts it with another configuration. */
  restart(yaml: string): Promise<void>;
}

/** A console whose store is the database at `url`, for all tests of a file. `yaml` is the rest of its configuration. */
export function useTestConsole(url: () => string, yaml: () => string): TestConsole {
  let folder = '';
  const tokens = new Map<Role, Promise<string>>();
  const write = (text: string): Promise<void> => writeFile(path.join(folder, 'console.yaml'), `store: ${url()}\n${text}`);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'outbox-console-test-'));
    await write(yaml());
    vi.stubEnv('OUTBOX_CONSOLE_CONFIG', path.join(folder, 'console.yaml'));
    vi.stubEnv('NEXTAUTH_URL', ORIGIN);
    vi.stubEnv('NEXTAUTH_SECRET', 'a secret of at least thirty-two characters');
    vi.stubEnv('LOG_LEVEL', 'silent');
    expect(await migrateStore(url())).toMatchObject({ ok: true });
  });
  afterAll(async () => {
    await stopConsole();
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  const madeFor = async (role: Role): Promise<string> => {
    const { store } = await getConsole();
    const token = await createToken(store, { name: `${role} bot`, role });
    // The audit is to hold what the test does.
    await store.db.deleteFrom('audit_entry').where('operation', '=', 'token_created').execute();
    return token;
  };

  const call: TestConsole['call'] = (handler, { method = 'GET', path: address = '/', params = {}, headers = {}, body } = {}) =>
    handler(
      new NextRequest(`${ORIGIN}${address}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { params: Promise.resolve(params) },
    );

  return {
    call,
    async callAs(role, handler, asked = {}) {
      // The promise is kept, not the token: several first requests at once want one token.
      const made = tokens.get(role) ?? madeFor(role);
      tokens.set(role, made);
      const token = await made;
      return call(handler, { ...asked, headers: { authorization: `Bearer ${token}`, ...asked.headers } });
    },
    async restart(text) {
      await stopConsole();
      await write(text);
    },
  };
}

/** What a reading is run with for somebody of this role, without a request. */
export const contextOf = async (role: Role): Promise<Context> => ({
  console: await getConsole(),
  actor: { id: 'account:1', name: 'somebody', role, kind: 'account' },
  requestId: 'r',
  elapsedMs: () => 0,
  locale: 'en',
  timeZone: 'UTC',
});
