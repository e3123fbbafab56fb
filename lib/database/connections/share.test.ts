import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { DatabaseFailure } from '../failure';
import { lanesOfOwn } from './share';

test('a connection that ends in use, after its last statement, is given to nobody else', async () => {
  const ends: (() => void)[] = [];
  const closed: object[] = [];
  const lane = lanesOfOwn(
    1,
    1_000,
  )({
    open(onLost: (connection: object) => void) {
      const connection = {};
      ends.push(() => onLost(connection));
      return Promise.resolve(connection);
    },
    close(connection: object) {
      closed.push(connection);
      return Promise.resolve();
    },
    failure: (error) => new DatabaseFailure('connection', null, error),
  });
  const first = await lane.acquire();
  ends[0]?.();
  lane.release(first, false);
  expect(closed).toEqual([first]);
  const second = await lane.acquire();
  expect(second).not.toBe(first);
  lane.release(second, false);
  expect(await lane.acquire()).toBe(second);
  await lane.end();
});

test('a connection does not keep the request it was opened for', async () => {
  const request = new AsyncLocalStorage<string>();
  const openedFor: (string | undefined)[] = [];
  const lane = lanesOfOwn(
    2,
    1_000,
  )({
    open: () => {
      openedFor.push(request.getStore());
      return Promise.resolve({});
    },
    close: () => Promise.resolve(),
    failure: (error) => new DatabaseFailure('other', null, error),
  });
  await request.run('somebody’s page', () => lane.acquire());
  expect(openedFor).toEqual([undefined]);
});
