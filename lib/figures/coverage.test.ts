/** What figures are of: the part of a span that was watched or read, and not what is still to be read. */
import { describe, expect, test } from 'vitest';
import { progressOf } from '@/fixtures/outboxes';
import { reading } from '@/fixtures/readings';
import type { Head } from '@/lib/history/history';
import type { Progress } from '@/lib/history/collector/progress';
import type { Reading } from '@/lib/live/reading';
import type { Traits } from '@/lib/outbox/scan/traits';
import { addTo, bucketOf, RELATIVE_ERROR } from '@/lib/rollup/histogram';
import { ALL_TYPES, emptyCell, HOUR_MINUTES, seriesOfType, type Cell, type Slice } from '@/lib/rollup/cell';
import { seriesOf } from './chart';
import { seriesInput } from './series';
import { metricInput, spanOf } from './span';
import { summarise } from './summarise';

const AS_OF = '2026-01-01T12:00:31.000000Z';
const FOLDED_TO = '2026-01-01T12:00:20.000000Z';
/** The minute under way. */
const NOW = Math.floor(Date.parse(AS_OF) / 60_000);
/** The part of the minute under way that is not over. */
const AHEAD = 29 / 60;
const isoAgo = (minutes: number): string => new Date((NOW - minutes) * 60_000).toISOString();

interface Given {
  /** Minutes before the one under way → what is in the rollups; without `minutes: 0` they are known. */
  folded: Record<number, Partial<Cell>>;
  progress?: Partial<Progress>;
  foldedTo?: string;
  traits?: Partial<Traits>;
  reach?: Partial<Reading['reach']>;
  /** Minutes before the one under way → rows created in it that still wait. */
  created?: Record<number, number>;
  tail?: Record<number, Partial<Cell>>;
  hours?: Slice[];
  acted?: Head['acted'];
  more?: Partial<Pick<Reading, 'deadDetailed' | 'ordered' | 'figures'>>;
}

const published = (count: number, latencyMs = 100): Partial<Cell> => {
  const latency: Cell['latency'] = new Map();
  addTo(latency, bucketOf(latencyMs), count);
  return { published: count, created: count, latency, latencySumMs: count * latencyMs };
};
const watched = (from: number, to: number, cell: Partial<Cell> = {}): Record<number, Partial<Cell>> =>
  Object.fromEntries(Array.from({ length: from - to + 1 }, (_, index) => [from - index, cell]));

function told(
  { folded, progress, foldedTo = FOLDED_TO, traits, reach, created = {}, tail = {}, hours = [], acted = null, more }: Given,
  window: '15m' | '24h',
) {
  const minutes = <T, U>(values: Record<number, T>, of: (value: T) => U) =>
    new Map(Object.entries(values).map(([before, value]): [number, U] => [NOW - Number(before), of(value)]));
  const now: Reading = {
    ...reading({ traits, reach }),
    asOf: AS_OF,
    foldedTo,
    figures: { depth: { pending: 0, retrying: 0, processing: 0, dead: 0 } },
    slices: { created: minutes(created, (n) => ({ n, untold: 0 })), died: new Map(), claimed: new Map() },
    ...more,
    tail: minutes(tail, (cell) => new Map([[ALL_TYPES, { ...emptyCell(), ...cell }]])),
  };
  const cells = [...minutes(folded, (cell): Cell => ({ ...emptyCell(), minutes: 1, ...cell }))];
  const slices = cells
    .flatMap(([atMinute, cell]): Slice[] =>
      [ALL_TYPES, seriesOfType('paid')].map((series) => ({
        series,
        atMinute,
        width: 1,
        cell: series === ALL_TYPES ? cell : { ...cell, minutes: 0 },
        provisional: false,
      })),
    )
    .sort((a, b) => a.atMinute - b.atMinute);
  const head: Head = { progress: progressOf(foldedTo, progress), fromMinute: NOW - 60, slices, acted };
  const input = metricInput(now, spanOf({ window }, AS_OF), head, hours);
  return { figures: summarise(input, window), series: seriesOf(seriesInput(input, ALL_TYPES, head, hours)) };
}
const of = (given: Given, window: '15m' | '24h' = '15m') => told(given, window).figures;

