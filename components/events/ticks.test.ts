import { expect, test } from 'vitest';
import { TICKED_EVENTS_MAX, type FrozenEvent, type FrozenPage } from '@/lib/shared/model';
import { ROWS_LOOKED_AT_MAX, STRETCHES_MAX, takeList, type Freeze } from './ticks';

const LIST = { outbox: 'o', query: '', of: null };
const { signal: going } = new AbortController();
const take = (freeze: Freeze, signal = going) => takeList(freeze, LIST, () => undefined, signal);
const events = (from: number, count: number): FrozenEvent[] =>
  Array.from({ length: count }, (_, i) => ({ id: String(from + i), version: 'v', state: 'dead', amount: null, currency: null }));

/** A list whose stretches are made by their number; `null` after the last one. */
function listOf(stretch: (number: number) => Partial<FrozenPage> | null) {
  const cursors: (string | undefined)[] = [];
  const freeze = ({ cursor }: { cursor?: string }) => {
    cursors.push(cursor);
    const number = Number(cursor ?? '0');
    const page = stretch(number) ?? {};
    const nextCursor = stretch(number + 1) === null ? null : String(number + 1);
    return Promise.resolve({ ok: true as const, value: { events: [], looked: 0, complete: nextCursor === null, ...page, nextCursor } });
  };
  return { freeze, cursors };
}

test('a list is read to its end, each event once, and that it is whole is told', async () => {
  const { freeze, cursors } = listOf((number) => (number < 3 ? { events: events(number * 2, 3), looked: 3 } : null));
  const taken = await take(freeze);
  expect(taken).toEqual({ events: events(0, 7), extent: 'whole' });
  expect(cursors).toEqual([undefined, '1', '2']);
});

test('a search that finds next to nothing ends after so many rows, and says that there may be more', async () => {
  // Three events in ten million rows that no index leads to.
  const { freeze, cursors } = listOf((number) => ({ events: number === 2 ? events(0, 3) : [], looked: 100_000 }));
  expect(await take(freeze)).toEqual({ events: events(0, 3), extent: 'found' });
  expect(cursors).toHaveLength(ROWS_LOOKED_AT_MAX / 100_000);
});

test('so does one whose stretches are full of what only looks like the cause', async () => {
  const { freeze, cursors } = listOf(() => ({ events: [], looked: 500 }));
  expect(await take(freeze)).toEqual({ events: [], extent: 'found' });
  expect(cursors).toHaveLength(STRETCHES_MAX);
});

test('no more than can be ticked is taken', async () => {
  const { freeze } = listOf((number) => ({ events: events(number * 499, 499), looked: 500 }));
  const taken = await take(freeze);
  expect(taken).toMatchObject({ extent: 'first' });
  expect('events' in taken && taken.events).toHaveLength(TICKED_EVENTS_MAX);
});

test('whoever left gets no events, and what went wrong is told', async () => {
  const { freeze, cursors } = listOf(() => ({ looked: 1 }));
  const screen = new AbortController();
  const leaving: Freeze = (input) => {
    if (cursors.length === 1) screen.abort();
    return freeze(input);
  };
  await expect(take(leaving, screen.signal)).rejects.toThrow();
  expect(cursors).toHaveLength(2);
  expect(await take(() => Promise.reject(new Error('Failed to fetch')))).toMatchObject({
    problem: { code: 'unavailable' },
  });
});
