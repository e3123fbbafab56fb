import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { DatabaseFailure } from '../failure';
import { lanesOfOwn, Share } from './share';

afterEach(() => {
  vi.useRealTimers();
});

/** Databases that share `limit` connections, and how many were opened. */
function databasesOf(limit: number, count: number, openMs = 0) {
  const share = new Share(limit);
  const opened = { count: 0 };
  const open = async (): Promise<object> => {
    opened.count += 1;
    if (openMs > 0) await setTimeout(openMs);
    return {};
  };
  const source = { open, close: () => Promise.resolve(), failure: (error: unknown) => new DatabaseFailure('other', null, error) };
  const lanes = Array.from({ length: count }, () => share.lane(source, { max: 5, acquireTimeoutMs: 10_000, availability: null }));
  return { share, opened, lanes };
}

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
  const { share, opened, lanes } = databasesOf(12, databases, 2);
  const read = async (lane: (typeof lanes)[number]): Promise<void> => {
    const connection = await lane.acquire();
    await setTimeout(1);
    lane.release(connection, false);
  };
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(lanes.flatMap((lane) => Array.from({ length: readsEach }, () => read(lane))));
  expect(share.open).toBeLessThanOrEqual(12);
  // Each database that has none takes another one's, once a round; the first round finds none at all.
  expect(opened.count).toBeLessThan(rounds * (databases - 12 + 2) + databases);
});

test.each([1, 3])('a database keeps what it opened from read to read, though others wait: %i readers each', async (readers) => {
  const { opened, lanes } = databasesOf(4, 20, 2);
  const readAll = async (lane: (typeof lanes)[number]): Promise<void> => {
    for (let outbox = 0; outbox < 30; outbox += 1) {
      lane.release(await lane.acquire(), false);
      await setTimeout(1);
    }
  };
  await Promise.all(lanes.flatMap((lane) => Array.from({ length: readers }, () => readAll(lane))));
  // A clock that stood still may have ended a turn.
  expect(opened.count).toBeLessThan(2 * readers * lanes.length);
});

test('who comes while the only connection rests gets it after the pause, and not after a second', async () => {
  vi.useFakeTimers();
  const { lanes } = databasesOf(1, 2);
  const [one, other] = lanes;
  if (one === undefined || other === undefined) throw new Error('two were wanted');
  one.release(await one.acquire(), false);
  await vi.advanceTimersByTimeAsync(1);
  const got = vi.fn();
  void other.acquire().then(got);
  await vi.advanceTimersByTimeAsync(20);
  expect(got).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60);
  expect(got).toHaveBeenCalled();
});

test('of a database that is read, the connections that nobody came back for are given first', async () => {
  vi.useFakeTimers();
  const { lanes } = databasesOf(3, 3);
  const [busy, idle, late] = lanes;
  if (busy === undefined || idle === undefined || late === undefined) throw new Error('three were wanted');
  const [left, read] = [await busy.acquire(), await busy.acquire()];
  const kept = await idle.acquire();
  busy.release(left, false);
  await vi.advanceTimersByTimeAsync(11_000);
  busy.release(read, false);
  idle.release(kept, false);
  await late.acquire();
  expect(await idle.acquire()).toBe(kept);
  expect(await busy.acquire()).toBe(read);
});

test('databases that are read without end take turns of a second', async () => {
  vi.useFakeTimers();
  const { lanes } = databasesOf(1, 3);
  const waits: number[] = [];
  const ended = { is: false };
  const readOn = async (lane: (typeof lanes)[number]): Promise<void> => {
    while (!ended.is) {
      const asked = Date.now();
      const connection = await lane.acquire();
      waits.push(Date.now() - asked);
      await new Promise((resolve) => void globalThis.setTimeout(resolve, 10));
      lane.release(connection, false);
    }
  };
  const readers = lanes.map(readOn);
  await vi.advanceTimersByTimeAsync(10_000);
  ended.is = true;
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(readers);
  expect(Math.max(...waits)).toBeLessThan(2_200);
  expect(waits.filter((ms) => ms > 900).length).toBeGreaterThan(7);
});

test('who waits for a connection of a busy database gets another one’s after a second, even if none is returned', async () => {
  const { opened, lanes } = databasesOf(2, 2);
  const [busy, idle] = lanes;
  if (busy === undefined || idle === undefined) throw new Error('two were wanted');
  idle.release(await idle.acquire(), false);
  await busy.acquire();
  vi.useFakeTimers();
  const second = busy.acquire();
  await vi.advanceTimersByTimeAsync(900);
  expect(opened.count).toBe(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(opened.count).toBe(3);
  await second;
});

test('two databases that are read in turns take the connections of those that nobody reads any more', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const { opened, lanes } = databasesOf(3, 4);
  const read = async (lane: (typeof lanes)[number] | undefined): Promise<void> => {
    const connection = await lane?.acquire();
    if (connection !== undefined) lane?.release(connection, false);
  };
  const [left, other, ...turns] = lanes;
  await read(left);
  await read(other);
  vi.advanceTimersByTime(11_000);
  for (let turn = 0; turn < 10; turn += 1) for (const lane of turns) await read(lane);
  expect(opened.count).toBe(4);
});
