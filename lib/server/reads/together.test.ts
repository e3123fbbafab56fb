import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import type { Outbox } from '@/lib/outbox/outbox';
import { together } from './together';

const outbox = {} as Outbox;

/** Readings that end when they are told to. */
function readings() {
  const ends: ((fails?: boolean) => void)[] = [];
  const read = (): Promise<number> => {
    const number = ends.length + 1;
    return new Promise((resolve, reject) => ends.push((fails) => (fails === true ? reject(new Error(`${number}`)) : resolve(number))));
  };
  return { ends, read, ask: (question: string) => together(outbox, [question], read) };
}

test('everybody who asks while it is read gets the next reading, which begins after they asked', async () => {
  const { ends, ask } = readings();
  const first = ask('same');
  const others = [ask('same'), ask('same'), ask('same')];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await first).toBe(1);
  await expect.poll(() => ends.length).toBe(2);
  const late = ask('same');
  ends[1]?.();
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  expect(await late).toBe(3);
  // At rest nothing is kept: the next question is read at once.
  const again = ask('same');
  expect(ends).toHaveLength(4);
  ends[3]?.();
  expect(await again).toBe(4);
});

test('another question waits for nobody, and a reading that fails fails for those who asked for it alone', async () => {
  const { ends, ask } = readings();
  const first = ask('one').catch((error: unknown) => String(error));
  const second = ask('one');
  const other = ask('other');
  expect(ends).toHaveLength(2);
  ends[1]?.();
  expect(await other).toBe(2);
  ends[0]?.(true);
  expect(await first).toBe('Error: 1');
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  expect(await second).toBe(3);
});

test('what is shared does not keep the request of who asked first', async () => {
  const request = new AsyncLocalStorage<string>();
  const readFor: (string | undefined)[] = [];
  const read = (): Promise<void> => {
    readFor.push(request.getStore());
    return Promise.resolve();
  };
  await request.run('somebody’s page', () => Promise.all([together(outbox, ['list'], read), together(outbox, ['list'], read)]));
  expect(readFor).toEqual([undefined, undefined]);
});
