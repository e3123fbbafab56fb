import { describe, expect, test } from 'vitest';
import { ago, before, historyOf, judge, reading, type Given } from '@/fixtures/readings';

describe('broker refusing', () => {
  const refused = (more: Record<string, unknown> = {}, lastPublishedAt: string | null = ago(16)): Given => ({
    lastPublishedAt,
    broker: { count: 9, types: 3, first: ago(14), last: ago(1), latelyPublished: 0, error: 'connection refused', ...more },
  });

  test('since the last one went out all have failed, of several types', () => {
    expect(judge(refused())).toMatchObject({
      verdict: 'broker_refusing',
      since: ago(14),
      evidence: [
        { code: 'all_failed', values: { count: 9, types: 3 } },
        { code: 'common_error', values: { error: 'connection refused' } },
        { code: 'nothing_published' },
      ],
    });
    const codes = (more: Given): string[] => judge({ ...refused({ error: null }, null), ...more }).evidence.map(({ code }) => code);
    expect(codes({ nothingPublished: true })).toEqual(['all_failed', 'never_published']);
    expect(codes({})).toEqual(['all_failed', 'publishing_time_unknown']);
  });

  test.each<[string, Given]>([
    ['one type only: its handler, not the broker', refused({ types: 1 })],
    ['four failures may be chance', refused({ count: 4 })],
    ['of those under way only one has failed', refused({ count: 1, taken: 9 })],
    ['some have failed among those under way, and none lately', refused({ count: 2, taken: 9, last: ago(60) })],
    ['they began to fail a moment ago', refused({ first: ago(8) })],
    ['something went out a moment ago', refused({}, ago(8))],
    ['the last failure is an old story', refused({ last: ago(400) })],
  ])('not: %s', (_, given) => {
    expect(judge(given).verdict).toBe('healthy');
  });

  test('some have failed while others are under way, for longer than this relay usually takes', () => {
    const among = refused({ count: 2, types: 2, taken: 3 }, ago(20));
    expect(judge({ ...among, broker: { ...among.broker, first: ago(20) } }).verdict).toBe('broker_refusing');
    expect(judge(refused({ count: 2, types: 2, taken: 3, first: ago(12) })).verdict).toBe('healthy');
  });

  test('an outbox that has only one type', () => {
    expect(judge(refused({ types: 1 }), [], { history: historyOf(400, ['only']) }).verdict).toBe('broker_refusing');
    expect(judge(refused({ types: 1 }), [], { history: historyOf(400, ['one', 'other']) }).verdict).toBe('healthy');
  });

  test('some still go out: four of five attempts fail, now and ten seconds ago', () => {
    const most = (failed: number, published: number): Given => ({ broker: { lately: failed, latelyTypes: 2, latelyPublished: published } });
    expect(judge(most(20, 5), before(most(20, 5)))).toMatchObject({
      verdict: 'broker_refusing',
      since: ago(20),
      evidence: [{ code: 'most_failed' }],
    });
    expect(judge(most(20, 5)).verdict).toBe('healthy');
    expect(judge(most(20, 6), before(most(20, 5))).verdict).toBe('healthy');
    expect(judge(most(20, 5), [...before(most(20, 5), [20, 15, 10]), reading(most(2, 9), 5)]).verdict).toBe('healthy');
  });
});
