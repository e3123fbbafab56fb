import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createShared } from './shared';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('all who ask while it runs, and for a time after it ended, share one work', async () => {
  const shared = createShared<number>(4_000, 10);
  let count = 0;
  const work = () => new Promise<number>((resolve) => setTimeout(() => resolve((count += 1)), 6_000));
  const asked = [shared.get('a', work), shared.get('a', work)];
  await vi.advanceTimersByTimeAsync(6_000);
  expect(await Promise.all([...asked, shared.get('a', work)])).toEqual([1, 1, 1]);
  await vi.advanceTimersByTimeAsync(3_999);
  expect(shared.has('a')).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(shared.has('a')).toBe(false);
  const next = shared.get('a', work);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(await next).toBe(2);
});

test('failed work is not kept', async () => {
  const shared = createShared<number>(4_000, 10);
  await expect(shared.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await shared.get('a', async () => 1)).toBe(1);
});

test('the oldest goes when there are too many, and what is over when another comes', async () => {
  const shared = createShared<string>(4_000, 2);
  for (const key of ['a', 'b', 'c']) await shared.get(key, async () => key);
  expect(['a', 'b', 'c'].map(shared.has)).toEqual([false, true, true]);
});
