import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { authAddress, publicOriginOf, readEnvironment } from '@/lib/env';

const HTTPS = 'https://orders.example.com';

describe('the address people open', () => {
  it.each([
    [HTTPS, undefined],
    [`${HTTPS}/`, ''],
    [HTTPS, '/outbox'],
    [`${HTTPS}/outbox`, '/outbox'],
    [`${HTTPS}/outbox/`, '/outbox'],
    // As next-auth is handed it.
    [`${HTTPS}/outbox/api/auth`, '/outbox'],
    [`${HTTPS}/tools/outbox`, '/tools/outbox'],
  ])('%s with base path %j is of one origin', (NEXTAUTH_URL, OUTBOX_CONSOLE_BASE_PATH) => {
    const reading = readEnvironment({ NEXTAUTH_URL, OUTBOX_CONSOLE_BASE_PATH });
    expect(reading).toMatchObject({ ok: true, env: { publicUrl: HTTPS, basePath: OUTBOX_CONSOLE_BASE_PATH ?? '' } });
    expect(reading.ok && publicOriginOf(reading.env)).toBe(HTTPS);
  });

  it.each([
    [`${HTTPS}/outbox`, '', /without a path: .* unless OUTBOX_CONSOLE_BASE_PATH/],
    [`${HTTPS}/api/auth`, undefined, /without a path/],
    [`${HTTPS}/other`, '/outbox', /or with \/outbox/],
    [`${HTTPS}/outbox/login`, '/outbox', /or with \/outbox/],
    [`${HTTPS}/x/outbox`, '/outbox', /or with \/outbox/],
  ])('%s with base path %j is refused beside all else', (NEXTAUTH_URL, OUTBOX_CONSOLE_BASE_PATH, words) => {
    const reading = readEnvironment({ NEXTAUTH_URL, OUTBOX_CONSOLE_BASE_PATH, PORT: 'none' });
    const problems = reading.ok ? [] : reading.problems;
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['PORT', 'NEXTAUTH_URL']);
    expect(problems[1]).toMatch(words);
  });

  it('is what next-auth is told, with its own routes where they are not at the root', () => {
    expect(authAddress(HTTPS, '')).toBe(HTTPS);
    expect(authAddress(HTTPS, '/outbox')).toBe(`${HTTPS}/outbox/api/auth`);
  });
});

describe('a build', () => {
  const build = async (OUTBOX_CONSOLE_BASE_PATH: string): Promise<{ basePath: string; compiler: { define: Record<string, string> } }> => {
    vi.stubEnv('OUTBOX_CONSOLE_BASE_PATH', OUTBOX_CONSOLE_BASE_PATH);
    onTestFinished(() => void vi.unstubAllEnvs());
    const file = pathToFileURL(path.resolve(import.meta.dirname, '../next.config.js')).href;
    return ((await import(`${file}?${encodeURIComponent(OUTBOX_CONSOLE_BASE_PATH)}`)) as { default: Awaited<ReturnType<typeof build>> })
      .default;
  };

  it.each(['', '/outbox', '/tools/outbox', '/a.b/c-d_e~f'])('is made for %j, which its code knows', async (basePath) => {
    expect(await build(basePath)).toMatchObject({ basePath, compiler: { define: { OUTBOX_CONSOLE_BASE_PATH: basePath } } });
  });

  it.each(['outbox', '/', '/outbox/', '//outbox', '/a//b', '/a b', '/a?b', '/a/../b', '/.', '/ä', '/a%20b', '/:id', 'https://x/outbox'])(
    'is not made for %j, and says what to write',
    (basePath) => expect(build(basePath)).rejects.toThrow(`OUTBOX_CONSOLE_BASE_PATH: write a path such as /outbox`),
  );
});
