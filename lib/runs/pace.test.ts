import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BATCH_EVENTS_MAX, DEFAULT_PACE, SHARE_MIN, type Pace } from '@/lib/shared/runs/runs';
import {
  afterPause,
  afterWindow,
  BATCH_BEGIN,
  LADDER,
  LADDER_BEGIN,
  nextBatch,
  restAfter,
  stopAfter,
  WINDOW_MAX,
  WINDOW_MS,
  type PaceState,
  type WindowEnd,
} from './pace';

const window = (over: Partial<WindowEnd>): WindowEnd => ({
  sent: 1,
  tookMs: 100,
  together: false,
  failed: 0,
  same: 0,
  comparable: true,
  ...over,
});
const pace = fc.record({
  share: fc.double({ min: SHARE_MIN, max: 1, noNaN: true }),
  ratePerSecond: fc.option(fc.double({ min: 0.1, max: 100_000, noNaN: true })),
});
/** Windows as they may end, whatever was planned. */
const ends = fc.array(
  fc.record({ part: fc.double({ min: 0, max: 1, noNaN: true }), tookMs: fc.integer({ min: 0, max: 120_000 }), together: fc.boolean() }),
  { maxLength: 60 },
);
const walk = (
  all: readonly { part: number; tookMs: number; together: boolean }[],
  by: Pace,
  look: (before: PaceState, end: WindowEnd, after: PaceState) => void,
): void => {
  let state = LADDER_BEGIN;
  for (const { part, ...end } of all) {
    const ended = window({ ...end, sent: Math.round(state.next * part) });
    const after = afterWindow(state, ended, by);
    look(state, ended, after);
    state = after;
  }
};

describe('the pace of a run', () => {
  it('is the ladder, then doubled, where fates take no time', () => {
    let state = LADDER_BEGIN;
    const sizes = Array.from({ length: 12 }, () => {
      const { next } = state;
      state = afterWindow(state, window({ sent: next, tookMs: next / 10 }), DEFAULT_PACE);
      return next;
    });
    expect(sizes).toEqual([...LADDER, 200, 400, 800, 1_600, 3_200, WINDOW_MAX, WINDOW_MAX]);
  });

  it('never passes a limit, and from five events on never what the relay takes in two seconds', () => {
    fc.assert(
      fc.property(ends, pace, (all, by) => {
        walk(all, by, (before, { sent, tookMs, together }, after) => {
          expect(after.next).toBeGreaterThanOrEqual(1);
          expect(after.next).toBeLessThanOrEqual(WINDOW_MAX);
          if (by.ratePerSecond !== null) expect(after.next).toBeLessThanOrEqual(Math.max(1, (by.ratePerSecond * WINDOW_MS) / 1_000));
          if (sent >= LADDER[2] && !together) expect(after.next).toBeLessThanOrEqual(Math.max(1, (sent * WINDOW_MS) / Math.max(1, tookMs)));
          if (sent >= LADDER[2] && tookMs > WINDOW_MS) expect(after.next).toBeLessThanOrEqual(sent);
          if (sent > 0 && sent < LADDER[2]) expect(after.next).toBeLessThanOrEqual(Math.max(...LADDER));
          if (sent === 0) {
            expect(after).toEqual({ ...before, vain: before.vain + before.next, next: after.next });
            expect(after.next).toBeLessThanOrEqual(Math.max(before.next, Math.min(LADDER[3], after.vain / 10)));
          }
        });
      }),
    );
  });

  it('tries more at once only after many in vain, and begins with one of which nothing is known', () => {
    let [state, windows] = [LADDER_BEGIN, 0];
    for (let tried = 0; tried < 250_000; windows += 1) {
      tried += state.next;
      state = afterWindow(state, window({ sent: 0 }), DEFAULT_PACE);
      if (tried < 20) expect(state.next).toBe(1);
    }
    expect(windows).toBeLessThan(13_000);
    expect(state.next).toBe(LADDER[3]);
  });

  it('rests as long as its share asks, and no faster than its rate', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: WINDOW_MAX }), fc.integer({ min: 0, max: 60_000 }), pace, (sent, tookMs, by) => {
        const all = tookMs + restAfter({ sent, tookMs }, by);
        expect(tookMs).toBeLessThanOrEqual(all * by.share + 1);
        if (by.ratePerSecond !== null) expect(sent).toBeLessThanOrEqual((by.ratePerSecond * all) / 1_000 + 1);
      }),
    );
    expect(restAfter({ sent: 20, tookMs: 2_000 }, DEFAULT_PACE)).toBe(2_000);
    expect(restAfter({ sent: 20, tookMs: 2_000 }, { share: 1, ratePerSecond: 5 })).toBe(2_000);
  });

  it('gets smaller in proportion where fates take longer than two seconds, but not for a relay that only looks now and then', () => {
    const state = { ...LADDER_BEGIN, step: 7, sent: 500 };
    expect(afterWindow(state, window({ sent: 400, tookMs: 4_000 }), DEFAULT_PACE).next).toBe(200);
    expect(afterWindow(state, window({ sent: 400, tookMs: 4_000, together: true }), DEFAULT_PACE).next).toBe(400);
  });

  it('carries 4,000 events to a relay of ten a second in a quarter of an hour, and lets no other wait four seconds', () => {
    let [state, sent, ms, longest] = [LADDER_BEGIN, 0, 0, 0];
    while (sent < 4_000) {
      const size = Math.min(state.next, 4_000 - sent);
      // Ten at the end of each second, as the escrow's relay has it.
      const tookMs = Math.ceil((ms + 1) / 1_000) * 1_000 + (Math.ceil(size / 10) - 1) * 1_000 - ms;
      const end = window({ sent: size, tookMs, together: size <= 10 });
      ms += tookMs + restAfter(end, DEFAULT_PACE);
      sent += size;
      longest = Math.max(longest, tookMs);
      state = afterWindow(state, end, DEFAULT_PACE);
    }
    expect(ms / 60_000).toBeLessThanOrEqual(15);
    expect(longest).toBeLessThanOrEqual(4_000);
  });
});

