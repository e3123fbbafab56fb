import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  FILTER_TEXT_MAX,
  countFilters,
  describeFilterErrors,
  idSpellings,
  parseEventFilter,
  serialiseEventFilter,
  toSearchParams,
} from './event-filter';
import type { EventFilter } from '../model';
import { STATES } from '../states';

const parse = (query: string) => parseEventFilter(new URLSearchParams(query));

describe('parseEventFilter', () => {
  test('reads every field', () => {
    const query =
      'state=dead&state=retrying&type=order_complete&aggregate=order-8812&q=k-1&error=insufficient+gas&from=2026-01-31T14:00:00Z&to=2026-02-01T00:00:00.123456Z&order=oldest';
    expect(parse(query)).toEqual({
      errors: {},
      filter: {
        state: ['retrying', 'dead'],
        type: ['order_complete'],
        aggregate: 'order-8812',
        q: 'k-1',
        error: 'insufficient gas',
        from: '2026-01-31T14:00:00Z',
        to: '2026-02-01T00:00:00.123456Z',
        order: 'oldest',
      },
    });
  });

  test('an empty query and empty fields mean no filter', () => {
    expect(parse('')).toEqual({ filter: {}, errors: {} });
    expect(parse('state=&type=&aggregate=+&q=&error=+&from=&to=&order=newest&cursor=abc&limit=5')).toEqual({ filter: {}, errors: {} });
  });

  test('states may be separated by commas, types may not', () => {
    expect(parse('state=dead,pending&type=a,b').filter).toEqual({ state: ['pending', 'dead'], type: ['a,b'] });
  });

  test('spaces around an id and inside an error text are kept: they may be its own', () => {
    expect(parse('q=%20order-1%0A&error=%20gas').filter).toEqual({ q: ' order-1\n', error: ' gas' });
    expect([idSpellings(' order-1\n'), idSpellings('order-1')]).toEqual([[' order-1\n', 'order-1'], ['order-1']]);
  });

  test.each([
    ['2026-01-31T14:00:00%2B09:00', '2026-01-31T05:00:00Z'],
    ['2026-01-31T14:00:00+09:00', '2026-01-31T05:00:00Z'],
    ['2026-01-31T14:00-0330', '2026-01-31T17:30:00Z'],
    ['2026-01-31 14:00:00.1200z', '2026-01-31T14:00:00.12Z'],
  ])('the time %s is %s', (given, expected) => {
    expect(parse(`from=${given}`)).toEqual({ filter: { from: expected }, errors: {} });
  });

  test.each([
    ['state=deceased', 'state', 'unknown_state'],
    ['state=unmapped', 'state', 'unknown_state'],
    ['order=random', 'order', 'unknown_order'],
    ['from=yesterday', 'from', 'not_a_time'],
    ['from=2026-02-30T00:00:00Z', 'from', 'not_a_time'],
    ['from=0000-01-01T00:00:00Z', 'from', 'not_a_time'],
    ['from=2026-02-03', 'from', 'no_zone'],
    ['to=2026-02-03T10:00:00', 'to', 'no_zone'],
    ['from=2026-02-03T10:00:00Z&to=2026-02-03T10:00:00.000Z', 'to', 'empty_range'],
    ['from=2026-02-03T10:00:00.5Z&to=2026-02-03T10:00:00.49Z', 'to', 'empty_range'],
    [`q=${'x'.repeat(FILTER_TEXT_MAX + 1)}`, 'q', 'too_long'],
    ['aggregate=a%00b', 'aggregate', 'bad_character'],
    [Array.from({ length: 51 }, (_, index) => `type=t${index}`).join('&'), 'type', 'too_many'],
  ] as const)('%s is refused with a code for its field', (query, field, code) => {
    const { filter, errors } = parse(query);
    expect(errors[field]?.code).toBe(code);
    expect(filter[field]).toBeUndefined();
    expect(describeFilterErrors(errors)[field]).toBeTruthy();
  });

  test('one bad field leaves the others standing', () => {
    expect(parse('state=dead&from=never').filter).toEqual({ state: ['dead'] });
  });
});

test('countFilters does not count the order', () => {
  expect(countFilters({ state: ['dead'], q: 'x', order: 'oldest' })).toBe(2);
});

test('toSearchParams keeps repeated parameters', () => {
  expect(toSearchParams({ state: ['dead', 'pending'], q: 'x', to: undefined }).toString()).toBe('state=dead&state=pending&q=x');
});

const pad = (value: number, width = 2) => String(value).padStart(width, '0');
const instant = fc
  .tuple(
    fc.date({ min: new Date('1970-01-02T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true }),
    fc.integer({ min: 0, max: 999_999 }),
  )
  .map(([date, micros]) => `${date.toISOString().slice(0, 19)}${micros === 0 ? '' : `.${pad(micros, 6).replace(/0+$/, '')}`}Z`);
const words = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }).filter((text) => text.trim() !== '' && !text.includes('\0'));

const filters: fc.Arbitrary<EventFilter> = fc
  .record(
    {
      state: fc.subarray([...STATES], { minLength: 1 }),
      type: fc.uniqueArray(words, { minLength: 1, maxLength: 5 }),
      aggregate: words,
      q: words,
      error: words,
      from: instant,
      to: instant,
      order: fc.constant('oldest' as const),
    },
    { requiredKeys: [] },
  )
  .filter(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to));

test('a filter written into a URL is read back unchanged', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      const url = serialiseEventFilter(filter).toString();
      expect(parseEventFilter(new URLSearchParams(url))).toEqual({ filter, errors: {} });
    }),
  );
});

test('whatever the query string, parsing neither throws nor keeps a bad field, and settles after one round', () => {
  const value = fc.oneof(fc.string(), instant, fc.constantFrom('dead', 'published,dead', 'oldest', '2026-01-01'));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('state', 'type', 'aggregate', 'q', 'error', 'from', 'to', 'order'), value)), (pairs) => {
      const { filter } = parseEventFilter(new URLSearchParams(pairs));
      expect(parseEventFilter(serialiseEventFilter(filter))).toEqual({ filter, errors: {} });
    }),
  );
});
