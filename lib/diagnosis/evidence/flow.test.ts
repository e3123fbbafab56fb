/** Standstills that no fresh event shows, and what is none although nothing is seen to leave. */
import { describe, expect, test } from 'vitest';
import { ago, before, historyOf, judge, reading, type Given } from '@/fixtures/readings';

const LOOKS = [880, 700, 610, 500, 300, 100, 60, 20, 10, 5];
const codes = (given: Given, previous = before(given, LOOKS)): string[] => judge(given, previous).evidence.map(({ code }) => code);

describe('everything that waits has failed once', () => {
  const failed = (relay: Record<string, unknown> = {}, more: Given = {}): Given => ({
    lastPublishedAt: ago(100_800),
    usualMs: null,
    ...more,
    traits: { dueTime: true, claimTime: false, ...more.traits },
    relay: { failing: 500, again: 500, firstAgain: ago(93_600), recent: 0, frontier: ago(101_000), tries: 500, ...relay },
  });
  const verdict = (given: Given, previous = before(given, LOOKS)) => judge(given, previous).verdict;

  test('a relay that tries none of it again has stopped', () => {
    expect(judge(failed(), before(failed(), LOOKS))).toMatchObject({
      verdict: 'relay_stopped',
      since: ago(93_600),
      evidence: [
        { code: 'nothing_published', values: { lastPublishedAt: ago(100_800) } },
        { code: 'due_again', values: { count: 500, dueAt: ago(93_600), ageMs: 93_600_000 } },
        { code: 'rhythm_unknown' },
      ],
    });
    const untimed = failed({ frontier: null }, { traits: { createdAt: false } });
    expect(verdict(untimed)).toBe('relay_stopped');
    const gone = failed({ frontier: null }, { traits: { publishedAt: false }, reach: { published: 'absent' }, lastPublishedAt: null });
    expect(judge(gone, before(gone, LOOKS))).toMatchObject({
      verdict: 'relay_stopped',
      since: ago(93_600),
      evidence: [{ code: 'nothing_moved', values: { sinceAt: ago(93_600) } }, { code: 'due_again' }, {}],
    });
  });

  test('since the last one was tried', () => {
    const given = failed({ tried: ago(4_000) }, { traits: { claimTime: true } });
    expect(judge(given, before(given, LOOKS)).since).toBe(ago(4_000));
  });

  test.each<[string, Given, Given]>([
    ['the first of them is another one', failed({ firstAgain: ago(93_500) }), failed()],
    ['their attempts rose', failed({ tries: 501 }), failed()],
    ['a lock changed', failed({ touch: 8 }), failed({ touch: 7 })],
    ['fewer of them wait', failed({ again: 400 }), failed()],
    ['nothing is due again', failed({ again: 0, firstAgain: null }), failed({ again: 0, firstAgain: null })],
  ])('not: %s', (_, now, past) => {
    expect(verdict(now, before(past, LOOKS))).toBe('healthy');
  });

  test('not before it was seen for ten minutes, nor ten minutes after one was tried or went out', () => {
    expect(verdict(failed(), before(failed(), [590, 300, 5]))).toBe('healthy');
    expect(verdict(failed({ tried: ago(590) }))).toBe('healthy');
    expect(verdict(failed({}, { lastPublishedAt: ago(590) }))).toBe('healthy');
  });

  test('a few may have been given up, which is said', () => {
    const few = failed({ failing: 10, again: 10 });
    expect(verdict(few)).toBe('healthy');
    expect(codes(few)).toContain('standstill_unknown');
    expect(judge(few, before(few, LOOKS)).evidence.find(({ code }) => code === 'standstill_unknown')?.values.count).toBe(10);
    // An operator sent more of them again: these do not wait for long yet.
    expect(verdict(failed({ again: 21 }), before(few, LOOKS))).toBe('healthy');
  });

  test('where only a counter tells, a long pause between two tries may be meant, which is said', () => {
    const counted = failed({}, { traits: { dueTime: false } });
    expect(verdict(counted)).toBe('healthy');
    expect(codes(counted)).toContain('standstill_unknown');
    expect(verdict(failed({ tried: ago(4_000) }, { traits: { dueTime: false, claimTime: true } }))).toBe('relay_stopped');
  });

  test('a fresh event that has just come changes nothing', () => {
    const fresh = failed({ due: 1, firstDue: ago(3), pending: 1, oldest: ago(3) });
    expect(judge(fresh, before(failed(), LOOKS))).toMatchObject({ verdict: 'relay_stopped', since: ago(93_600) });
  });
});

