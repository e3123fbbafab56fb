import type { Outbox } from '@/lib/outbox/outbox';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { type History, type Head } from '@/lib/history/rollups/history';
import { seriesInput, stepBounds, type SeriesInput } from '@/lib/figures/series';
import { metricInput, type MetricInput, type Span } from '@/lib/figures/span';
import type { Reading } from '@/lib/live/reading';
import { createRecent } from './recent';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import type { RecentHistory } from '@/lib/diagnosis/evidence/circumstances';

/** A reading and where the rollups ended when it was taken. */
export interface Moment {
  id: string;
  outbox: Outbox | null;
  reading: Reading;
  head: Head | null;
}

/** What happened before a reading, read from the rollups once for all who look at that reading. */
export interface Histories {
  /** Of one series only where one is named: the figures by type are then left out. */
  sum(moment: Moment, span: Span, series?: string): Promise<MetricInput>;
  line(moment: Moment, span: Span, series: string): Promise<SeriesInput>;
  /** The last hour, for the verdicts; null while nothing is collected. */
  recent(moment: Moment): Promise<RecentHistory | null>;
}

const MINUTE_MS = 60_000;

/** A store that cannot be asked makes the past of this reading unknown, and nothing else. */
export function createHistoryCache(history: History | null, onFailure: (outbox: string, error: unknown) => void): Histories {
  const asked = new WeakMap<Reading, Map<string, Promise<unknown>>>();
  const recent = history === null ? null : createRecent(history);

  function once<T>({ reading }: Moment, key: unknown[], work: () => Promise<T>): Promise<T> {
    const known = asked.get(reading) ?? new Map<string, Promise<unknown>>();
    asked.set(reading, known);
    const name = JSON.stringify(key);
    const found = known.get(name) ?? outsideRequests(work);
    known.set(name, found);
    return found as Promise<T>;
  }

  /** null, and told, when the store does not answer. */
  const orNull = <T>(id: string, work: Promise<T>): Promise<T | null> =>
    work.catch((error: unknown) => {
      onFailure(id, error);
      return null;
    });

  async function sumUp(moment: Moment, span: Span, series?: string): Promise<MetricInput> {
    const { id, reading, head } = moment;
    if (history === null || head === null) return metricInput(reading, span, null, null);
    const fromMinute = span.fromMs / MINUTE_MS;
    const toMinute = Math.min(span.toMs / MINUTE_MS, head.fromMinute);
    if (fromMinute >= toMinute) return metricInput(reading, span, head, null);
    const sum = await orNull(id, history.sum(id, fromMinute, toMinute, series));
    return sum === null ? metricInput(reading, span, null, null) : metricInput(reading, span, head, sum);
  }

  async function line(moment: Moment, span: Span, series: string): Promise<SeriesInput> {
    const input = await histories.sum(moment, span, ALL_TYPES);
    const { id, head } = moment;
    if (history === null || head === null || input.totals === null) return seriesInput(input, series, null, new Map());
    const { fromMinute, toMinute, stepMinutes } = stepBounds(span);
    const until = Math.min(toMinute, head.fromMinute);
    const older = fromMinute < until ? await orNull(id, history.line(id, series, { fromMinute, toMinute: until, stepMinutes })) : new Map();
    return seriesInput(input, series, older === null ? null : head, older ?? new Map());
  }

  const histories: Histories = {
    sum: (moment, span, series) => once(moment, ['sum', span, series], () => sumUp(moment, span, series)),
    line: (moment, span, series) => once(moment, ['line', span, series], () => line(moment, span, series)),
    recent: (moment) =>
      once(moment, ['recent'], () =>
        recent === null || moment.head === null ? Promise.resolve(null) : orNull(moment.id, recent(moment.id, moment.head, moment.reading)),
      ),
  };
  return histories;
}
