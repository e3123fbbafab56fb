import { afterEach, expect, test, vi } from 'vitest';
import { signOut } from './sign-out';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a sign-out that does not reach the console says so and is tried again until it does; only then the login page opens', async () => {
  vi.useFakeTimers();
  const asked: string[] = [];
  const kept: string[] = [];
  const first = [new Error('offline'), { code: 'unavailable' }, { csrfToken: 'a' }, new Error('broken off')];
  const answers = [...first, { csrfToken: 'b' }, null, { csrfToken: 'c' }, {}];
  vi.stubGlobal('fetch', (path: string, { body }: { body?: URLSearchParams }) => {
    asked.push(body === undefined ? path : `${path} ${body.get('csrfToken') ?? ''}`);
    const answer = answers.shift();
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(Response.json(answer, { status: answer == null || 'code' in answer ? 503 : 200 }));
  });
  vi.stubGlobal('window', { location: { assign: (path: string) => kept.push(path) } });
  vi.stubGlobal('localStorage', { setItem: (key: string) => kept.push(key) });
  const unheard: number[] = [];
  const done = signOut(() => {
    expect(kept).toEqual([]);
    unheard.push(asked.length);
  });
  await vi.runAllTimersAsync();
  await done;
  expect(asked.filter((one) => one.includes('signout'))).toEqual(['/api/auth/signout a', '/api/auth/signout b', '/api/auth/signout c']);
  expect(unheard).toEqual([1, 2, 4, 6]);
  expect(kept).toEqual(['/login', 'outbox-console.signed-out']);
});
