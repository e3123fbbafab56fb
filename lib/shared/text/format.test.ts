import { describe, expect, it } from 'vitest';
import {
  durationParts,
  formatAbsolute,
  formatAge,
  formatClock,
  formatCompact,
  formatCount,
  formatLatency,
  formatNumber,
  formatPercent,
  formatRate,
  formatTick,
  markKnown,
  type SayUnit,
} from './format';
import { exact, unavailable } from '../figures/measured';

const en: SayUnit = (unit, value) => `${value} ${unit === 'milliseconds' ? 'ms' : unit.charAt(0)}`;
const KO = { days: '일', hours: '시간', minutes: '분', seconds: '초', milliseconds: 'ms' };
const ko: SayUnit = (unit, value) => `${value}${KO[unit]}`;

describe('durations', () => {
  it('takes the two largest neighbouring units and cuts the rest', () => {
    expect(durationParts(192_999)).toEqual([
      { unit: 'minutes', value: 3 },
      { unit: 'seconds', value: 12 },
    ]);
    expect(durationParts(86_400_000 + 59_000)).toEqual([{ unit: 'days', value: 1 }]);
    expect(durationParts(-5)).toEqual([{ unit: 'milliseconds', value: 0 }]);
  });

  it.each([
    [0, '0 s', '0초'],
    [999, '0 s', '0초'],
    [59_999, '59 s', '59초'],
    [192_000, '3 m 12 s', '3분 12초'],
    [3_600_000, '1 h', '1시간'],
    [90_061_000, '1 d 1 h', '1일 1시간'],
    [1_234 * 86_400_000, '1,234 d', '1,234일'],
  ])('says an age of %i ms', (ms, english, korean) => {
    expect(formatAge(ms, 'en', en)).toBe(english);
    expect(formatAge(ms, 'ko', ko)).toBe(korean);
  });

  it.each([
    [0.42, '0.4 ms', '0.4ms'],
    [850.4, '850 ms', '850ms'],
    [999.936, '1 s', '1초'],
    [1_240, '1.24 s', '1.24초'],
    [12_340, '12.3 s', '12.3초'],
    [192_400, '3 m 12 s', '3분 12초'],
  ])('says a latency of %d ms', (ms, english, korean) => {
    expect(formatLatency(ms, 'en', en)).toBe(english);
    expect(formatLatency(ms, 'ko', ko)).toBe(korean);
  });
});

describe('numbers', () => {
  it('groups, shortens and rounds by locale', () => {
    expect(formatNumber(1_204, 'en')).toBe('1,204');
    expect(formatNumber(1_204, 'ko')).toBe('1,204');
    expect(formatCompact(9_999, 'en')).toBe('9,999');
    expect(formatCompact(1_620_000, 'en')).toBe('1.62\u202fM');
    expect(formatCompact(1_620_000, 'ko')).toBe('162만');
    expect(formatRate(8.46, 'en')).toBe('8.5');
    expect(formatRate(120.4, 'en')).toBe('120');
    expect(formatPercent(0.0123, 'en')).toBe('1.2%');
    expect(formatPercent(0.5, 'ko')).toBe('50%');
  });

  it('says how a number is known', () => {
    expect(formatCount(exact(0), 'en')).toBe('0');
    expect(formatCount({ count: 10_000, known: 'capped' }, 'en')).toBe('10,000+');
    expect(formatCount({ count: 1_600_000, known: 'estimated' }, 'en')).toBe('≈ 1.6\u202fM');
    expect(formatCount({ count: 812, known: 'sampled' }, 'ko')).toBe('812 ∿');
    expect(markKnown('1.24 s', 'exact')).toBe('1.24 s');
  });

  it('never writes a number for what the table cannot say', () => {
    expect(formatCount(unavailable('not_in_schema'), 'en')).toBeNull();
    expect(formatCount({ count: 0, known: 'unavailable' }, 'en')).toBeNull();
  });
});

describe('times', () => {
  const at = '2026-11-21T15:04:05.123456Z';

  it('writes one clock in every locale, with the zone named', () => {
    expect(formatClock(at, 'UTC')).toBe('15:04:05');
    expect(formatClock('2026-11-21T15:00:00Z', 'Asia/Seoul')).toBe('00:00:00');
    expect(formatAbsolute(at, 'Asia/Seoul')).toBe('2026-11-22 00:04:05 Asia/Seoul');
  });

  it('shows the time of day within a day and dates beyond', () => {
    expect(formatTick(at, 'en', 'UTC', 86_400)).toBe('15:04');
    expect(formatTick(at, 'en', 'UTC', 604_800)).toBe('Nov 21');
    expect(formatTick(at, 'ko', 'UTC', 604_800)).toBe('11월 21일');
  });
});
