import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DatabaseFailure } from '../failure';
import { lanesOfOwn, Share } from './share';

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

test('twenty databases that are read in turns share twelve connections, mostly without opening one anew', async () => {
  const [databases, readsEach, rounds] = [20, 10, 30];
  const share = new Share(12);
  let opened = 0;
  const lanes = Array.from({ length: databases }, () =>
    share.lane(
      {
        open: async () => {
          opened += 1;
          await setTimeout(2);
          return {};
        },
        close: () => Promise.resolve(),
        failure: (error) => new DatabaseFailure('other', null, error),
      },
      { max: 5, acquireTimeoutMs: 10_000, availability: null },
    ),
  );
  const read = async (lane: (typeof lanes)[number]): Promise<void> => {
    const connection = await lane.acquire();
    await setTimeout(1);
    lane.release(connection, false);
  };
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(lanes.flatMap((lane) => Array.from({ length: readsEach }, () => read(lane))));
  expect(share.open).toBeLessThanOrEqual(12);
  // Each database that has none takes another one's, once a round; the first round finds none at all.
  expect(opened).toBeLessThan(rounds * (databases - 12 + 2) + databases);
});
