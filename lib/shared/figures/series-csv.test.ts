import { expect, it } from 'vitest';
import type { Series, SeriesPoint } from '../model';
import { SHOWN_METRICS, type MetricSeries } from './metrics';
import { seriesCsv, seriesFileName } from './series-csv';
import { mostPublished, ratedPoints } from './series-rates';

const NOTHING: Omit<SeriesPoint, 'at'> = {
  ...(Object.fromEntries(SHOWN_METRICS.map(({ series }) => [series?.key, null])) as Record<MetricSeries, null>),
  waiting: null,
  dead: null,
  created: null,
  published: null,
  oldestAgeMs: null,
  p50Ms: null,
  p95Ms: null,
  p99Ms: null,
  latencyCount: null,
  heat: null,
  gap: false,
  provisional: false,
};

const series = (overrides: Partial<Series>): Series => ({
  asOf: '2026-11-21T10:12:00.000Z',
  window: null,
  type: null,
  stepSeconds: 300,
  points: [],
  known: { waiting: 'exact', dead: 'exact', created: 'exact', published: 'exact', errors: 'exact', latency: 'exact' },
  why: {},
  heatBoundsMs: [],
  ...overrides,
});

/** The rows as a spreadsheet reads them: name → field. */
function read(csv: string): Record<string, string>[] {
  expect(csv.endsWith('\r\n')).toBe(true);
  const [header = [], ...rows] = csv
    .slice(0, -2)
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])));
}

it('says times in UTC, durations in milliseconds, flow per step and per minute, and nothing where nothing is known', () => {
  const points = [
    { ...NOTHING, at: '2026-11-21T10:00:00.000Z', gap: true },
    { ...NOTHING, at: '2026-11-21T10:05:00.000Z', waiting: 0, created: 10, published: 5, p50Ms: 12.5, heat: [4, 0, 1] },
    { ...NOTHING, at: '2026-11-21T10:10:00.000Z', created: 3, provisional: true },
  ];
  const [gap, full, underWay] = read(seriesCsv(series({ points, heatBoundsMs: [10, 100] })));
  expect(gap).toMatchObject({ 'from (UTC)': '2026-11-21T10:00:00.000Z', watched: 'no', 'waiting (events)': '', 'created (events)': '' });
  expect(full).toMatchObject({
    'from (UTC)': '2026-11-21T10:05:00.000Z',
    'to (UTC)': '2026-11-21T10:10:00.000Z',
    watched: 'yes',
    complete: 'yes',
    'waiting (events)': '0',
    'created (events)': '10',
    'created (events/min)': '2',
    'published (events/min)': '1',
    'latency p50 (ms)': '12.5',
    'latency up to 10 ms (events)': '4',
    'latency up to 100 ms (events)': '0',
    'latency over 100 ms (events)': '1',
  });
  // The step under way has fewer events than it will have, and has lasted two minutes so far.
  expect(underWay).toMatchObject({ complete: 'no', 'created (events)': '3', 'created (events/min)': '1.5' });
  const [begun] = read(seriesCsv(series({ asOf: '2026-11-21T10:10:59Z', points: points.slice(2) })));
  expect(begun).toMatchObject({ 'created (events)': '3', 'created (events/min)': '' });
  const [unknown] = read(seriesCsv(series({ points: [{ ...NOTHING, at: '2026-11-21T10:10:00.000Z', gap: true }] })));
  expect(unknown).toMatchObject({ watched: 'yes', complete: 'no', 'waiting (events)': '' });
});

it('has attempts per minute too, so that a minute that has just begun does not look as if nothing failed', () => {
  const points = [{ ...NOTHING, at: '2026-11-21T10:10:00.000Z', retries: 30, errors: 40 }];
  const [two] = ratedPoints(series({ points }));
  expect(two).toMatchObject({ retriesPerMinute: 15, errorsPerMinute: 20 });
  const [begun] = ratedPoints(series({ asOf: '2026-11-21T10:10:59Z', points }));
  expect(begun).toMatchObject({ retriesPerMinute: null, errorsPerMinute: null });
});

it('runs nothing in a spreadsheet and keeps fields apart, whatever a type is called', () => {
  const of = (type: string) => seriesCsv(series({ type, points: [{ ...NOTHING, at: '2026-11-21T10:00:00.000Z' }] })).split('\r\n')[1];
  expect(of('=HYPERLINK("http://x","y")')).toContain(`,"'=HYPERLINK(""http://x"",""y"")",`);
  for (const start of ['=', '+', '-', '@', '\t']) expect(of(`${start}1`)).toContain(`,'${start}1,`);
  expect(of('a,b')).toContain(',"a,b",');
  expect(of('plain')).toContain(',plain,');
});

it('names the file by outbox, start and step', () => {
  expect(seriesFileName('escrow', series({ points: [{ ...NOTHING, at: '2026-11-21T10:00:00.000Z' }] }))).toBe(
    'escrow-2026-11-21T1000Z-300s.csv',
  );
});

it('knows the most that was published per minute, without steps that have just begun', () => {
  const at = (minute: string, published: number | null) => ({ ...NOTHING, at: `2026-11-21T10:${minute}:00.000Z`, published });
  const points = [at('00', 300), at('05', null), at('10', 40)];
  expect(mostPublished(series({ asOf: '2026-11-21T10:10:30Z', points }))).toBe(60);
  expect(mostPublished(series({ asOf: '2026-11-21T10:11:00Z', points: points.slice(1) }))).toBe(40);
  expect(mostPublished(series({}))).toBe(0);
});
