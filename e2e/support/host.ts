/** Pages of somebody else, on an origin of their own, that embed cards: what they answer is said by each story. */
import { createServer } from 'node:http';
import { SignJWT } from 'jose';

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

export interface Host {
  /** Its origin. */
  url: string;
  /** Paths with queries that were asked for, in order, with when (milliseconds). */
  asked: { path: string; at: number }[];
  /** How often a path was. */
  times(pathname: string): number;
  close(): Promise<void>;
}

const TYPES: Record<string, string> = { '{': 'application/json', '<': 'text/html; charset=utf-8' };

/** Starts one on a free port of 127.0.0.1: another site than `localhost`, where the console is. */
export async function startHost(answer: (url: URL) => Answer | string | null | Promise<Answer | string | null>): Promise<Host> {
  const asked: Host['asked'] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    asked.push({ path: `${url.pathname}${url.search}`, at: Date.now() });
    void (async () => {
      const given = await answer(url);
      const { status, headers, body } =
        typeof given === 'string' ? { status: 200, headers: {}, body: given } : (given ?? { status: 404, body: '' });
      response.writeHead(status ?? 200, { 'content-type': TYPES[body[0] ?? ''] ?? 'text/plain', ...headers });
      response.end(body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the host does not listen');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    asked,
    times: (pathname) => asked.filter(({ path }) => path.split('?')[0] === pathname).length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

export interface Signing {
  secret: string;
  kid: string;
  /** The console's origin. */
  audience: string;
  lifetimeS?: number;
  /** Moves both times, to make a token that is over or early. */
  shiftS?: number;
  alg?: 'HS256' | 'HS512';
}

/** A token of a host's back end for a view and its parameters. */
export function signCard(
  claims: Record<string, string>,
  { secret, kid, audience, lifetimeS = 300, shiftS = 0, alg = 'HS256' }: Signing,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000) + shiftS;
  return new SignJWT({ ...claims, sub: 'a person of the host' })
    .setProtectedHeader({ alg, kid })
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + lifetimeS)
    .sign(new TextEncoder().encode(secret));
}
