import { describe, expect, it } from 'vitest';
import { figure, judge, markdown, promiseTable, type Budget } from './report';

const budget = (over: Partial<Budget>): Budget => ({ name: 'a page', promise: 'pages', measured: 60, limit: 60, unit: 'buffers', ...over });

describe('a budget', () => {
  it('holds up to its limit and not beyond, or from it on where more is better', () => {
    expect(judge(budget({})).ok).toBe(true);
    expect(judge(budget({ measured: 61 })).ok).toBe(false);
    expect(judge(budget({ rule: '>=', measured: 59 })).ok).toBe(false);
    expect(judge(budget({ rule: '>=', measured: 61 })).ok).toBe(true);
  });

  it('is missed without a figure, and against a limit that is none', () => {
    expect(judge(budget({ measured: null })).ok).toBe(false);
    expect(judge(budget({ limit: NaN })).ok).toBe(false);
    expect(judge(budget({ measured: NaN })).ok).toBe(false);
  });

  it('is shown by its worst line', () => {
    const budgets = [budget({ measured: 7 }), budget({ name: 'deep', measured: null }), budget({ measured: 400 })].map(judge);
    expect(promiseTable(budgets).rows).toEqual([['pages', 'no figure', '≤ 60 buffers', '1 of 3']]);
    expect(promiseTable(budgets.filter(({ measured }) => measured !== null)).rows[0]?.[1]).toBe('400 buffers');
  });
});

it('figures are as exact as they are small', () => {
  expect([12_345.6, 45.67, 1.234, 0.01234, 7, null].map(figure)).toEqual(['12,346', '45.7', '1.23', '0.0123', '7', '–']);
});

it('numbers stand to the right, words to the left', () => {
  expect(
    markdown({
      title: 't',
      columns: ['read', 'buffers', 'by'],
      rows: [
        ['newest', 1_234, 'Index Scan'],
        ['oldest', null, ''],
      ],
    }),
  ).toBe(
    [
      '| read   | buffers | by         |',
      '| ------ | ------: | ---------- |',
      '| newest |   1,234 | Index Scan |',
      '| oldest |       – |            |',
    ].join('\n'),
  );
});
