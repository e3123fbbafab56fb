/** A console built for a path of its host, behind a proxy that also serves the host's own page on the same origin. */
import { execFile } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import type { World } from '@/scripts/testing/world';
import { freePort } from './programs';
import { secondConsole } from './second-console';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DIST_DIR = '.next-base-path';

export interface HostedConsole {
  /** The host's, which the console shares. */
  origin: string;
  /** The console's address, with the base path and no slash at its end. */
  url: string;
  /** Where the console listens behind the proxy. */
  ownPort: number;
  /** What the proxy was asked for outside of the base path, but for the host's page. */
  astray: string[];
  stop(): Promise<void>;
}

/** Builds what is not built yet (a minute), and starts it; `hostPage` is what the host serves at `/`, given the console's address. */
export async function hostedConsole(world: World, basePath: string, hostPage: (url: string) => string): Promise<HostedConsole> {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/build-once.ts'], {
    cwd: ROOT,
    env: { ...process.env, OUTBOX_CONSOLE_BASE_PATH: basePath, OUTBOX_CONSOLE_DIST_DIR: DIST_DIR },
  });
  const front = await freePort();
  const origin = `http://localhost:${String(front)}`;
  const url = `${origin}${basePath}`;
  const console = await secondConsole(
    world,
    (config) => (config.embedding = { origins: [origin], session: true }),
    // That it was built for a base path, the start finds out by itself.
    { NEXTAUTH_URL: url, OUTBOX_CONSOLE_DIST_DIR: DIST_DIR },
  );
  const astray: string[] = [];
  const proxy = http.createServer((request, response) => {
    const { url: asked = '/', method, headers } = request;
    const pathname = asked.replace(/[?#].*/, '');
    if (pathname !== basePath && !pathname.startsWith(`${basePath}/`)) {
      if (pathname !== '/') astray.push(asked);
      response.writeHead(pathname === '/' ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(pathname === '/' ? hostPage(url) : 'The host has no such page');
      return;
    }
    const handed = http.request({ host: '127.0.0.1', port: console.port, path: asked, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    handed.on('error', () => response.destroy());
    response.on('close', () => handed.destroy());
    request.pipe(handed);
  });
  await console.start();
  await new Promise<void>((resolve) => proxy.listen(front, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    await console.stop();
  };
  return { origin, url, ownPort: console.port, astray, stop };
}

/** What a page asks for and gets, from now on: addresses that are not below `url`, and answers that are none. */
export function watchAddresses(page: Page, url: string): { outside: string[]; missing: string[]; below: string[] } {
  const seen: ReturnType<typeof watchAddresses> = { outside: [], missing: [], below: [] };
  page.on('request', (request) => {
    const address = request.url();
    if (address.startsWith('data:') || address.startsWith('blob:')) return;
    const inside = address === url || ['/', '?', '#'].some((next) => address.startsWith(`${url}${next}`));
    seen[inside ? 'below' : 'outside'].push(address);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) seen.missing.push(`${String(response.status())} ${response.url()}`);
  });
  return seen;
}
