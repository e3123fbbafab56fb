import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ApprovalRule } from '@/lib/config/config';
import { limitsPassed, policyDigest, rulesFor, spendOf, type Spend } from './limits';

const RULE: ApprovalRule = { outboxes: null, operations: null, rows: null, amount: null, notIdempotent: false };
const rule = (over: Partial<ApprovalRule>): ApprovalRule => ({ ...RULE, ...over });
const SPEND: Spend = { count: 1, sums: {}, withoutAmount: 0, notIdempotent: 0 };
const paid = (...amounts: (string | null)[]): Spend =>
  spendOf(
    amounts.map((amount) => ({ type: 't', amount, currency: 'EUR' })),
    { consumers: { t: 'idempotent' } },
  );
const spent = (count: number, sums: Record<string, string> = {}, operation = 'requeue') => [{ operation, count, sums }];

describe('rows', () => {
  test.each([
    [199, 0, []],
    [200, 0, []],
    [201, 0, ['rows']],
    [1, 198, []],
    [1, 199, []],
    [1, 200, ['rows']],
    [200, 1, ['rows']],
  ])('%i now and %i in the last hour, of 200', (count, before, passed) => {
    expect(limitsPassed([rule({ rows: 200 })], { ...SPEND, count }, spent(before))).toEqual(passed);
  });

  it('none at all is a limit too', () => {
    expect(limitsPassed([rule({ rows: 0 })], SPEND, [])).toEqual(['rows']);
    expect(limitsPassed([rule({ rows: 0 })], { ...SPEND, count: 0 }, spent(9))).toEqual([]);
  });
});

describe('amounts', () => {
  const limits = [rule({ amount: { EUR: '10000' } })];
  test.each([
    ['9999.99', []],
    ['9999.999999999999999999', []],
    ['10000', []],
    ['10000.00', []],
    ['10000.000000000000000001', ['amount']],
    ['10000.01', ['amount']],
    // 2^53 + 1: no floating-point number.
    ['9007199254740993', ['amount']],
  ])('%s of 10000', (amount, passed) => {
    expect(limitsPassed(limits, paid(amount), [])).toEqual(passed);
  });

  it('are exact where floating point is not: ten times 0.1 is 1', () => {
    const ten = Array.from({ length: 10 }, () => '0.1');
    expect(limitsPassed([rule({ amount: { EUR: '1' } })], paid(...ten), [])).toEqual([]);
    expect(limitsPassed([rule({ amount: { EUR: '0.3' } })], paid('0.1', '0.2'), [])).toEqual([]);
    expect(limitsPassed([rule({ amount: { EUR: '0.29999999999999999999' } })], paid('0.1', '0.2'), [])).toEqual(['amount']);
  });

  it('of the last hour count: a split passes no more than one sum', () => {
    expect(limitsPassed(limits, paid('5000'), spent(1, { EUR: '5000' }))).toEqual([]);
    expect(limitsPassed(limits, paid('5000.01'), spent(1, { EUR: '5000' }))).toEqual(['amount']);
    expect(limitsPassed(limits, paid('5000.01'), spent(1, { USD: '5000' }))).toEqual([]);
  });

  it('do not hide behind refunds: a sum counts them without their sign', () => {
    expect(limitsPassed(limits, paid('10001', '-10001'), [])).toEqual(['amount']);
    expect(limitsPassed(limits, paid('-10000.01'), [])).toEqual(['amount']);
    expect(limitsPassed(limits, paid('-10000'), [])).toEqual([]);
  });

  test.each([
    [null],
    [''],
    ['NaN'],
    ['Infinity'],
    ['1e309'],
    ['--1000000'],
    ['+-1000000'],
    ['9'.repeat(201)],
    ['1,000'],
    ['0x10'],
    ['٣'],
    ['1.'],
  ])('%j cannot be counted, so it is over', (amount) => {
    expect(limitsPassed(limits, paid(amount, '1'), [])).toEqual(['amount']);
  });

  test.each(['USD', 'eur', 'constructor', '__proto__', null])('in %s, which the rule does not name, are over', (currency) => {
    const spend = spendOf([{ type: 't', amount: '0.01', currency }], {});
    expect(limitsPassed(limits, spend, [])).toEqual(['amount']);
  });

  it('without a currency have a limit under the empty name', () => {
    const spend = spendOf([{ type: 't', amount: '5', currency: null }], {});
    expect(limitsPassed([rule({ amount: { '': '5' } })], spend, [])).toEqual([]);
    expect(limitsPassed([rule({ amount: { '': '4.99' } })], spend, [])).toEqual(['amount']);
  });

  it('are summed and compared as cents would be', () => {
    const cents = fc.array(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), { minLength: 1, maxLength: 20 });
    const text = (value: bigint): string => {
      const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
      return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    };
    fc.assert(
      fc.property(cents, cents, fc.bigInt({ min: -2n, max: 2n }), (now, before, off) => {
        const sum = (values: readonly bigint[]): bigint => values.reduce((all, one) => all + (one < 0n ? -one : one), 0n);
        const limit = sum(now) + sum(before) + off;
        if (limit < 0n) return;
        const passed = limitsPassed([rule({ amount: { EUR: text(limit) } })], paid(...now.map(text)), [
          { operation: 'requeue', count: 1, sums: paid(...before.map(text)).sums },
        ]);
        expect(passed).toEqual(off < 0n ? ['amount'] : []);
      }),
    );
  });
});

