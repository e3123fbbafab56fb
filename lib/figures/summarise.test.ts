import { describe, expect, test } from 'vitest';
import { seriesInput } from './series';
import { metricInput, spanOf, type MetricInput } from './span';
import type { Head } from '@/lib/history/history';
import type { Reading, SliceCount } from '@/lib/live/reading';
import { addTo, bucketOf, RELATIVE_ERROR } from '@/lib/rollup/histogram';
import { ALL_TYPES, TOUCHED, seriesOfType, emptyCell, HOW, type DepthSamples, type Cell, type Slice } from '@/lib/rollup/cell';
import { noSeries, seriesOf } from './chart';
import { noFigures, summarise } from './summarise';
import { progressOf } from '@/fixtures/outboxes';
import type { Traits } from '@/lib/outbox/scan/traits';
import { TRAITS } from '@/fixtures/readings';

const AS_OF = '2026-01-01T12:00:31.000000Z';
/** The minute under way at AS_OF. */
const NOW = Math.floor(Date.parse(AS_OF) / 60_000);
/** A quarter of an hour and what has gone of the minute under way. */
const MINUTES = 15 + 31 / 60;

interface Given {
  traits?: Partial<Traits>;
  reach?: Partial<Reading['reach']>;
  ordered?: Partial<Reading['ordered']>;
  figures?: Record<string, Record<string, unknown>>;
  types?: Reading['types'];
  slices?: Partial<Record<keyof Reading['slices'], Record<number, SliceCount>>>;
  tail?: Record<number, Partial<Cell>>;
  /** Minutes before the one under way → what was folded in them; minutes left out are gaps. */
  folded?: Record<number, Partial<Cell>> | null;
  byType?: Record<string, Partial<Cell>>;
  touched?: Record<number, Partial<Cell>>;
  method?: 'deleted';
}

const NO_LATENCY = { p50Ms: null, p95Ms: null, p99Ms: null, meanMs: null };
const NONE_TOUCHED = { count: 0, p95Ms: null, known: 'sampled' };
const cellOf = (cell: Partial<Cell>): Cell => ({ ...emptyCell(), minutes: 1, ...cell });
const latencies = (...values: number[]): Pick<Cell, 'published' | 'latency' | 'latencySumMs'> => {
  const latency: Cell['latency'] = new Map();
  for (const value of values) addTo(latency, bucketOf(value));
  return { published: values.length, latency, latencySumMs: values.reduce((sum, value) => sum + value, 0) };
};
/** A quarter of an hour in which nothing happened, with what did. */
const watched = (happened: Record<number, Partial<Cell>> = {}): Record<number, Partial<Cell>> =>
  Object.fromEntries(Array.from({ length: 17 }, (_, before) => [before, happened[before] ?? {}]));

function readingOf({ traits, reach, ordered, figures, types, slices, tail, folded }: Given): Reading {
  const minutes = <T>(values: Record<number, T> = {}) =>
    new Map(Object.entries(values).map(([before, value]): [number, T] => [NOW - Number(before), value]));
  return {
    asOf: AS_OF,
    foldedTo: folded === null ? null : '2026-01-01T12:00:20.000000Z',
    traits: { ...TRAITS, ...traits },
    reach: { waiting: 'complete', processing: 'complete', dead: 'complete', published: 'complete', ...reach },
    ordered: { waiting: false, processing: false, dead: false, published: false, ...ordered },
    rowsRead: 0,
    figures: { depth: { pending: 0, retrying: 0, processing: 0, dead: 0 }, ...figures },
    deadDetailed: true,
    types: types ?? [],
    slices: { created: minutes(slices?.created), died: minutes(slices?.died), claimed: minutes(slices?.claimed) },
    tail: new Map([...minutes(tail)].map(([minute, cell]) => [minute, new Map([[ALL_TYPES, { ...cellOf(cell), minutes: 0 }]])])),
  };
}

const HEAD_FROM = NOW - 2;

/** What was folded, oldest first. */
function foldedOf({ folded = {}, byType = {}, touched = {} }: Given): Slice[] {
  const slice = (series: string, before: number, cell: Partial<Cell>): Slice => ({
    series,
    atMinute: NOW - before,
    width: 1,
    cell: cellOf(cell),
    provisional: false,
  });
  const all = Object.entries(folded ?? {}).map(([before, cell]) => slice(ALL_TYPES, Number(before), cell));
  const apart = Object.entries(touched).map(([before, cell]) => slice(TOUCHED, Number(before), { ...cell, minutes: 0 }));
  return [...all, ...apart, ...Object.entries(byType).map(([type, cell]) => slice(seriesOfType(type), 16, cell))].sort(
    (a, b) => a.atMinute - b.atMinute,
  );
}

