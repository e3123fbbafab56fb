import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import { SignJWT } from 'jose';
import { CARD_PARAMETERS, isCardView, type CardParameter } from '@/lib/shared/embedding/views';
import type { HostOrder } from './orders';
import { hostPage } from './page';

const TOKEN_SECONDS = 120;
/** When its database does not answer. */
const ANY_ORDER = 'order-20001';
const KEY_ID = 'demo-host';
const FILES: Record<string, string> = { '/page.css': 'text/css', '/theme.js': 'text/javascript' };

export interface HostOptions {
  /** Where people open the console. */
  consoleUrl: string;
  listOrders: () => Promise<HostOrder[]>;
}

/** A page elsewhere that embeds cards, and what signs for them. */
export interface DemoHost {
  url: string;
  /** What the console's configuration says of it. */
  embedding: { origins: string[]; session: boolean; keys: { id: string; secret: string }[] };
  close(): Promise<void>;
}

/** Starts it on a free port of 127.0.0.1: for a browser another site than `localhost`, where the console is. */
export async function startDemoHost({ consoleUrl, listOrders }: HostOptions): Promise<DemoHost> {
  const secret = randomBytes(32).toString('base64url');
  const headers = {
    'Content-Security-Policy': `default-src 'none'; script-src 'self' ${consoleUrl}; style-src 'self'; img-src data:; connect-src 'self'; frame-src ${consoleUrl}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  };
  const answer = (response: ServerResponse, status: number, type: string, body: string) =>
    response.writeHead(status, { ...headers, 'Content-Type': `${type}; charset=utf-8` }).end(body);

  async function route(url: URL, response: ServerResponse): Promise<unknown> {
    const type = FILES[url.pathname];
    if (type !== undefined) return answer(response, 200, type, await readFile(path.join(import.meta.dirname, url.pathname), 'utf8'));
    if (url.pathname === '/token') {
      const claims = claimsOf(url.searchParams);
      if (claims === null) return answer(response, 400, 'text/plain', 'No such card');
      return answer(response, 200, 'application/json', JSON.stringify({ token: await sign(claims) }));
    }
    if (url.pathname !== '/') return answer(response, 404, 'text/plain', 'Nothing is here');
    const orders = await listOrders().catch(() => []);
    const order = url.searchParams.get('order') ?? orders[0]?.id ?? ANY_ORDER;
    return answer(response, 200, 'text/html', hostPage({ consoleUrl, orders, order }));
  }

  /** A real one asks first who is there, and whether they may see this order. */
  const sign = (claims: Record<string, string>) =>
    new SignJWT({ ...claims, sub: 'somebody in the shop' })
      .setProtectedHeader({ alg: 'HS256', kid: KEY_ID })
      .setAudience(consoleUrl)
      .setIssuedAt()
      .setExpirationTime(`${TOKEN_SECONDS}s`)
      .sign(new TextEncoder().encode(secret));

  const server = createServer((request, response) => {
    route(new URL(request.url ?? '/', 'http://host'), response).catch((error: unknown) =>
      answer(response, 500, 'text/plain', error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  return {
    url,
    embedding: { origins: [url], session: true, keys: [{ id: KEY_ID, secret }] },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The view and those of its parameters that were asked for; null where there is no such view. */
function claimsOf(query: URLSearchParams): Record<string, string> | null {
  const view = query.get('view');
  if (!isCardView(view)) return null;
  const names = Object.keys(CARD_PARAMETERS[view]) as CardParameter[];
  return Object.fromEntries([['view', view], ...names.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : []))]);
}