describe('a run stops by itself', () => {
  const late = { ...LADDER_BEGIN, step: 6, sent: 228, size: 100, next: 100 };

  it.each([
    ['for one failure of the same cause among the first 28', LADDER_BEGIN, { failed: 1, same: 1 }, 'same_cause'],
    ['the same in the window of twenty', { ...LADDER_BEGIN, step: 3, sent: 8 }, { sent: 20, failed: 1, same: 1 }, 'same_cause'],
    [
      'for any failure where no error is kept',
      { ...LADDER_BEGIN, step: 3, sent: 8 },
      { sent: 20, failed: 1, comparable: false },
      'failed_again',
    ],
    ['for none of another cause there', { ...LADDER_BEGIN, step: 3, sent: 8 }, { sent: 20, failed: 2 }, null],
    ['unless half of the window failed', { ...LADDER_BEGIN, step: 3, sent: 8 }, { sent: 20, failed: 10 }, 'failed_again'],
    ['later for five of a hundred', late, { sent: 100, failed: 5 }, 'failed_again'],
    ['all of the same cause', late, { sent: 100, failed: 5, same: 5 }, 'same_cause'],
    ['and not for four', late, { sent: 100, failed: 4, same: 4 }, null],
    ['for five per cent of a large one', late, { sent: 4_000, failed: 199, same: 199 }, null],
  ] as const)('%s', (_, state, end, why) => {
    expect(stopAfter(state, window(end))).toBe(why);
  });

  it('for five of the last hundred where windows are small, and for any part of those before', () => {
    let state: PaceState = { ...late, recent: { sent: 0, failed: 0 } };
    const small = window({ sent: 20, failed: 1 });
    for (let windows = 1; windows <= 4; windows += 1) {
      expect(stopAfter(state, small)).toBeNull();
      state = afterWindow(state, small, DEFAULT_PACE);
    }
    expect(stopAfter(state, small)).toBe('failed_again');
  });

  it('and begins with one again after a failure, not after a word that it may go on', () => {
    expect(afterPause(late, 'same_cause')).toEqual(LADDER_BEGIN);
    expect(afterPause(late, 'relay_takes_nothing')).toEqual(LADDER_BEGIN);
    for (const because of ['operator', 'first_is_out', 'unavailable', null] as const) expect(afterPause(late, because)).toBe(late);
  });
});

it('makes batches smaller where a transaction is slow, larger where it is fast, within their limits', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 50 }), (all) => {
      let [size, before] = [BATCH_BEGIN, 0];
      for (const tookMs of all) {
        const next = nextBatch(size, size, tookMs, before);
        expect(next).toBeGreaterThanOrEqual(BATCH_BEGIN);
        expect(next).toBeLessThanOrEqual(BATCH_EVENTS_MAX);
        if (tookMs > 50) expect(next).toBe(Math.max(BATCH_BEGIN, Math.floor(size / 2)));
        if (tookMs < 25 && before < 25) expect(next).toBe(Math.min(BATCH_EVENTS_MAX, Math.ceil(size * 1.25)));
        [size, before] = [next, tookMs];
      }
    }),
  );
});

it('a batch that was made smaller than the first ones stays so while it takes long, and grows when it does not', () => {
  expect(nextBatch(12, 12, 3_000, 10)).toBe(12);
  expect(nextBatch(12, 12, 10, 10)).toBe(15);
});

it('the few events of the first windows, or of the end of one, make no batch larger', () => {
  expect([1, 2, 5, 20].reduce((size, sent) => nextBatch(size, sent, 10, 10), BATCH_BEGIN)).toBe(BATCH_BEGIN);
  expect(nextBatch(100, 99, 10, 10)).toBe(100);
  expect(nextBatch(100, 99, 60, 10)).toBe(50);
});

it('one quick batch after a slower one makes none larger', () => {
  expect(nextBatch(100, 100, 24, 25)).toBe(100);
  expect(nextBatch(100, 100, 24, 24)).toBe(125);
});