describe('rules', () => {
  it('without limits always ask, and any limit of any rule does', () => {
    expect(limitsPassed([RULE], SPEND, [])).toEqual(['always']);
    const all = [rule({ rows: 1, notIdempotent: true }), rule({ amount: { EUR: '1' } }), RULE];
    expect(limitsPassed(all, { ...paid('2', '2'), notIdempotent: 1 }, [])).toEqual(['rows', 'amount', 'notIdempotent', 'always']);
  });

  it('of types count those that nobody declared idempotent', () => {
    const consumers = { safe: 'idempotent', unsafe: 'not' } as const;
    const of = (type: string | null) => spendOf([{ type, amount: null, currency: null }], { consumers }).notIdempotent;
    expect(['safe', 'unsafe', 'other', 'toString', null].map(of)).toEqual([0, 1, 1, 1, 1]);
  });

  it('are about the outboxes and operations they name, and count what these spent', () => {
    const some = rule({ outboxes: ['escrow'], operations: ['requeue', 'retry'], rows: 10 });
    expect(rulesFor([some], 'escrow', 'retry')).toEqual([some]);
    expect([rulesFor([some], 'orders', 'retry'), rulesFor([some], 'escrow', 'archive')]).toEqual([[], []]);
    expect(limitsPassed([some], SPEND, spent(10, {}, 'archive'))).toEqual([]);
    expect(limitsPassed([some], SPEND, spent(10, {}, 'retry'))).toEqual(['rows']);
  });

  it('have a digest of all that decides, in whatever order they are written', () => {
    const [one, two] = [rule({ rows: 1, amount: { EUR: '1', USD: '2' } }), rule({ operations: ['retry'], notIdempotent: true })];
    const paths = { value: 'payload.amount', currency: 'payload.currency' };
    const digest = (rules: ApprovalRule[], consumers: Record<string, 'idempotent' | 'not'> = { t: 'not' }, amount = paths) =>
      policyDigest(rules, { consumers, amount });
    expect(digest([two, { ...one, amount: { USD: '2', EUR: '1' } }])).toBe(digest([one, two]));
    const others = [
      digest([one]),
      digest([{ ...one, rows: 2 }, two]),
      digest([{ ...one, amount: { EUR: '1.0', USD: '2' } }, two]),
      digest([one, { ...two, notIdempotent: false }]),
      digest([one, two], { t: 'idempotent' }),
      digest([one, two], { t: 'not' }, { ...paths, value: 'payload.sum' }),
    ];
    expect(new Set([digest([one, two]), ...others]).size).toBe(others.length + 1);
  });
});
