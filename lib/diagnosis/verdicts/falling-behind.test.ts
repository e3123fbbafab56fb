import { describe, expect, test } from 'vitest';
import { ago, before, historyOf, judge, reading, type Given } from '@/fixtures/readings';

describe('falling behind', () => {
  const waiting = (count: number, oldest = 15): Given => ({ behind: { waiting: count, oldestFresh: ago(oldest) } });
  const past = (counts: readonly number[], everySeconds = 5) => counts.map((count, index) => reading(waiting(count), (counts.length - index) * everySeconds)); // prettier-ignore
  const says = (counts: readonly number[], oldest = 15, everySeconds = 5) =>
    judge(waiting(counts.at(-1) ?? 0, oldest), past(counts.slice(0, -1), everySeconds));

  test('grows by: the low water rises in every part of the last twenty-five seconds', () => {
    expect(says([0, 50, 110, 160, 220])).toMatchObject({
      verdict: 'falling_behind',
      evidence: [{ code: 'grows_by', values: { perMinute: 660, count: 220 } }, { code: 'oldest_waits' }, { code: 'would_drain' }],
    });
  });

  test.each<[string, readonly number[], number]>([
    ['a burst at once, worked off', [0, 0, 900, 700, 500], 15],
    ['a burst of a few seconds', [0, 0, 300, 600, 800], 15],
    ['bursts with rests between them, higher each time', [40, 0, 90, 5, 200, 3, 400, 10, 800], 15],
    ['it grows by little', [0, 9, 18, 27, 36], 15],
    ['a large queue wobbles', [10_000, 10_020, 10_050, 10_100, 10_120], 15],
    ['it grows, and nothing waits for long', [0, 50, 110, 160, 220], 9],
  ])('not: %s', (_, counts, oldest) => {
    expect(says(counts, oldest).verdict).toBe('healthy');
  });

  test('slow growth shows over a minute, or over five', () => {
    const slow = Array.from({ length: 13 }, (_, index) => 20 + index * 6 + (index % 2) * 15);
    expect(says(slow).verdict).toBe('falling_behind');
    const slower = Array.from({ length: 61 }, (_, index) => 20 + index + (index % 3) * 12);
    expect(says(slower).verdict).toBe('falling_behind');
  });

  test('drains in: a backlog that takes long is still behind, one that is soon gone is healthy and said', () => {
    const long = Array.from({ length: 20 }, (_, index) => 9_000 - index * 10);
    expect(says(long, 400)).toMatchObject({ verdict: 'falling_behind', evidence: [{ code: 'drains_in' }, {}] });
    const soon = Array.from({ length: 20 }, (_, index) => 2_200 - index * 100);
    const found = says(soon, 60);
    expect(found).toMatchObject({ verdict: 'healthy', evidence: [{ code: 'drains_in', values: { count: 300 } }, {}, {}] });
    const { fromMs, toMs } = found.evidence[0]?.values as { fromMs: number; toMs: number };
    expect(fromMs).toBeLessThan(15_000);
    expect(toMs).toBeGreaterThan(15_000);
  });

  test('left behind: events that were never tried while others, created five minutes later, went out', () => {
    const left = (firstLeft = ago(700)): Given => ({ behind: { waiting: 60, oldestFresh: firstLeft, left: 60, firstLeft } });
    expect(judge(left(), before(left(), [90]))).toMatchObject({
      verdict: 'falling_behind',
      since: ago(700),
      evidence: [
        { code: 'left_behind', values: { count: 60 } },
        { code: 'oldest_waits', values: { oldestAt: ago(700) } },
      ],
    });
    expect(judge(left()).verdict).toBe('healthy');
    // Other events were passed over then: these are taken one by one.
    expect(judge(left(), before(left(ago(720)), [90])).verdict).toBe('healthy');
  });

  test('what went down for a moment after a peak is no pace', () => {
    const peak = [...Array.from({ length: 20 }, (_, index) => 1_000 + (index % 4) * 200), 1_790, 1_780];
    expect(says(peak, 400).verdict).toBe('healthy');
    const brief = [...Array.from({ length: 20 }, () => 1_000), 1_800, 1_795, 1_790, 1_785];
    expect(says(brief, 400).verdict).toBe('healthy');
  });

  test('the time it would take comes from the pace of the last minutes', () => {
    const history = historyOf(400, [], 600);
    const found = judge(waiting(220), past([0, 50, 110, 160]), { history });
    // Ten a second by the history, two a second of late: a minute in which little came says nothing of what it can do.
    expect(found.evidence[2]).toEqual({ code: 'would_drain', values: { fromMs: 22_000, toMs: 22_000 } });
  });

  test('not judged where not all that waits could be counted', () => {
    const cut = { ...waiting(40_000), reach: { waiting: 'cut' as const } };
    expect(judge(cut, before(cut)).verdict).toBe('healthy');
  });
});
