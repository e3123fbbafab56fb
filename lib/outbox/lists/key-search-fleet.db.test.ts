/** Keys over a large fleet: servers that never answer hold nobody up, and however many ask, an outbox is asked a few times a second. */
import net from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { publishedAt } from '@/lib/shape/catalog/published-at';
import type { Found } from '@/lib/shared/lists/found';
import { overCountingLine, type CountingLine } from '@/scripts/testing/counting-line';
import { useTestDatabase } from '@/scripts/testing/database';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { createSample, settingsFor } from '@/scripts/testing/outbox';
import { createDirectory } from '../directory';
import { createKeyFates, type KeySearch } from './key-fates';

const OUTBOXES = 200;

const database = useTestDatabase(async (own) => {
  await createSample(own, publishedAt);
  await own.query('analyze');
});

/** Takes every connection; once it is silent it never says a word, on those that it had neither. */
const silent = net.createServer((client) => {
  const upstream = net.connect(Number(new URL(database.url).port), '127.0.0.1');
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from);
    from.on('error', () => undefined);
    from.on('data', (data) => isSaying && to.write(data));
  }
});
let isSaying = false;
const sockets = new Set<net.Socket>();
const opened: { close: () => Promise<void> }[] = [];
let line: CountingLine;

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '0.0.0.0', resolve));
  line = await overCountingLine(database);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(opened.map((one) => one.close()));
  await line.close();
  await new Promise((resolve) => silent.close(resolve));
});

/** A fleet of which these are on a server that never answers; hosts differ, so that each address is a server of its own. */
function fleet(isSilent: (index: number) => boolean, hostOf: (index: number) => string = () => '127.0.0.1') {
  const silentUrl = (host: string): string => {
    const url = new URL(line.url);
    url.hostname = host;
    url.port = String((silent.address() as net.AddressInfo).port);
    return url.href;
  };
  const all = Array.from({ length: OUTBOXES }, (_, index) => index);
  const hosts = [...new Set(all.filter(isSilent).map(hostOf))];
  const directory = createDirectory({
    databases: [{ id: 'here', url: line.url }, ...hosts.map((host, index) => ({ id: `silent-${index}`, url: silentUrl(host) }))],
    outboxes: all.map((index) => ({
      ...settingsFor(publishedAt, { id: `o${index}` }),
      database: isSilent(index) ? `silent-${hosts.indexOf(hostOf(index))}` : 'here',
    })),
  });
  opened.push(directory);
  const fates = createKeyFates(directory);
  const find = (key: string, over: Partial<KeySearch> = {}) =>
    fates.find({ key, as: 'viewer', outboxes: directory.ids, hidden: () => new Set(), shown: async (_, events) => events, ...over });
  return { directory, find };
}

/** As a console knows its fleet: bound for its figures, but for what never answered. */
const bound = (directory: ReturnType<typeof fleet>['directory'], isSilent: (index: number) => boolean = () => false) =>
  Promise.all(directory.ids.flatMap((id, index) => (isSilent(index) ? [] : [directory.last(id)])));

const unanswered = ({ outboxes }: Found): string[] =>
  outboxes.filter(({ why }) => why !== null).map(({ outbox, why }) => `${outbox} ${String(why)}`);
/** A busy machine may not manage two hundred statements in two seconds: asks anew for another key, as a frame would. */
async function askedUntil<T>(ask: (nth: number) => Promise<T>, most = 12): Promise<T> {
  for (let nth = 1; ; nth += 1) {
    try {
      return await ask(nth);
    } catch (error) {
      if (nth === most) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

const times = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const from = performance.now();
  return [await work(), performance.now() - from];
};

vi.setConfig({ testTimeout: PATIENCE_MS });

test('three of two hundred on silent servers are named after two seconds, all others have answered', async () => {
  const isSilent = (index: number): boolean => index % 70 === 50;
  const { directory, find } = fleet(isSilent, (index) => `127.0.0.${2 + Math.floor(index / 70)}`);
  await bound(directory, isSilent);
  const three = directory.ids.filter((_, index) => isSilent(index));
  const [first, tookMs] = await times(() => find('first', { outboxes: [...three, 'o0'] }));
  expect(unanswered(first)).toEqual(three.map((id) => `${id} not_answered`));
  expect(tookMs).toBeGreaterThan(1_900);
  await askedUntil(async (nth) => {
    const [found, ms] = await times(() => find(`no such key ${nth}`));
    // Once their connections have timed out, they are known to be away.
    expect(unanswered(found).map((told) => told.replace('unavailable', 'not_answered'))).toEqual(three.map((id) => `${id} not_answered`));
    expect(found.outboxes).toHaveLength(OUTBOXES);
    expect(found.fate).toBe('not_known');
    // The deadline, and what a busy machine is late by.
    expect(ms).toBeLessThan(4_000);
  });
});

test('nor does half of the fleet on one server that fell silent, twenty keys at once, take the turns of the others', async () => {
  const { directory, find } = fleet((index) => index % 2 === 1);
  isSaying = true;
  await bound(directory);
  isSaying = false;
  const answered = ({ outboxes }: Found): number => outboxes.filter(({ searched }) => searched !== null).length;
  const some = directory.ids.slice(0, 10);
  const found = await Promise.all(Array.from({ length: 20 }, (_, index) => find(`key ${index}`, { outboxes: some })));
  expect(found.map(answered)).toEqual(found.map(() => 5));
  // While those of before still wait for the silent one, which is given up after eight seconds.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(answered(await find('another', { outboxes: some }))).toBe(5);
});

test('five hundred frames that ask for twenty keys every five seconds cost an outbox five finds a second at most', async () => {
  const { directory, find } = fleet(() => false);
  const some = directory.ids.slice(0, 3);
  await Promise.all(some.map((id) => directory.last(id)));
  line.heard();
  const from = Date.now();
  let asked = 0;
  const round = async (): Promise<void> => {
    // Frames do not tick together: in each second some of them ask.
    const frames = Array.from({ length: 100 }, (_, frame) => frame);
    await Promise.all(
      frames.flatMap(() => Array.from({ length: 20 }, (_, key) => find(`order ${key}`, { outboxes: some }).then(() => (asked += 1)))),
    );
  };
  for (let second = 0; second < 10; second += 1) {
    await round();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, from + (second + 1) * 1_000 - Date.now())));
  }
  const seconds = (Date.now() - from) / 1_000;
  const finds = line.heard().filter((statement) => statement.includes('looked')).length;
  expect(asked).toBe(10 * 100 * 20);
  expect(finds).toBeGreaterThanOrEqual(20 * some.length);
  // A key is read when it is first asked for, and then every four seconds at most.
  expect(finds / some.length / 20).toBeLessThanOrEqual(1 + seconds / 4);
});

test('above twenty new keys a second no more are looked for, while known ones are answered', async () => {
  const { find } = fleet(() => false);
  const asked = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => find(`new ${index}`, { outboxes: ['o0'] })));
  const refused = asked.filter((one) => one.status === 'rejected').map((one) => one.reason as unknown);
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject({ code: 'too_many', status: 429, retryAfterSeconds: 1 });
  expect((await find('new 3', { outboxes: ['o0'] })).fate).toBe('none');
});