function pastOf(given: Given): { head: Head | null; older: Slice[] } {
  const slices = foldedOf(given);
  const head = {
    progress: progressOf('2026-01-01T12:00:20.000000Z', { method: given.method ?? 'published_index' }),
    fromMinute: HEAD_FROM,
    slices: slices.filter(({ atMinute }) => atMinute >= HEAD_FROM),
    acted: null,
  };
  return { head: given.folded === null ? null : head, older: slices.filter(({ atMinute }) => atMinute < HEAD_FROM) };
}

function observed(given: Given): MetricInput {
  const { head, older } = pastOf(given);
  return metricInput(readingOf(given), spanOf({ window: '15m' }, AS_OF), head, older);
}
const figures = (given: Given) => summarise(observed(given), '15m');
function series(given: Given) {
  const { head, older } = pastOf(given);
  return seriesOf(seriesInput(observed(given), ALL_TYPES, head, older));
}

describe('depth', () => {
  const depth = (given: Given) => figures(given).depth;

  test('10,000 is exact, one more is 10,000 and more; waiting is capped on its sum', () => {
    expect(depth({ figures: { depth: { pending: 10_000, retrying: 1, processing: 10_001, dead: 3 } } })).toEqual({
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
  const given = { figures: { 'oldest-pending': { at: '2026-01-01T11:00:00Z' } }, reach: { waiting: 'cut' } } as const;
  expect(figures(given).oldestPendingAt).toBeNull();
  expect(figures({ ...given, ordered: { waiting: true } }).oldestPendingAt).toBe('2026-01-01T11:00:00Z');
});

describe('latency and throughput', () => {
  test('are what was folded and what the reading found since, each event once', () => {
    const given: Given = {
      folded: watched({ 0: latencies(100), 1: { ...latencies(200), created: 1 }, 9: { ...latencies(300, 300), created: 2 } }),
      tail: { 0: latencies(1_000) },
      slices: { created: { 0: { n: 4, untold: 0 } } },
    };
    const { latency, throughput } = figures(given);
    expect(latency).toMatchObject({ count: 5, known: 'estimated', errorShare: RELATIVE_ERROR });
    expect(latency.p50Ms).toBeCloseTo(300, -1);
    expect(latency.meanMs).toBe(380);
    expect(throughput).toEqual({ createdPerMinute: 7 / MINUTES, publishedPerMinute: 5 / MINUTES, known: 'exact' });
  });

  test('of events that operators changed stand apart: they were published, and say nothing of the relay', () => {
    const touched = { 1: { ...latencies(769_000, 769_000), published: 0 } };
    const { latency, throughput } = figures({ folded: watched({ 1: { ...latencies(1_300, 1_300), published: 4, created: 4 } }), touched });
    expect(latency).toMatchObject({ count: 2, meanMs: 1_300, p95Ms: expect.closeTo(1_300, -2) as number });
    expect(latency.touched).toEqual({ count: 2, p95Ms: expect.closeTo(769_000, -5) as number, known: 'estimated' });
    expect(throughput).toMatchObject({ publishedPerMinute: 4 / MINUTES, known: 'exact' });
    expect(figures({ folded: watched({ 1: { published: 2 } }), touched }).latency).toMatchObject({
      count: 0,
      p95Ms: null,
      why: 'no_events',
      touched: { count: 2 },
    });
    const sampled = { published: 6, latencySumMs: 2_900, how: HOW.sampled, resolutionMs: 1_000 };
    const { latency: mean } = figures({ folded: watched({ 1: sampled }), touched });
    expect(mean).toMatchObject({ count: 4, meanMs: 725, touched: { count: 2, known: 'sampled' } });
  });

  test('no events in the window is a fact, not a gap', () => {
    expect(figures({ folded: watched() }).latency).toEqual({
      ...NO_LATENCY,
      count: 0,
      known: 'exact',
      why: 'no_events',
      touched: { count: 0, p95Ms: null, known: 'estimated' },
    });
  });

  test.each([
    [{ folded: null }, 'not_watched'],
    [{ folded: {} }, 'not_watched'],
    [{ folded: null, traits: { publishedAt: false, publishedState: false } }, 'no_published_at'],
    [{ folded: watched(), traits: { createdAt: false } }, 'no_created_at'],
    [{ folded: watched({ 3: { published: 8, how: HOW.statistics } }) }, 'needs_sampling'],
  ] satisfies [Given, string][])('%j: %s', (given, why) => {
    expect(figures(given).latency).toEqual({
      ...NO_LATENCY,
      count: null,
      known: 'unavailable',
      why,
      touched: { p95Ms: null, ...(why === 'needs_sampling' ? { count: 0, known: 'estimated' } : { count: null, known: 'unavailable' }) },
    });
  });

  test('seen at intervals, have a mean and no percentile; where none was ever seen waiting, all are "at most"', () => {
    const none = { p50Ms: null, p95Ms: null, p99Ms: null, known: 'estimated', count: 4, touched: NONE_TOUCHED };
    const sampled = { published: 4, latencySumMs: 2_900, how: HOW.sampled, resolutionMs: 1_000, variance: 90_000, biasMs: 40 };
    const of = (cell: Partial<Cell>, traits: Partial<Traits> = {}) => figures({ folded: watched({ 4: cell }), traits }).latency;
    expect(of(sampled)).toEqual({ ...none, meanMs: 725, meanErrorMs: 160.001, why: 'no_published_at' });
    expect(of(sampled, { resolutionMs: { latency: 1_000, processing: 0, attempted: 0 } }).meanErrorMs).toBe(1_160);
    expect(of(sampled, { publishedState: false, publishedAt: false }).why).toBe('deleted_on_publish');
    expect(of({ ...sampled, variance: Infinity }), 'kept by an older build').toEqual({ ...none, meanMs: 725, why: 'no_published_at' });
    expect(of({ ...sampled, latencySumMs: 0 })).toEqual({ ...none, meanMs: null, atMostMs: 1_000 });
    const told = series({ folded: watched({ 4: sampled }) });
    expect(told.known.latency).toBe('unavailable');
    expect(told.points.map(({ p95Ms, heat }) => [p95Ms, heat])).toEqual(told.points.map(() => [null, null]));
  });

  test('estimated percentiles that an earlier version kept are not shown', () => {
    const kept = { ...latencies(200, 300, 400, 2_000), how: HOW.sampled, resolutionMs: 1_000 };
    expect(figures({ folded: watched({ 4: kept }) }).latency).toMatchObject({ p50Ms: null, p95Ms: null, meanMs: 725, count: 4 });
  });

  test('of a table that keeps seconds, what took less than one is "at most" that, and the rest is as much off', () => {
    const resolutionMs = { latency: 1_000, processing: 1_000, attempted: 1_000 };
    const latency = (...values: number[]) => figures({ folded: watched({ 4: latencies(...values) }), traits: { resolutionMs } }).latency;
    expect(latency(0, 0, 0, 4_000)).toMatchObject({
      p50Ms: null,
      p95Ms: expect.closeTo(3_400, -2) as number,
      atMostMs: 1_000,
      known: 'estimated',
      errorShare: expect.closeTo(0.31, 1) as number,
    });
    expect(latency(50_000, 60_000, 70_000).errorShare).toBeCloseTo(RELATIVE_ERROR + 1 / 60, 3);
  });

  test('rates are of the minutes that were watched', () => {
    const { throughput } = figures({ folded: { 0: {}, 1: latencies(1, 1, 1), 2: {}, 15: {} } });
    expect(throughput).toMatchObject({ publishedPerMinute: expect.closeTo(3 / (4 - 29 / 60), 6) as number, known: 'estimated' });
  });

  test('rows cut off after the last fold are left out, not guessed', () => {
    expect(figures({ folded: watched({ 1: latencies(5) }), tail: { 0: latencies(9, 9) }, reach: { published: 'cut' } }).latency.count).toBe(
      1,
    );
  });
});

test('where rows are purged within minutes, what was counted may not be all of it', () => {
  const published = (how: number) => figures({ folded: watched({ 1: { ...latencies(5), how } }) }).throughput.known;
  expect(published(0)).toBe('exact');
  expect(published(HOW.purgedYoung)).toBe('estimated');
});

test('rates end with the last fold where more was published since than is read', () => {
  const given = { folded: watched({ 1: latencies(5), 2: latencies(5) }) };
  expect(figures(given).throughput.publishedPerMinute).toBeCloseTo(2 / MINUTES, 9);
  expect(figures({ ...given, reach: { published: 'cut' } }).throughput.publishedPerMinute).toBeCloseTo(2 / (MINUTES - 11 / 60), 9);
});

describe('processing', () => {
  const processing = (claimed: number, traits: Partial<Traits> = {}) => {
    const cell = { ...latencies(...Array.from({ length: 100 }, () => 9)), processing: new Map([[bucketOf(2), claimed]]) };
    return figures({ traits, folded: watched({ 3: cell }) }).processing;
  };

  test('a column that is rewritten when the row is published is no time of claim', () => {
    expect(processing(95)).toMatchObject({ p50Ms: expect.closeTo(2, 1) as number, known: 'estimated' });
    expect(processing(40)).toMatchObject({ p50Ms: null, known: 'unavailable', why: 'no_claim_time' });
    expect(processing(0, { claimTime: false })).toMatchObject({ known: 'unavailable', why: 'no_claim_time' });
  });
});

describe('retries and failed attempts', () => {
  test.each<[known: string, where: string, Given, how?: number]>([
    ['exact', 'they were seen throughout', {}],
    ['estimated', 'rows told afterwards', {}, HOW.backfilled],
    ['estimated', 'looks alone see events leave', { method: 'deleted' }],
    ['estimated', 'operators sent events again', { touched: { 3: latencies(5_000) } }],
  ])('are %s where %s', (known, _, given, how = 0) => {
    const all = figures({ folded: watched({ 3: { retries: 8, failures: 10, published: 30, how } }), ...given });
    expect(all).toMatchObject({ retries: { count: 8, known }, errorRate: { value: 0.25, known } });
  });

  test('are unavailable, never zero, for want of a counter or of history', () => {
    const none = { known: 'unavailable', why: 'no_attempts' };
    const all = figures({ folded: watched(), traits: { attempts: false } });
    expect(all).toMatchObject({ retries: { count: null, ...none }, errorRate: { value: null, ...none } });
    expect(figures({ folded: null }).retries.why).toBe('not_watched');
    expect(figures({ folded: watched() }).errorRate).toEqual({ value: null, known: 'exact', why: 'no_events' });
  });
});

test('by type: what waits now and what happened, worst first; what is unavailable is null in every row', () => {
  const given: Given = {
    folded: watched({ 3: { published: 3 } }),
    types: [{ type: 'a', figures: { depth: { waiting: 3, dead: 0 } } }],
    byType: { a: { ...latencies(12.5), retries: 2, failures: 1 }, quiet: latencies(100) },
  };
  expect(figures(given).byType).toEqual([
    { type: 'a', waiting: 3, dead: 0, retries: 2, errors: 1, p95Ms: expect.closeTo(12.5, 0) as number },
    { type: 'quiet', waiting: 0, dead: 0, retries: 0, errors: 0, p95Ms: expect.closeTo(100, -1) as number },
  ]);
  const cannotShow = { ...TRAITS.cannotShow, dead: 'not_in_schema' as const };
  const why = { dead: 'not_in_schema', retries: 'no_attempts', errors: 'no_attempts', p95Ms: 'no_created_at' };
  const [bare] = figures({ ...given, traits: { attempts: false, createdAt: false, cannotShow }, reach: { dead: 'absent' } }).byType;
  expect(bare).toEqual({ type: 'a', waiting: 3, dead: null, retries: null, errors: null, p95Ms: null, why });
});

describe('the series', () => {
  const last = (given: Given, count: number) => series(given).points.slice(-count);
  const depth = (more: Partial<DepthSamples>): Pick<Cell, 'depth'> => ({
    depth: { samples: 12, waitingSum: 60, waitingMax: 9, waitingLast: 5, deadLast: 1, oldestAgeMaxMs: 7_000, ...more },
  });

  test('waiting and dead are worked out backwards from now where nobody looked', () => {
    const given: Given = {
      folded: watched({ 1: { ...latencies(10, 10, 20, 30) }, 2: { created: 4 } }),
      slices: { created: { 0: { n: 2, untold: 0 }, 2: { n: 1, untold: 0 } }, died: { 1: { n: 1, untold: 0 } } },
      figures: { depth: { pending: 2, retrying: 1, dead: 1 } },
    };
    expect(last(given, 4)).toMatchObject([
      { waiting: 1, dead: 0, created: 0, published: 0, p50Ms: null },
      { waiting: 6, dead: 0, created: 5, published: 0 },
      { waiting: 1, dead: 1, created: 0, published: 4, latencyCount: 4 },
      { at: '2026-01-01T12:00:00.000Z', waiting: 3, dead: 1, created: 2, published: 0 },
    ]);
    expect(series(given).known).toMatchObject({ waiting: 'estimated', created: 'exact', published: 'exact' });
  });

  test('what was seen is shown as it was seen', () => {
    const given: Given = {
      folded: watched({ 1: depth({}), 2: depth({ waitingMax: 70, deadLast: 4 }) }),
      figures: { depth: { pending: 3 }, 'oldest-pending': { at: '2026-01-01T12:00:01.000000Z' } },
    };
    expect(last(given, 3)).toMatchObject([
      { waiting: 70, dead: 4, oldestAgeMs: 7_000 },
      { waiting: 9, dead: 1 },
      { waiting: 3, dead: 0, oldestAgeMs: 30_000 },
    ]);
  });

  test('a gap is a gap, not a zero, and nothing is worked out across it', () => {
    const points = last({ folded: { 0: {}, 1: latencies(7), 4: { created: 1 } }, figures: { depth: { pending: 3 } } }, 6);
    expect(points.map(({ gap }) => gap)).toEqual([true, false, true, true, false, false]);
    expect(points.map(({ published }) => published)).toEqual([null, 0, null, null, 1, 0]);
    expect(points.map(({ waiting }) => waiting)).toEqual([null, null, null, null, 3, 3]);
  });

  test('a minute in which nothing was published since the last fold is no gap, unless not all of it was read', () => {
    const quiet: Given = { folded: { 1: latencies(7), 2: {} } };
    expect(last(quiet, 2)).toMatchObject([
      { gap: false, published: 1 },
      { gap: false, published: 0 },
    ]);
    expect(last({ ...quiet, reach: { published: 'cut' } }, 1)).toMatchObject([{ gap: true, published: null }]);
  });

  test('rows that still wait do not make a time known in which nobody watched', () => {
    expect(last({ folded: { 0: {} }, slices: { created: { 3: { n: 5, untold: 0 } } } }, 4)[0]).toMatchObject({ gap: true, created: null });
  });

  test('a line without a value says why, and only such a line', () => {
    const none = { errors: 'no_attempts', latency: 'no_created_at', created: 'no_created_at' };
    expect(series({ folded: watched({ 2: { published: 3 } }), traits: { attempts: false, createdAt: false } }).why).toMatchObject(none);
    expect(series({ folded: watched({ 2: latencies(20) }) }).why).toEqual({});
    // Before the past has been read.
    expect(series({ folded: null }).why).toMatchObject({
      created: 'not_watched',
      published: 'not_watched',
      errors: 'not_watched',
      latency: 'not_watched',
    });
  });

  test('the heat map holds every event of the percentiles once', () => {
    const { points, heatBoundsMs } = series({ folded: watched({ 2: latencies(0.5, 20, 25, 5_000_000) }) });
    const heat = points.at(-3)?.heat ?? [];
    expect(heat).toHaveLength(heatBoundsMs.length + 1);
    expect([heat[0], heat[3], heat.at(-1)]).toEqual([1, 2, 1]);
    expect(heat.reduce((sum, count) => sum + count, 0)).toBe(points.at(-3)?.latencyCount);
  });

  test('points are aligned, and as many as the span has steps', () => {
    const asOf = '2026-01-01T12:07:00Z';
    const { points, stepSeconds } = noSeries(spanOf({ window: '24h' }, asOf), asOf, 'store_down');
    expect([points.length, stepSeconds, points[0]?.at, points.at(-1)?.at]).toEqual([
      96,
      900,
      '2025-12-31T12:15:00.000Z',
      '2026-01-01T12:00:00.000Z',
    ]);
    const own = noSeries(spanOf({ from: '2026-01-01T10:00:30Z', to: '2026-01-01T11:00:00Z' }, asOf), asOf, 'source_down');
    expect(own.why).toMatchObject({ waiting: 'source_down', latency: 'source_down' });
    expect([own.points[0]?.at, own.points.at(-1)?.at, own.window]).toEqual(['2026-01-01T10:00:00.000Z', '2026-01-01T10:59:00.000Z', null]);
  });
});

test('an outbox of which nothing is known says why at every figure', () => {
  const { depth, retries, latency, processing, throughput, errorRate } = noFigures('1h', '2026-01-01T12:00:00Z', 'source_down');
  for (const figure of [...Object.values(depth), retries, latency, processing, throughput, errorRate])
    expect(figure).toMatchObject({ known: 'unavailable', why: 'source_down' });
});