describe('time before the first known minute', () => {
  const young: Given = { folded: watched(4, 0, published(6)) };

  test('is not known to be quiet: rates are of the rest, and say since when', () => {
    expect(of(young).throughput).toEqual({
      createdPerMinute: expect.closeTo(30 / (5 - AHEAD), 6) as number,
      publishedPerMinute: expect.closeTo(30 / (5 - AHEAD), 6) as number,
      known: 'estimated',
      since: isoAgo(4),
    });
    expect(of({ folded: watched(16, 0, published(6)) }).throughput).toEqual({
      createdPerMinute: expect.closeTo(6.5, 0) as number,
      publishedPerMinute: expect.closeTo(6.5, 0) as number,
      known: 'exact',
    });
  });

  test('is not negative, or nothing, right after a start', () => {
    const ahead = { folded: watched(0, 0, published(6)), foldedTo: isoAgo(-0.5) };
    for (const foldedTo of [isoAgo(0), isoAgo(-0.5), isoAgo(-1.2)]) {
      const { createdPerMinute, publishedPerMinute } = of({ ...ahead, foldedTo }).throughput;
      for (const rate of [createdPerMinute, publishedPerMinute]) {
        expect(rate).toBeGreaterThan(0);
        expect(rate).toBeLessThanOrEqual(6 * 60);
      }
    }
  });

  test('is said of the first minute too, where another gap makes rates be of what is known', () => {
    const torn = { ...watched(14, 9, published(6)), ...watched(4, 0, published(6)) };
    const rate = expect.closeTo(66 / (11 - AHEAD), 6) as number;
    expect(of({ folded: torn }).throughput).toMatchObject({ publishedPerMinute: rate, known: 'estimated', since: isoAgo(14) });
  });

  test('leaves percentiles of the rest, no longer called near', () => {
    expect(of(young).latency).toMatchObject({ known: 'estimated', count: 30, p95Ms: expect.closeTo(100, -1) as number });
    expect(of(young).latency.errorShare).toBeUndefined();
    expect(of({ folded: watched(16, 0, published(6)) }).latency.errorShare).toBe(RELATIVE_ERROR);
  });

  test('has creations told by rows that came out later, and by rows that wait: they count as little as what left unseen', () => {
    const told = { ...watched(4, 0, published(6)), 9: { minutes: 0, created: 500 } };
    expect(of({ folded: told, created: { 0: 5, 12: 70 } }).throughput.createdPerMinute).toBeCloseTo(35 / (5 - AHEAD), 6);
  });

  test('is a gap of the charts, whatever was created in it', () => {
    const { points } = told({ folded: { ...watched(4, 0, published(6)), 9: { minutes: 0, created: 500 } } }, '15m').series;
    expect(points.map(({ gap }) => gap)).toEqual([...Array.from({ length: 10 }, () => true), ...Array.from({ length: 5 }, () => false)]);
    expect(points[5]).toMatchObject({ created: null, published: null });
  });

  test('of an hour that is known in part is its beginning', () => {
    const atMinute = NOW - 3 * HOUR_MINUTES;
    const hour = { series: ALL_TYPES, atMinute, width: HOUR_MINUTES, cell: { ...emptyCell(), minutes: 20 }, provisional: false };
    expect(of({ folded: watched(119, 0), hours: [hour] }, '24h').throughput).toMatchObject({ known: 'estimated', since: isoAgo(140) });
  });
});

