import { describe, expect, test } from 'vitest';
import type { Reading } from './reading';
import { noFigures, noSeries, plot, summarise } from './summarise';
import type { Traits } from './traits';

const TRAITS: Traits = {
  cannotShow: { pending: null, retrying: null, processing: null, published: null, dead: null, archived: null },
  createdAt: true,
  publishedAt: true,
  publishedState: true,
  claimTime: true,
  attempts: true,
  countsClaims: true,
  deathTime: true,
  stuckAfterSeconds: 300,
  keepsOrder: false,
  tables: [],
};
const LAST_STEP = Math.floor(Date.parse('2026-01-01T12:00:30Z') / 15_000);

interface Given {
  traits?: Partial<Traits>;
  reach?: Partial<Reading['reach']>;
  ordered?: Partial<Reading['ordered']>;
  figures?: Record<string, Record<string, unknown>>;
  types?: Reading['types'];
  firstKnownAt?: string | null;
  /** Steps before the newest → values by metric. */
  lines?: Partial<Record<keyof Reading['lines'], Record<number, Record<string, Record<string, unknown>>>>>;
}

function reading({ traits, reach, ordered, figures, types, firstKnownAt, lines }: Given): Reading {
  const steps = (values: Record<number, Record<string, Record<string, unknown>>> = {}) =>
    new Map(Object.entries(values).map(([before, value]) => [LAST_STEP - Number(before), value]));
  return {
    asOf: '2026-01-01T12:00:31.000000Z',
    window: '15m',
    stepSeconds: 15,
    traits: { ...TRAITS, ...traits },
    reach: { waiting: 'complete', processing: 'complete', dead: 'complete', published: 'complete', ...reach },
    ordered: { waiting: false, processing: false, dead: false, published: false, ...ordered },
    firstKnownAt: firstKnownAt === undefined ? '2025-12-01T00:00:00Z' : firstKnownAt,
    rowsRead: 0,
    figures: { depth: { pending: 0, retrying: 0, processing: 0, dead: 0 }, ...figures },
    types: types ?? [],
    lines: { created: steps(lines?.created), published: steps(lines?.published), died: steps(lines?.died), claimed: steps(lines?.claimed) },
    points: { count: 60, lastStep: LAST_STEP },
  };
}

describe('depth', () => {
  const depth = (given: Given) => summarise(reading(given)).depth;

  test('10,000 is exact, one more is 10,000 and more; waiting is capped on its sum', () => {
    const figures = { depth: { pending: 10_000, retrying: 1, processing: 10_001, dead: 3 } };
    expect(depth({ figures })).toEqual({
      pending: { count: 10_000, known: 'exact' },
      retrying: { count: 1, known: 'exact' },
      processing: { count: 10_000, known: 'capped' },
      dead: { count: 3, known: 'exact' },
      waiting: { count: 10_000, known: 'capped' },
    });
  });

  test('without retrying, waiting is what is pending; without both it is unavailable', () => {
    const cannotShow = { ...TRAITS.cannotShow, retrying: 'not_in_schema' as const };
    expect(depth({ traits: { cannotShow }, figures: { depth: { pending: 4 } } })).toMatchObject({
      retrying: { count: null, known: 'unavailable' },
      waiting: { count: 4, known: 'exact' },
    });
    expect(depth({ traits: { cannotShow: { ...cannotShow, pending: 'not_in_schema' } } }).waiting).toEqual({
      count: null,
      known: 'unavailable',
      why: 'not_in_schema',
    });
  });

  test('what a cut reading counted is "at least"', () => {
    expect(depth({ reach: { dead: 'cut' }, figures: { depth: { dead: 12 } } }).dead).toEqual({
      count: 12,
      known: 'capped',
      why: 'too_many_rows',
    });
  });
});

test('the oldest of a cut reading is told only when it was read oldest first', () => {
  const figures = { 'oldest-pending': { at: '2026-01-01T11:00:00Z' } };
  expect(summarise(reading({ figures, reach: { waiting: 'cut' } })).oldestPendingAt).toBeNull();
  expect(summarise(reading({ figures, reach: { waiting: 'cut' }, ordered: { waiting: true } })).oldestPendingAt).toBe(
    '2026-01-01T11:00:00Z',
  );
});

describe('latency and throughput', () => {
  test('no events in the window is a fact, not a gap', () => {
    expect(summarise(reading({ figures: { latency: { percentiles: null, count: 0 } } })).latency).toEqual({
      p50Ms: null,
      p95Ms: null,
      p99Ms: null,
      count: 0,
      known: 'exact',
      why: 'no_events',
    });
  });

  test.each([
    [{ traits: { publishedAt: false } }, 'needs_sampling'],
    [{ traits: { publishedAt: false, publishedState: false } }, 'no_published_at'],
    [{ traits: { createdAt: false } }, 'no_created_at'],
    [{ reach: { published: 'cut' } }, 'too_many_rows'],
  ] as const)('%j: %s', (given, why) => {
    expect(summarise(reading(given)).latency).toEqual({ p50Ms: null, p95Ms: null, p99Ms: null, count: null, known: 'unavailable', why });
  });

  test('created is exact where only publishing is unknown', () => {
    expect(
      summarise(reading({ traits: { publishedAt: false }, figures: { throughput: { created: 30, published: 0 } } })).throughput,
    ).toEqual({
      createdPerMinute: 2,
      publishedPerMinute: null,
      known: 'exact',
      why: 'needs_sampling',
    });
  });
});

