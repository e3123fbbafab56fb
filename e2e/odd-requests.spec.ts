/** What nobody should send: answered as the asker's mistake, without a word of the console's to who has not signed in. */
import { expect, test } from './fixtures';

const POOP = encodeURIComponent('💩');
const FORM = 'application/x-www-form-urlencoded';

const ASKED: [method: string, address: string, status: number | RegExp, body?: { type: string; text: string }][] = [
  ['GET', '/api/auth/callback/credentials', 405],
  ['GET', `/api/auth/error?error=${POOP}`, 400],
  ['GET', '/api/auth/error?error=%00', 400],
  ['GET', '/api/auth/error?error=%0d%0aSet-Cookie:x=1', 400],
  ['GET', `/api/auth/error?error=Callback&error=${POOP}`, 400],
  ['GET', `/api/auth/error/${POOP}`, 404],
  ['GET', `/api/auth/signin?error=${POOP}`, 400],
  ['GET', `/api/auth/signin/${POOP}`, 404],
  ['GET', `/api/auth/session/${POOP}`, 404],
  ['GET', '/api/auth/verify-request', 404],
  ['GET', '/api/auth/__proto__', 404],
  ['GET', '/api/auth', 401],
  ['GET', '/api/auth/%', 400],
  ['GET', '/api/auth/callback/google', 404],
  ['POST', '/api/auth/callback/google', 404],
  ['POST', '/api/auth/session', 405, { type: FORM, text: 'data=1' }],
  ['POST', '/api/auth/_log', 404, { type: FORM, text: 'level=constructor' }],
  ['PUT', '/api/auth/session', 405],
  ['POST', '/api/auth/callback/credentials', 400, { type: 'application/json', text: '{' }],
  ['POST', '/api/auth/callback/credentials', 400, { type: 'application/json', text: 'null' }],
  ['POST', '/api/auth/callback/credentials', 400, { type: 'application/json', text: '{"callbackUrl": 5, "csrfToken": {}}' }],
  ['GET', '/api/nowhere', 401],
  ['DELETE', '/api/health/live', 405],
  ['GET', '/nowhere.png', 404],
  ['POST', '/nowhere.png', 404],
  ['GET', '/_next/nowhere', 404],
  ['GET', '/a/b.json', 404],
];

for (const [method, address, status, body] of ASKED) {
  test(`${method} ${address}${body === undefined ? '' : ` ${body.text}`} is answered with ${String(status)}`, async ({
    playwright,
    world,
  }) => {
    const anonymous = await playwright.request.newContext({ baseURL: world.url });
    const answer = await anonymous.fetch(address, {
      method,
      maxRedirects: 0,
      ...(body === undefined ? {} : { headers: { 'content-type': body.type }, data: Buffer.from(body.text) }),
    });
    expect(answer.status()).toBe(status);
    expect((await answer.body()).byteLength).toBeLessThan(20_000);
    await anonymous.dispose();
  });
}

for (const path of ['/nowhere.png', '/_next/nowhere', '/nowhere', '/login']) {
  test(`${path} is sent to who is not signed in, or says so with a cookie that means nothing, in 21 kB`, async ({ playwright, world }) => {
    for (const cookie of ['', 'outbox-console.session=nothing']) {
      const anonymous = await playwright.request.newContext({ baseURL: world.url, extraHTTPHeaders: { cookie, accept: 'text/html' } });
      const answer = await anonymous.get(path);
      expect((await answer.body()).byteLength, await answer.text()).toBeLessThan(21_000);
      await anonymous.dispose();
    }
  });
}
