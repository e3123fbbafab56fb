import { expect, it } from 'vitest';
import { createOnce } from './once';

it('does what is asked for by one key once, and what failed again', async () => {
  const once = createOnce();
  let done = 0;
  const work = () => Promise.resolve((done += 1));
  expect(await Promise.all([once(['a', 1], work), once(['a', 1], work), once(['a', 2], work)])).toEqual([1, 1, 2]);
  await expect(once(['b'], () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await once(['b'], work)).toBe(3);
});

it('forgets the oldest of very many', async () => {
  const once = createOnce();
  const begun: number[] = [];
  const ask = (key: number) => once([key], () => Promise.resolve(begun.push(key)));
  for (let key = 0; key <= 200; key += 1) await ask(key);
  await ask(200);
  expect(begun).toHaveLength(201);
  await ask(0);
  expect(begun).toHaveLength(202);
});
