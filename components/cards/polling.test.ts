import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Card } from '@/lib/shared/embedding/cards';
import { pollCard, type Shown, shownOf } from './polling';

const START = Date.parse('2026-01-01T12:00:00Z');
const fleetAt = (ms: number): Card => ({ view: 'fleet', asOf: new Date(ms).toISOString(), everyMs: 5_000, lines: [] });
const problem = (status: number, code: string, headers = {}): Response => Response.json({ code }, { status, headers });
const token = (lifeSeconds: number): string =>
  `e30.${Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1_000) + lifeSeconds })).toString('base64url')}.c2ln`;

/** The polling of a card by token, with what it asked for and showed. */
function start({ linked = true, session = false } = {}) {
  const seen = {
    answer: (): Response | Promise<Response> => Response.json(fleetAt(Date.now())),
    tokens: [] as (string | null)[],
    wanted: [] as string[],
    shown: [] as Shown[],
  };
  const polling = pollCard({
    view: 'fleet',
    load: (sent) => {
      seen.tokens.push(sent);
      return Promise.resolve(seen.answer());
    },
    wantToken: session
      ? null
      : (why) => {
          seen.wanted.push(`${why} ${(Date.now() - START) / 1_000}`);
          return linked;
        },
    publish: (next) => void seen.shown.push(next),
  });
  running = polling;
  const state = (): string => `${seen.shown.at(-1)?.state} ${seen.shown.at(-1)?.code}`;
  return { polling, seen, state };
}

let running: { stop: () => void } | null = null;
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  running?.stop();
  vi.useRealTimers();
});

describe('the figures', () => {
  it('are asked for every five seconds while somebody sees the card, and at once when somebody does again', async () => {
    const { polling, seen, state } = start({ session: true });
    await pass(20);
    expect(seen.tokens).toEqual([]);
    polling.look(true);
    await pass(11);
    expect(seen.tokens).toEqual([null, null, null]);
    expect(state()).toBe('live null');
    polling.look(false);
    await pass(60);
    expect(seen.tokens).toHaveLength(3);
    polling.look(true);
    await pass(0);
    expect(seen.tokens).toHaveLength(4);
  });

  it('are said to be late before the first answer after a pause', async () => {
    const { polling, seen, state } = start({ session: true });
    polling.look(true);
    await pass(1);
    polling.look(false);
    await pass(60);
    seen.answer = () => new Promise(() => {});
    polling.look(true);
    expect(state()).toBe('stale late');
  });

  it('are asked for by one request at a time', async () => {
    const { polling, seen } = start({ session: true });
    seen.answer = () => new Promise((resolve) => setTimeout(() => resolve(Response.json(fleetAt(Date.now()))), 8_000));
    polling.look(true);
    await pass(7);
    expect(seen.tokens).toHaveLength(1);
    await pass(2);
    expect(seen.tokens).toHaveLength(2);
  });

  it.each([
    ['503', problem(503, 'unavailable'), 'unreachable'],
    ['a page of a proxy', new Response('<html>', { status: 200 }), 'unreachable'],
    ['another view', Response.json({ view: 'fate' }), 'unreachable'],
    ['429', problem(429, 'too_many'), 'too_many'],
  ])('stay when %s comes instead of new ones', async (_, answer, code) => {
    const { polling, seen, state } = start({ session: true });
    polling.look(true);
    await pass(1);
    seen.answer = () => answer.clone();
    await pass(5);
    expect(state()).toBe(`stale ${code}`);
    expect(seen.shown.at(-1)?.card).not.toBeNull();
    seen.answer = () => Response.json(fleetAt(Date.now()));
    await pass(5);
    expect(state()).toBe('live null');
  });

  it('go when the reader may not see them any more', async () => {
    const { polling, seen, state } = start({ session: true });
    polling.look(true);
    await pass(1);
    seen.answer = () => problem(401, 'unauthenticated');
    await pass(5);
    expect(state()).toBe('refused unauthenticated');
    expect(seen.shown.at(-1)?.card).toBeNull();
    seen.answer = () => problem(503, 'unavailable');
    await pass(31);
    expect(state()).toBe('unreachable unreachable');
  });

  it('wait as long as the console asks for', async () => {
    const { polling, seen } = start({ session: true });
    seen.answer = () => problem(429, 'too_many', { 'retry-after': '12' });
    polling.look(true);
    await pass(11);
    expect(seen.tokens).toHaveLength(1);
    await pass(2);
    expect(seen.tokens).toHaveLength(2);
  });
});

describe('the token', () => {
  it('is asked for at the start, and for longer and longer if none comes', async () => {
    const { polling, seen, state } = start();
    polling.look(true);
    await pass(40);
    expect(seen.wanted).toEqual(['start 0', 'start 2', 'start 6', 'start 14', 'start 30']);
    expect(state()).toBe('refused no_token');
    expect(seen.tokens).toEqual([]);
    polling.take(token(300));
    await pass(0);
    expect(state()).toBe('live null');
  });

  it('is asked for again thirty seconds before its end, and no more once a new one came', async () => {
    const { polling, seen } = start();
    polling.look(true);
    polling.take(token(100));
    await pass(69);
    expect(seen.wanted).toEqual(['start 0']);
    await pass(2);
    expect(seen.wanted).toEqual(['start 0', 'ending 70']);
    polling.take(token(300));
    await pass(60);
    expect(seen.wanted).toHaveLength(2);
    expect(new Set(seen.tokens).size).toBe(2);
  });

  it('is asked for again while its end comes nearer, with growing pauses', async () => {
    const { polling, seen } = start();
    polling.look(true);
    polling.take(token(60));
    await pass(59);
    expect(seen.wanted).toEqual(['start 0', 'ending 30', 'ending 32', 'ending 36', 'ending 44']);
  });

  it('is asked for at once when it is refused, and the last figures stay', async () => {
    const { polling, seen, state } = start();
    polling.look(true);
    polling.take(token(300));
    await pass(4);
    seen.answer = () => problem(401, 'token_expired');
    await pass(2);
    expect(seen.wanted).toEqual(['start 0', 'refused 5']);
    expect(state()).toBe('stale token_expired');
    await pass(1);
    expect(seen.tokens).toHaveLength(2);
  });

  it('is not asked for more than every few seconds by a host whose tokens are all refused', async () => {
    const { polling, seen, state } = start();
    seen.answer = () => problem(401, 'token_invalid');
    polling.look(true);
    for (let second = 0; second < 60; second += 1) {
      if (seen.wanted.length > seen.tokens.length) polling.take(token(300));
      await pass(1);
    }
    expect(seen.wanted.length).toBeLessThanOrEqual(6);
    expect(state()).toBe('refused token_invalid');
  });

  it('cannot come outside of a page that may have the card', () => {
    expect(start({ linked: false }).state()).toBe('refused no_token');
  });
});

it('an outbox that cannot be read makes its card old, and says why', () => {
  const card = { ...fleetAt(START), view: 'outbox', line: { stale: { since: '', problem: 'timeout' } } } as unknown as Card;
  expect(shownOf(card, null, START)).toMatchObject({ state: 'stale', code: 'timeout' });
  expect(shownOf(fleetAt(START - 13_000), null, START)).toMatchObject({ state: 'stale', code: 'late' });
  expect(shownOf(fleetAt(START - 11_000), null, START)).toMatchObject({ state: 'live', code: null });
});
