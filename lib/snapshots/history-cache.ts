import type { RecentHistory } from '@/lib/diagnosis/evidence/circumstances';
import { seriesInput, stepBounds, type SeriesInput } from '@/lib/figures/series';
import { metricInput, liveCells, type MetricInput, type Span } from '@/lib/figures/span';
import type { History, Head } from '@/lib/history/rollups/history';
import type { Reading } from '@/lib/live/reading';
import { addCell, emptyCell, ALL_TYPES, typeOfSeries, type Cell } from '@/lib/rollup/cell';
import { outsideRequests } from '@/lib/shared/async/outside-requests';

/** A reading and where the rollups ended when it was taken. */
export interface ReadingAt {
  id: string;
  reading: Reading;
  head: Head | null;
}

/** What happened before a reading, read from the rollups once for all who look at that reading. */
export interface Histories {
  /** Of one series only where one is named: the figures by type are then left out. */
  sum(newest: ReadingAt, span: Span, series?: string): Promise<MetricInput>;
  line(newest: ReadingAt, span: Span, series: string): Promise<SeriesInput>;
  /** The last hour, for the verdicts; null while nothing is collected. */
  recent(newest: ReadingAt): Promise<RecentHistory | null>;
}

const MINUTE_MS = 60_000;

/** A store that cannot be asked makes the past of this reading unknown, and nothing else. */
export function createHistoryCache(history: History | null, onFailure: (outbox: string, error: unknown) => void): Histories {
  const asked = new WeakMap<Reading, Map<string, Promise<unknown>>>();
  const recent = history === null ? null : createRecent(history);

  function once<T>({ reading }: ReadingAt, key: unknown[], work: () => Promise<T>): Promise<T> {
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

  async function sumUp(newest: ReadingAt, span: Span, series?: string): Promise<MetricInput> {
    const { id, reading, head } = newest;
    if (history === null || head === null) return metricInput(reading, span, null, null);
    const fromMinute = span.fromMs / MINUTE_MS;
    const toMinute = Math.min(span.toMs / MINUTE_MS, head.fromMinute);
    if (fromMinute >= toMinute) return metricInput(reading, span, head, null);
    const sum = await orNull(id, history.sum(id, fromMinute, toMinute, series));
    return sum === null ? metricInput(reading, span, null, null) : metricInput(reading, span, head, sum);
  }

  async function line(newest: ReadingAt, span: Span, series: string): Promise<SeriesInput> {
    const input = await histories.sum(newest, span, ALL_TYPES);
    const { id, head } = newest;
    if (history === null || head === null || input.totals === null) return seriesInput(input, series, null, new Map());
    const { fromMinute, toMinute, stepMinutes } = stepBounds(span);
    const until = Math.min(toMinute, head.fromMinute);
    const older = fromMinute < until ? await orNull(id, history.line(id, series, { fromMinute, toMinute: until, stepMinutes })) : new Map();
    return seriesInput(input, series, older === null ? null : head, older ?? new Map());
  }

  const histories: Histories = {
    sum: (newest, span, series) => once(newest, ['sum', span, series], () => sumUp(newest, span, series)),
    line: (newest, span, series) => once(newest, ['line', span, series], () => line(newest, span, series)),
    recent: (newest) =>
      once(newest, ['recent'], () =>
        recent === null || newest.head === null ? Promise.resolve(null) : orNull(newest.id, recent(newest.id, newest.head, newest.reading)),
      ),
  };
  return histories;
}

const RECENT_MINUTES = 60;
/** Which types are known changes seldom. */
const TYPES_KNOWN_MS = 60_000;

type Minutes = Map<number, ReadonlyMap<string, { cell: Cell; provisional: boolean }>>;

interface RecentMinutes {
  /** Minutes since the epoch: the minutes up to here have been read. */
  readTo: number;
  minutes: Minutes;
  types: ReadonlySet<string>;
  typesAt: number;
}

/** The last hour of each outbox: every minute is read once and kept, but for those that are still being written. */
export function createRecent(history: History): (outbox: string, head: Head, reading: Reading) => Promise<RecentHistory> {
  const kept = new Map<string, RecentMinutes>();

  return async (outbox, head, reading) => {
    const now = Date.parse(reading.asOf);
    const oldest = Math.floor(now / 60_000) - RECENT_MINUTES;
    const own = kept.get(outbox) ?? { readTo: oldest, minutes: new Map(), types: new Set(), typesAt: -Infinity };
    kept.set(outbox, own);
    const from = Math.max(oldest, own.readTo);
    if (from < head.fromMinute) {
      for (const [minute, series] of await history.minutes(outbox, from, head.fromMinute)) own.minutes.set(minute, series);
      own.readTo = head.fromMinute;
    }
    for (const minute of own.minutes.keys()) if (minute < oldest) own.minutes.delete(minute);
    if (now - own.typesAt > TYPES_KNOWN_MS) {
      own.types = new Set((await history.seriesEver(outbox)).flatMap((series) => typeOfSeries(series) ?? []));
      own.typesAt = now;
    }
    return recentOf(own, head, reading, oldest);
  };
}

function recentOf({ minutes, types }: RecentMinutes, head: Head, reading: Reading, oldest: number): RecentHistory {
  const all = new Map<number, { cell: Cell; provisional: boolean }>();
  const byType = new Map<string, Cell>();
  const add = (minute: number, series: string, cell: Cell, provisional: boolean): void => {
    if (minute < oldest) return;
    const type = typeOfSeries(series);
    if (type !== null) {
      const sum = byType.get(type) ?? emptyCell();
      addCell(sum, cell);
      byType.set(type, sum);
    } else if (series === ALL_TYPES) {
      const sum = all.get(minute) ?? { cell: emptyCell(), provisional };
      addCell(sum.cell, cell);
      all.set(minute, sum);
    }
  };
  for (const source of [minutes, head.cells])
    for (const [minute, series] of source) for (const [name, one] of series) add(minute, name, one.cell, one.provisional);
  for (const [minute, series] of liveCells(reading)) {
    // What still waits from a minute that nobody watched does not make that minute known.
    for (const [name, cell] of series) if (name !== ALL_TYPES || all.has(minute) || cell.published > 0) add(minute, name, cell, false);
  }
  const published = [...byType].filter(([, cell]) => cell.published > 0).map(([type]) => type);
  return {
    minutes: [...all].sort(([a], [b]) => a - b).map(([minute, one]) => ({ atMs: minute * 60_000, ...one })),
    byType,
    typesPublished: new Set([...types, ...published]),
    watchedSinceMs: Date.parse(head.progress.watchedSince),
  };
}