describe('processing', () => {
  const processing = (plausible: number, traits: Partial<Traits> = {}) =>
    summarise(reading({ traits, figures: { processing: { percentiles: [1, 2, 3], plausible, count: 100 } } })).processing;

  test('a column that is rewritten when the row is published is no time of claim', () => {
    expect(processing(95)).toEqual({ p50Ms: 1, p95Ms: 2, p99Ms: 3, known: 'exact' });
    expect(processing(40)).toMatchObject({ p50Ms: null, known: 'unavailable', why: 'no_claim_time' });
    expect(processing(95, { claimTime: false })).toMatchObject({ known: 'unavailable', why: 'no_claim_time' });
  });
});

test('retries are estimated, or unavailable, never zero for want of a counter', () => {
  const figures = { retries: { count: 8 } };
  expect(summarise(reading({ figures })).retries).toEqual({ count: 8, known: 'estimated' });
  expect(summarise(reading({ figures, traits: { attempts: false } })).retries).toEqual({
    count: null,
    known: 'unavailable',
    why: 'no_attempts',
  });
  expect(summarise(reading({ figures, reach: { waiting: 'cut' } })).retries.why).toBe('too_many_rows');
});

test('by type: what is unavailable is null in every row', () => {
  const types = [{ type: 'a', figures: { depth: { waiting: 3, dead: 0 }, retries: { count: 2 }, latency: { p95: [12.5] } } }];
  expect(summarise(reading({ types })).byType).toEqual([{ type: 'a', waiting: 3, dead: 0, retries: 2, errors: null, p95Ms: 12.5 }]);
  expect(summarise(reading({ types, traits: { attempts: false, publishedAt: false }, reach: { dead: 'absent' } })).byType).toEqual([
    { type: 'a', waiting: 3, dead: null, retries: null, errors: null, p95Ms: null },
  ]);
});

describe('the series', () => {
  const lines = {
    created: { 0: { depth: { n: 2 }, throughput: { n: 2 } }, 2: { depth: { n: 5 }, throughput: { n: 5 } } },
    published: { 1: { depth: { n: 4 }, throughput: { n: 4 }, latency: { percentiles: [10, 20, 30] } } },
    died: { 1: { depth: { n: 1 } } },
  };
  const last = (given: Given, count: number) => plot(reading(given)).points.slice(-count);

  test('waiting and dead are worked out backwards from now', () => {
    expect(last({ lines, figures: { depth: { pending: 2, retrying: 1, dead: 1 } } }, 4)).toMatchObject([
      { waiting: 1, dead: 0, created: 0, published: 0, p50Ms: null },
      { waiting: 6, dead: 0, created: 5, published: 0 },
      { waiting: 1, dead: 1, created: 0, published: 4, p50Ms: 10, p95Ms: 20, p99Ms: 30 },
      { at: '2026-01-01T12:00:30.000Z', waiting: 3, dead: 1, created: 2, published: 0, errors: null },
    ]);
  });

  test('before the oldest row of the table nothing is known, and nothing is drawn as zero', () => {
    const points = last({ lines, firstKnownAt: '2026-01-01T12:00:00Z', figures: { depth: { pending: 3 } } }, 4);
    expect(points.map((point) => point.created)).toEqual([null, 5, 0, 2]);
    expect(points.map((point) => point.waiting)).toEqual([null, 6, 1, 3]);
    expect(
      plot(reading({ firstKnownAt: null }))
        .points.slice(0, -1)
        .every((point) => point.created === null && point.waiting === null),
    ).toBe(true);
  });

  test('without times of publishing or death, depth is known now and only now', () => {
    const series = plot(reading({ lines, traits: { publishedAt: false, deathTime: false }, figures: { depth: { pending: 3, dead: 2 } } }));
    expect(series.points.slice(-2)).toMatchObject([
      { waiting: null, dead: null, created: 0, published: null },
      { waiting: 3, dead: 2, created: 2, published: null },
    ]);
    expect(series.known).toEqual({
      waiting: 'exact',
      dead: 'exact',
      created: 'exact',
      published: 'unavailable',
      errors: 'unavailable',
      latency: 'unavailable',
    });
  });

  test('points are aligned, and as many as the window has steps', () => {
    const { points, stepSeconds } = noSeries({ window: '24h' }, '2026-01-01T12:07:00Z');
    expect([points.length, stepSeconds, points[0]?.at, points.at(-1)?.at]).toEqual([
      96,
      900,
      '2025-12-31T12:15:00.000Z',
      '2026-01-01T12:00:00.000Z',
    ]);
  });
});

test('an outbox of which nothing is known says why at every figure', () => {
  const { depth, retries, latency, processing, throughput, errorRate } = noFigures('1h', '2026-01-01T12:00:00Z', 'source_down');
  for (const figure of [...Object.values(depth), retries, latency, processing, throughput, errorRate])
    expect(figure).toMatchObject({ known: 'unavailable', why: 'source_down' });
});
