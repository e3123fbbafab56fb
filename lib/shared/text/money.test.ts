import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAmount, sumAmounts, sumText } from './money';

const row = (amount: string | null, currency: string | null = 'USDT') => ({ amount, currency });

test('amounts are summed exactly, one sum per currency, in the same order in every row of a list', () => {
  expect(sumAmounts([row('0.1'), row('0.2'), row('10', 'KRW'), row('-0.05')])).toEqual([
    { currency: 'KRW', amount: '10' },
    { currency: 'USDT', amount: '0.25' },
  ]);
});

test('digits beyond a double survive', () => {
  expect(sumAmounts([row('9007199254740993.000000000000000001'), row('1')])[0]?.amount).toBe('9007199254740994.000000000000000001');
});

test('what is no decimal is left out and not counted as zero', () => {
  expect(sumAmounts([row(null), row('a lot'), row('1e999'), row('e3'), row('')])).toEqual([]);
});

test('a number with an exponent, as JSON may write it, is the number', () => {
  expect(sumAmounts([row('1e3'), row('1.25E7', 'KRW'), row('-12.5e-2'), row('2E+0')])).toEqual([
    { currency: 'KRW', amount: '12500000' },
    { currency: 'USDT', amount: '1001.875' },
  ]);
  expect([formatAmount('1.25E7', 'en'), formatAmount('-5e-1', 'en')]).toEqual(['12,500,000', '-0.5']);
});

test('a sum as text comes with how many rows have no part in it', () => {
  expect(sumText([row('1000.5'), row('1', 'KRW'), row(null), row('a lot')], 'en')).toEqual({ sums: '1 KRW + 1,000.5 USDT', without: 2 });
  expect(sumText([row(null)], 'en')).toEqual({ sums: '', without: 1 });
});

test('a sum of whole cents is the sum of the cents', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), { minLength: 1 }), (cents) => {
      const text = (value: number) =>
        `${value < 0 ? '-' : ''}${String(Math.floor(Math.abs(value) / 100))}.${String(Math.abs(value) % 100).padStart(2, '0')}`;
      const total = cents.reduce((sum, value) => sum + value, 0);
      expect(sumAmounts(cents.map((value) => row(text(value))))[0]?.amount).toBe(text(total));
    }),
  );
});

test('formatting groups the whole part and keeps every digit', () => {
  expect(formatAmount('1234567.8900', 'en')).toBe('1,234,567.8900');
  expect(formatAmount('-0.5', 'en')).toBe('-0.5');
  expect(formatAmount('9007199254740993', 'ko')).toBe('9,007,199,254,740,993');
  expect(formatAmount('n/a', 'en')).toBe('n/a');
});