describe('what dead events were created is counted by their rows', () => {
  const known = (given: Partial<Given>, window: '15m' | '24h' = '15m') => {
    const { figures, series } = told({ folded: watched(1_441, 0), ...given }, window);
    expect(series.known.published).toBe('exact');
    expect(series.known.created).toBe(figures.throughput.known);
    return series.known.created;
  };
  const depth = { pending: 0, retrying: 0, processing: 0, dead: 700 };
  const cut = (dead: string | null, ordered = true): Partial<Given> => ({
    more: {
      deadDetailed: false,
      ordered: { waiting: true, processing: true, dead: ordered, published: true },
      figures: { depth, 'oldest-pending': { dead } },
    },
  });

  test('not exactly where some of the span may not have been read', () => {
    expect(known({})).toBe('exact');
    expect(known(cut(isoAgo(20)))).toBe('exact');
    expect(known(cut(isoAgo(10)))).toBe('estimated');
    expect(known(cut(isoAgo(20), false))).toBe('estimated');
    expect(known(cut(null))).toBe('estimated');
  });

  test('nor where some were archived since it began, or may have been', () => {
    const acts = (operation: string, minutes: number): Partial<Given> => ({
      more: { figures: { depth, acted: { acts: [{ at: isoAgo(minutes), operation, actor: 'mina', count: 3 }] } } },
    });
    expect(known(acts('archive', 5))).toBe('estimated');
    expect(known(acts('archive', 50))).toBe('exact');
    expect(known(acts('archive', 50), '24h')).toBe('estimated');
    expect(known(acts('retry', 5), '24h')).toBe('exact');
    expect(known({ ...acts('retry', 5), acted: { first: isoAgo(9_000), last: isoAgo(5) } })).toBe('exact');
    expect(known({ ...acts('retry', 5), acted: { first: isoAgo(9_000), last: isoAgo(5) } }, '24h')).toBe('estimated');
    expect(known({ acted: { first: isoAgo(9_000), last: isoAgo(8_000) } }, '24h')).toBe('exact');
    // Only the newest hundred are told.
    const many = (first: number, count: number): Partial<Given> => {
      const all = Array.from({ length: count }, () => ({ at: isoAgo(5), operation: 'retry', actor: 'mina', count: 1 }));
      return { more: { figures: { depth, acted: { acts: all } } }, acted: { first: isoAgo(first), last: isoAgo(5) } };
    };
    expect(known(many(10, 100))).toBe('estimated');
    expect(known(many(10, 99))).toBe('exact');
  });
});

describe('tables that rows leave when they are published', () => {
  const begun: Partial<Progress> = { method: 'deleted', watchedSince: '2026-01-01T12:00:05.000000Z' };
  const traits = { publishedAt: false, publishedState: false };

  test('the minute in which watching began counts from then on, with as much of what was created in it and waits', () => {
    const [ofMinute, since] = [5 / 60, { since: begun.watchedSince?.replace('000000', '000') }];
    const { throughput } = of({ folded: { 0: {} }, progress: begun, traits, created: { 0: 5_000, 7: 300 } });
    expect(throughput).toMatchObject({ known: 'sampled', ...since });
    expect(throughput.createdPerMinute).toBeCloseTo(5_000 / (1 - AHEAD), 3);
    const earlier = { ...begun, watchedSince: isoAgo(2 - ofMinute) };
    const later = of({ folded: watched(2, 0, published(55)), progress: earlier, traits, created: { 2: 60 } }).throughput;
    expect(later.since).toBe(earlier.watchedSince);
    expect(later.publishedPerMinute).toBeCloseTo((3 * 55) / (3 - AHEAD - ofMinute), 3);
    expect(later.createdPerMinute).toBeCloseTo((3 * 55 + 60 * (1 - ofMinute)) / (3 - AHEAD - ofMinute), 3);
    const nearlyAll = { ...begun, watchedSince: isoAgo(13 - ofMinute) };
    const most = of({ folded: watched(13, 0, published(55)), progress: nearlyAll, traits }).throughput;
    expect(most.since).toBe(nearlyAll.watchedSince);
    expect(most.publishedPerMinute).toBeCloseTo((14 * 55) / (14 - AHEAD - ofMinute), 3);
    const counted = of({ folded: watched(2, 0, published(55)), progress: { ...earlier, method: 'scan' } }).throughput;
    expect(counted).toMatchObject({ since: isoAgo(2) });
    expect(counted.publishedPerMinute).toBeCloseTo((3 * 55) / (3 - AHEAD), 3);
  });

  test('what the minute of the last look is not folded for counts too, and nothing long after it', () => {
    const given: Given = { folded: watched(16, 1), progress: { ...begun, watchedSince: isoAgo(60) }, traits, created: { 0: 40 } };
    const { throughput } = of({ ...given, foldedTo: '2026-01-01T11:59:58.000000Z' });
    expect(throughput.createdPerMinute).toBeCloseTo(40 / 15.5, 1);
    const away = of({ ...given, folded: watched(16, 5), foldedTo: '2026-01-01T11:55:58.000000Z' }).throughput;
    expect(away.createdPerMinute).toBe(0);
  });

  test('without a time of creation the rate is not known: events are counted as they leave', () => {
    const given: Given = { folded: watched(16, 0, published(1)), progress: begun, traits: { ...traits, createdAt: false } };
    const { figures, series } = told(given, '15m');
    expect(figures.throughput).toMatchObject({ createdPerMinute: null, why: 'no_created_at' });
    expect(figures.throughput.publishedPerMinute).toBeGreaterThan(1);
    expect(series.why.created).toBe('no_created_at');
  });

  test('counts of inserts tell what was created', () => {
    const given: Given = { folded: watched(16, 0, { created: 3 }), progress: { method: 'statistics' }, traits: { createdAt: false } };
    expect(told(given, '15m').figures.throughput.createdPerMinute).toBeGreaterThan(3);
    expect(told(given, '15m').series.points.at(-2)?.created).toBe(3);
  });
});

