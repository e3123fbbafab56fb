import type { DoctorSummary } from '../doctor';
import { parseInstant } from '../lists/event-filter';
import type { ChartMark } from './marks';
import type { OutboxSnapshot } from '../model';
import type { Run } from '../runs/runs';
import { DEFAULT_WINDOW, spanProblem, WINDOWS, type SeriesSpan, type Window } from './windows';

/** What the URL of an outbox's screen selects: the window of the figures, and the time and event type of the charts. */
export interface ChartView {
  window: Window;
  span: SeriesSpan;
  type?: string;
}

export interface MarkedSnapshot extends OutboxSnapshot {
  /** null if the doctor has not examined it yet. */
  doctor: DoctorSummary | null;
  /** Who else is connected to its database, for operators while the relay has stopped; null if the server does not show it. */
  sessions?: { name: string; count: number }[] | null;
  /** What goes on there by a plan, and may be what the verdict is of. */
  run: Pick<Run, 'id' | 'maker' | 'requested' | 'remaining'> | null;
  /** Those within the time of the charts, newest first. */
  marks: ChartMark[];
}

/** Published events of one type over the time of the charts, oldest first; null if unknown. */
export interface TypeTrend {
  type: string;
  published: (number | null)[];
}

/** Most types with a trend: each is a query of its own. */
export const TREND_TYPES_MAX = 12;

/** Parses a chart view from a URL; ignores invalid parts. */
export function parseChartView(search: URLSearchParams): ChartView {
  const window = WINDOWS.find((one) => one === search.get('window')) ?? DEFAULT_WINDOW;
  const [from, to] = ['from', 'to'].map((end) => parseInstant(search.get(end) ?? ''));
  const type = search.get('type');
  return {
    window,
    span:
      typeof from === 'string' && typeof to === 'string' && spanProblem(from, to) === null
        ? { from: shortIso(Date.parse(from)), to: shortIso(Date.parse(to)) }
        : { window },
    ...(type !== null && type !== '' && !type.includes('\0') && type.length <= TYPE_LENGTH_MAX ? { type } : {}),
  };
}

const TYPE_LENGTH_MAX = 512;

/** A URL's query with another span and type; everything else is kept. */
export function withChartView(search: URLSearchParams, { span, type }: Pick<ChartView, 'span' | 'type'>): string {
  const next = new URLSearchParams(search);
  for (const end of ['from', 'to']) next.delete(end);
  for (const [name, value] of Object.entries<string>(span)) next.set(name, value);
  if (type === undefined) next.delete('type');
  else next.set('type', type);
  return next.toString();
}

export const seriesQuery = ({ span, type }: Pick<ChartView, 'span' | 'type'>): string =>
  new URLSearchParams({ ...span, ...(type === undefined ? {} : { type }) }).toString();

/** ISO 8601 UTC without milliseconds if they are zero, as in URLs. */
export const shortIso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
