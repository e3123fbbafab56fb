import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostOrder } from './orders';
import { startDemoHost, type DemoHost } from './server';

const CONSOLE = 'http://localhost:3000';
const ORDER: HostOrder = { id: 'order-7', customer: 'Ada <b>', items: 2, total: '12.50 EUR', status: 'invoiced' };
let host: DemoHost;
let listOrders = () => Promise.resolve([ORDER]);

beforeAll(async () => {
  host = await startDemoHost({ consoleUrl: CONSOLE, listOrders: () => listOrders() });
});
afterAll(() => host.close());

describe('the demo’s host', () => {
  it('shows an order with all four cards, under a policy that names the console', async () => {
    const answer = await fetch(host.url);
    const page = await answer.text();
    expect([...page.matchAll(/<outbox-card [^>]*view="([\w-]+)"/g)].map(([, view]) => view)).toEqual([
      'fate',
      'outbox',
      'dead-letters',
      'fleet',
    ]);
    expect(page).toContain(`<outbox-card console="${CONSOLE}" view="fate" key="order-7" token-url="/token"`);
    expect(page).toContain('Ada &lt;b&gt;');
    expect(answer.headers.get('content-security-policy')).toContain(`script-src 'self' ${CONSOLE}; style-src 'self'`);
    expect(await (await fetch(`${host.url}/?order=x"><script>`)).text()).toContain('key="x&quot;&gt;&lt;script&gt;"');
  });

  it('signs for a view and its parameters, and for nothing else', async () => {
    const { token } = (await (await fetch(`${host.url}/token?view=outbox&outbox=escrow&key=a&role=admin`)).json()) as { token: string };
    const [key] = host.embedding.keys;
    const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(key?.secret), { audience: CONSOLE });
    expect(protectedHeader).toEqual({ alg: 'HS256', kid: key?.id });
    const { iat = 0, exp = 0, aud: _aud, ...claims } = payload;
    expect(exp - iat).toBeLessThanOrEqual(300);
    expect(claims).toEqual({ view: 'outbox', outbox: 'escrow', sub: 'somebody in the shop' });
    expect((await fetch(`${host.url}/token?view=nothing`)).status).toBe(400);
    expect((await fetch(`${host.url}/page.css`)).headers.get('content-type')).toContain('text/css');
    expect((await fetch(`${host.url}/server.ts`)).status).toBe(404);
  });

  it('shows its page without its database too', async () => {
    listOrders = () => Promise.reject(new Error('gone'));
    expect(await (await fetch(host.url)).text()).toContain('view="fate" key="order-20001"');
  });
});
