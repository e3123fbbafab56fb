import type { Series } from '../model';
import { SHOWN_METRICS } from './metrics';
import { ratedPoints, type RatedPoint } from './series-rates';

interface Column {
  header: string;
  value: (point: RatedPoint) => string | number | null;
}

/** CSV by RFC 4180, oldest step first, durations in ms, empty if unknown; text a spreadsheet would run as a formula is escaped. */
export function seriesCsv(series: Series): string {
  const columns = columnsOf(series);
  const lines = ratedPoints(series).map((point) => columns.map(({ value }) => field(value(point))));
  return [columns.map(({ header }) => field(header)), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

export function seriesFileName(outbox: string, { points, stepSeconds }: Series): string {
  const from = points[0]?.at.slice(0, 16).replaceAll(':', '') ?? 'empty';
  return `${outbox.replace(/[^\w.-]/g, '_')}-${from}Z-${stepSeconds}s.csv`;
}

function columnsOf({ type, stepSeconds, heatBoundsMs }: Series): Column[] {
  const last = heatBoundsMs.at(-1);
  return [
    { header: 'from (UTC)', value: ({ at }) => at },
    { header: 'to (UTC)', value: ({ at }) => new Date(Date.parse(at) + stepSeconds * 1_000).toISOString() },
    ...(type === null ? [] : [{ header: 'type', value: () => type }]),
    { header: 'watched', value: ({ gap }) => (gap ? 'no' : 'yes') },
    { header: 'complete', value: ({ provisional, underWay }) => (provisional || underWay ? 'no' : 'yes') },
    { header: 'waiting (events)', value: ({ waiting }) => waiting },
    { header: 'oldest waiting (ms)', value: ({ oldestAgeMs }) => oldestAgeMs },
    { header: 'created (events)', value: ({ created }) => created },
    { header: 'created (events/min)', value: ({ createdPerMinute }) => createdPerMinute },
    { header: 'published (events)', value: ({ published }) => published },
    { header: 'published (events/min)', value: ({ publishedPerMinute }) => publishedPerMinute },
    { header: 'latency p50 (ms)', value: ({ p50Ms }) => p50Ms },
    { header: 'latency p95 (ms)', value: ({ p95Ms }) => p95Ms },
    { header: 'latency p99 (ms)', value: ({ p99Ms }) => p99Ms },
    { header: 'latency of (events)', value: ({ latencyCount }) => latencyCount },
    ...SHOWN_METRICS.flatMap(({ series }): Column[] =>
      series === null ? [] : [{ header: series.csv, value: (point) => point[series.key] }],
    ),
    { header: 'dead (events)', value: ({ dead }) => dead },
    ...heatBoundsMs.map((bound, row) => ({ header: `latency up to ${bound} ms (events)`, value: heatOf(row) })),
    ...(last === undefined ? [] : [{ header: `latency over ${last} ms (events)`, value: heatOf(heatBoundsMs.length) }]),
  ];
}

const heatOf =
  (row: number) =>
  ({ heat }: RatedPoint): number | null =>
    heat?.[row] ?? null;

/** Quoted if needed; text that a spreadsheet would run as a formula gets a leading apostrophe. */
export function field(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