test('while the collector is away, rows published since are counted over the time since', () => {
  const given: Given = { folded: watched(16, 10, published(6)), foldedTo: isoAgo(9.5), tail: { 0: published(60) } };
  const { throughput } = of(given);
  expect(throughput.known).toBe('estimated');
  expect(throughput.publishedPerMinute).toBeCloseTo((6 * 6 + 60) / 15.5, 1);
});

describe('the past that is still to be read', () => {
  const unread = (from: number, to: number): Partial<Progress> => ({
    unread: [{ from: isoAgo(from), to: isoAgo(to), startedAt: isoAgo(0), unobservedSince: null }],
  });
  const partly: Given = { folded: watched(4, 0, published(6)), progress: unread(15, 5) };

  test('leaves rates of what was read, and no percentile', () => {
    const { throughput, latency, processing, byType, retries, backfill } = of(partly);
    expect(throughput).toMatchObject({ known: 'estimated', since: isoAgo(4) });
    expect(throughput.publishedPerMinute).toBeCloseTo(30 / (5 - AHEAD), 6);
    const none = { p50Ms: null, p95Ms: null, p99Ms: null, known: 'unavailable', why: 'backfilling' };
    expect(latency).toEqual({ ...none, meanMs: null, count: null, touched: { count: null, p95Ms: null, known: 'unavailable' } });
    expect(processing).toEqual(none);
    expect(byType).toMatchObject([{ type: 'paid', p95Ms: null }]);
    expect(retries.known).toBe('estimated');
    expect(backfill).toEqual({ share: expect.closeTo(1 / 3, 9) as number, from: isoAgo(15) });
  });

  test('is no matter where it lies before the window, or is a minute at its edge', () => {
    for (const progress of [unread(90, 17), unread(16, 14.5)]) {
      const { throughput, latency, backfill } = of({ folded: watched(16, 0, published(6)), progress });
      expect([throughput.known, latency.errorShare, backfill]).toEqual(['exact', RELATIVE_ERROR, null]);
    }
  });

  test('is the reason where nothing of the window was read', () => {
    const { throughput, latency, retries, backfill } = of({ folded: {}, progress: unread(900, 0) });
    for (const figure of [throughput, latency, retries]) expect(figure).toMatchObject({ known: 'unavailable', why: 'backfilling' });
    expect(backfill?.share).toBe(0);
  });

  test('marks the step it ends in: rows may be missing there', () => {
    const { points } = told({ ...partly, progress: unread(15, 3.5) }, '15m').series;
    expect(points.map(({ provisional }) => provisional).lastIndexOf(true)).toBe(10);
    expect(points.filter(({ provisional }) => provisional)).toHaveLength(1);
  });
});

test('deaths are not worked out for a past from which operators sent some again since: no row says any more that they died', () => {
  const dead = (last: string) => {
    const figures = { depth: { pending: 0, retrying: 0, processing: 0, dead: 3 } };
    const acted = { first: isoAgo(9_000), last };
    return told({ folded: watched(15, 0), traits: { deathTime: true }, acted, more: { figures } }, '15m').series.points.map(
      (point) => point.dead,
    );
  };
  expect(new Set(dead(isoAgo(90)))).toEqual(new Set([3]));
  expect(new Set(dead(isoAgo(5)).slice(0, -1))).toEqual(new Set([null]));
  expect(dead(isoAgo(5)).at(-1)).toBe(3);
});
