import type { DoctorSummary } from '../doctor';
import { parseInstant } from '../lists/event-filter';
import type { Mark } from './marks';
import type { OutboxSnapshot } from '../model';
import { DEFAULT_WINDOW, spanProblem, WINDOWS, type SeriesSpan, type Window } from './windows';

/** What the screen of an outbox shows, as its address says: the window of the figures, and of which time and type the charts are. */
export interface ChartView {
  window: Window;
  span: SeriesSpan;
  type?: string;
}

export interface MarkedSnapshot extends OutboxSnapshot {
  /** What the doctor found; null while it has not looked. */
  doctor: DoctorSummary | null;
  /** Within what the charts show, newest first. */
  marks: Mark[];
}

/** Flow of one event type over what the charts show, oldest first; null where unknown. */
export interface TypeTrend {
  type: string;
  published: (number | null)[];
}

/** Trends are shown of so many types at most: each is read by itself. */
export const TREND_TYPES_MAX = 12;

/** Reads a chart view from an address; what makes no sense is left out. */
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

/** An address's query with another span and type in it; everything else stays as it was. */
export function withChartView(search: URLSearchParams, { span, type }: Pick<ChartView, 'span' | 'type'>): string {
  const next = new URLSearchParams(search);
  for (const end of ['from', 'to']) next.delete(end);
  for (const [name, value] of Object.entries<string>(span)) next.set(name, value);
  if (type === undefined) next.delete('type');
  else next.set('type', type);
  return next.toString();
}

/** The query of a series as the HTTP surface reads it. */
export function seriesQuery({ span, type }: Pick<ChartView, 'span' | 'type'>): string {
  return new URLSearchParams({ ...span, ...(type === undefined ? {} : { type }) }).toString();
}

/** A time in ISO 8601 UTC to the second, as addresses carry it. */
export const shortIso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