describe('where rows go when published', () => {
  const gone = (relay: Record<string, unknown>, more: Given = {}): Given => ({
    lastPublishedAt: null,
    usualMs: null,
    reach: { published: 'absent' },
    ...more,
    traits: { publishedAt: false, publishedState: false, dueTime: true, claimTime: false, attempts: false },
    relay: { recent: 0, frontier: null, ...relay },
  });
  const history = historyOf(200);

  test('a job for tomorrow is not due', () => {
    const tomorrow = gone({ due: 0, firstDue: null, pending: 2, oldest: ago(7_200) });
    expect(judge(tomorrow, before(tomorrow, LOOKS), { history }).verdict).toBe('healthy');
    const behind = gone({ due: 1, firstDue: ago(400), pending: 3, oldest: ago(7_200) });
    expect(judge(behind, before(behind, LOOKS), { history })).toMatchObject({
      verdict: 'relay_stopped',
      since: ago(400),
      evidence: [{ code: 'nothing_moved' }, { code: 'back_needs' }, { code: 'events_due', values: { count: 1, oldestAt: ago(400) } }, {}],
    });
  });

  test('events that leave are seen behind a job for tomorrow that was created first', () => {
    const working = (seconds: number) => reading(gone({ due: 50, firstDue: ago(seconds + 40), pending: 52, oldest: ago(7_200) }), seconds);
    const now = gone({ due: 50, firstDue: ago(40), pending: 52, oldest: ago(7_200) });
    expect(judge(now, LOOKS.map(working), { history }).verdict).toBe('healthy');
  });

  describe('while an operator acts', () => {
    const acts = (...seconds: number[]) => seconds.map((at) => ({ at: ago(at), operation: 'requeue', actor: 'mina', count: 200 }));
    const many = (from: number, to: number, every: number) =>
      acts(...Array.from({ length: (to - from) / every + 1 }, (_, n) => from + n * every));

    test('for minutes, looks do not tell what the relay does', () => {
      const works = (seconds: number) =>
        gone({ due: 90, firstDue: ago(4_000 + 10 * seconds), pending: 90, oldest: ago(4_000 + 10 * seconds) });
      const during = { ...works(0), acts: many(0, 99, 3) };
      const looks = [100, 95, 90, 80, 70, 60, 50, 40, 30, 20, 10, 5].map((at) => reading(works(at), at));
      expect(judge(during, looks, { history }).verdict).toBe('healthy');
    });

    test('what stands still before and after it is a stop', () => {
      const still = gone({ due: 90, firstDue: ago(4_000), pending: 90, oldest: ago(4_000) });
      expect(judge({ ...still, acts: many(200, 299, 3) }, before(still, LOOKS), { history })).toMatchObject({
        verdict: 'relay_stopped',
      });
    });

    test('twice within minutes, a stop stays one', () => {
      const still = gone({ due: 90, firstDue: ago(4_000), pending: 90, oldest: ago(4_000) });
      const looks = Array.from({ length: 170 }, (_, n) => reading(still, 880 - n * 5));
      expect(judge({ ...still, acts: acts(10, 310) }, looks, { history })).toMatchObject({ verdict: 'relay_stopped', since: ago(880) });
    });
  });
});
