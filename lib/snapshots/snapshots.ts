import { unreachableInfo, outboxInfo } from '@/lib/outbox/outbox-info';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import type { OutboxInfo, OutboxReading, OutboxSnapshot, Series, StaleProblem, Summary } from '@/lib/shared/model';
import { POLL_INTERVAL_MS, READING_WAIT_MS } from '@/lib/shared/polling';
import { SPARKLINE_POINTS } from '@/lib/shared/figures/fleet';
import type { SeriesSpan, Window } from '@/lib/shared/figures/windows';
import { slicesOf } from '@/lib/history/history';
import type { Reading } from '@/lib/live/reading';
import type { DepthNow } from '@/lib/history/collector/collect';
import type { HoldsNow } from '@/lib/history/collector/incidents';
import { diagnose, findings } from '@/lib/diagnosis/judge/diagnose';
import { yieldToEventLoop, createFleet, fleetDatabases } from './fleet';
import { createRecent } from './recent';
import { seriesInput, stepBounds, type SeriesInput } from '@/lib/figures/series';
import { metricInput, MINUTE_MS, spanOf, type MetricInput, type Span } from '@/lib/figures/span';
import { createReadings, type Answer, type ReadingCost, type CachePolicy, type ReadingsOptions } from './readings';
import { ALL_TYPES, seriesOfType } from '@/lib/rollup/cell';
import { noSeries, seriesOf } from '@/lib/figures/chart';
import { noFigures, summarise } from '@/lib/figures/summarise';
import { UNREAD, type Failure, type RecentHistory } from '@/lib/diagnosis/evidence/circumstances';

/** What charts show if not the window of the figures: a span of its own, or one event type. */
export interface Charts {
  span: SeriesSpan;
  type?: string;
}

export type Snapshots = ReturnType<typeof createSnapshots>;

/** An outbox as far as it is known now. */
export interface Current {
  id: string;
  /** Whether the figures are current; those of an unreachable outbox are its last ones. */
  up: boolean;
  summary: Summary;
  cost: ReadingCost;
}

interface SnapshotsOptions extends Partial<ReadingsOptions> {
  collector?: { status(id: string): CollectorStatus | null };
}

/** While a reading is only late, the verdict of the last one is kept for this long. */
const VERDICT_STANDS_MS = 15_000;
/** Outboxes judged at the same time: each waits for the store, which others use too. */
const JUDGED_AT_ONCE = 8;
/** Two hundred screens, whenever they ask, take no more readings than one. */
const SCREEN: CachePolicy = { sharedMs: POLL_INTERVAL_MS, waitMs: READING_WAIT_MS };
/** A request for every outbox takes what was read a moment ago, and of an unreachable one what is known. */
const IN_TURN = { freshMs: VERDICT_STANDS_MS, waitMs: 250, olderMs: 500 };
const FLEET: CachePolicy = { sharedMs: POLL_INTERVAL_MS, waitMs: 2_500, failingMs: 200, inTurn: IN_TURN };
/** The collector hardly waits: a sample of a depth may be a little older. */
const COLLECTOR: CachePolicy = { sharedMs: POLL_INTERVAL_MS, waitMs: 100, failingMs: 0, inTurn: { freshMs: 0, waitMs: 100, olderMs: 100 } };
const SAMPLE_STANDS_MS = 10_000;
/** A script compares figures with its own counts: it shares a reading begun after its request, unless readings are slow. */
const SCRIPT: CachePolicy = { sharedMs: 0, waitMs: READING_WAIT_MS };

/** The figures of every outbox, one reading for all viewers: single flight, at most 5 s old when returned unless marked `stale`. */
export function createSnapshots(directory: OutboxDirectory, options: SnapshotsOptions = {}) {
  const { history = null, compute = null, collector, now = Date.now, onFailure } = options;
  const readings = createReadings(directory, { history, now, compute, onFailure });
  const recent = history && createRecent(history);
  const nowIso = (): string => new Date(now()).toISOString();

  function infoOf(id: string, { outbox, failure }: Answer): OutboxInfo {
    if (outbox !== null) return outboxInfo(outbox);
    return unreachableInfo(directory, id, failure === null || failure.kind === 'no_store' ? 'source_down' : UNREAD[failure.kind]);
  }

  /** null, and reported, when the store does not answer. */
  const orNull = <T>(id: string, work: Promise<T>): Promise<T | null> =>
    work.catch((error: unknown) => {
      onFailure?.(id, error);
      return null;
    });

  /** What happened over a span up to a reading. With `series`, that series only: the figures by type are left out. */
  const sum = ({ reading, head, once }: Read, id: string, span: Span, series?: string): Promise<MetricInput> =>
    once(['sum', span, series], async () => {
      if (history === null || head === null) return metricInput(reading, span);
      const [fromMinute, toMinute] = [span.fromMs / MINUTE_MS, Math.min(span.toMs / MINUTE_MS, head.fromMinute)];
      const older = await orNull(id, slicesOf(history.rollups, { outbox: id, fromMinute, toMinute, series }));
      return older === null ? metricInput(reading, span) : metricInput(reading, span, head, older);
    });

  const line = (read: Read, id: string, span: Span, series: string): Promise<SeriesInput> =>
    read.once(['line', span, series], async () => {
      const { head } = read;
      const input = await sum(read, id, span, ALL_TYPES);
      if (history === null || head === null || input.totals === null) return seriesInput(input, series, null, []);
      const bounds = stepBounds(span);
      const toMinute = Math.min(bounds.toMinute, head.fromMinute);
      const older = await orNull(id, slicesOf(history.rollups, { ...bounds, toMinute, outbox: id, series }));
      return older === null ? seriesInput(input, series, null, []) : seriesInput(input, series, head, older);
    });

  /** The last hour, for the verdicts; null while nothing is collected. */
  const recentOf = ({ reading, head, once }: Read, id: string): Promise<RecentHistory | null> =>
    once(['recent'], async () => (head === null || recent === null ? null : orNull(id, recent(id, head, reading))));

  /** The last figures, with their verdict and whether they are stale. */
  async function judged(id: string, window: Window, answer: Answer, series?: string): Promise<OutboxReading> {
    const { reading, previous } = answer;
    const read = isRead(answer) ? answer : null;
    const figures = read && summarise(await sum(read, id, spanOf({ window }, read.reading.asOf), series), window);
    const failure = graveFailure(answer, now());
    const at = failure === null && reading !== null ? Date.parse(reading.asOf) : now();
    const diagnosis = diagnose({ reading, figures, failure, previous, history: read && (await recentOf(read, id)), now: at }, answer.open);
    const summary = { ...(figures ?? noFigures(window, nowIso(), whyNothing(answer))), diagnosis };
    return { outbox: infoOf(id, answer), summary, collector: collector?.status(id) ?? null, stale: staleOf(answer) };
  }

  async function chartOf(answer: Answer, id: string, { span, type }: Charts): Promise<Series> {
    if (!isRead(answer)) return noChart(answer, { span, type });
    return seriesOf(await line(answer, id, spanOf(span, answer.reading.asOf), type === undefined ? ALL_TYPES : seriesOfType(type)));
  }

  const noChart = (answer: Answer, { span, type }: Charts): Series => noSeries(spanOf(span, nowIso()), nowIso(), whyNothing(answer), type);

  return {
    /** Every outbox over the last hour, worst first: within 0.6 s, 50 ms if recent lines will do, or 3 s the first time; less than 15 s old while it is requested. */
    fleet: createFleet({
      directory,
      now,
      latest: (id) => readings.latest(id, FLEET),
      everyMs: (id) => readings.servesMs(id, FLEET),
      compose: async (id, answer) => {
        const [series, read] = await Promise.all([chartOf(answer, id, { span: { window: '1h' } }), judged(id, '1h', answer, ALL_TYPES)]);
        const sparklineOf = read.summary.diagnosis.verdict === 'dead_growing' ? 'dead' : 'waiting';
        return { ...read, sparklineOf, sparkline: series.points.slice(-SPARKLINE_POINTS).map((point) => point[sparklineOf]) };
      },
    }),
    /** Every outbox over the last hour, for regular scrapes: an unreachable one delays the first by up to 2.5 s, later ones by 0.2 s. */
    async current(): Promise<Current[]> {
      const latest = await Promise.all(directory.ids.map(async (id) => ({ id, answer: await readings.latest(id, FLEET) })));
      // Of one that was never read nothing is known: neither that its database is away.
      const answers = latest.filter(({ answer }) => answer.reading !== null || answer.failure !== null);
      const current: Current[] = [];
      const left = answers.entries();
      const judge = async (): Promise<void> => {
        for (const [at, { id, answer }] of left) {
          const { summary } = await judged(id, '1h', answer);
          current[at] = { id, up: answer.reading !== null && graveFailure(answer, now()) === null, summary, cost: answer.cost };
          // Two hundred of them without a break would block all other requests.
          await yieldToEventLoop();
        }
      };
      await Promise.all(Array.from({ length: JUDGED_AT_ONCE }, judge));
      return current;
    },
    /** Problem `not_found` for an unknown id; one that is unreachable keeps its last figures, marked `stale`. */
    async outbox(id: string, window: Window, charts: Charts = { span: { window } }): Promise<OutboxSnapshot> {
      const answer = await readings.latest(id, SCREEN);
      const [read, series] = await Promise.all([judged(id, window, answer), chartOf(answer, id, charts)]);
      return { ...read, asOf: read.summary.asOf, series };
    },
    /** Problem `not_found` for an unknown id; one that is unreachable has the verdict `source_down` and no figures. */
    async summary(id: string, window: Window): Promise<Summary> {
      const answer = await readings.latest(id, SCRIPT);
      const { reading, failure, previous } = answer;
      if (reading !== null && failure === null) return (await judged(id, window, answer)).summary;
      return {
        ...noFigures(window, nowIso(), whyNothing(answer)),
        diagnosis: diagnose({ reading, figures: null, failure, previous, history: null, now: now() }, answer.open),
      };
    },
    /** The databases of all outboxes, and this process's connections to them; queries none. */
    databases: () => fleetDatabases(directory),
    /** What waits and is dead now, for the collector's samples; null without a good reading of the last 10 s. */
    async depthNow(id: string): Promise<DepthNow | null> {
      const { reading, failure, ageMs } = await readings.latest(id, COLLECTOR);
      if (reading === null || failure !== null || ageMs > SAMPLE_STANDS_MS) return null;
      const { depth, oldestPendingAt } = summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
      if (depth.waiting.count === null) return null;
      const oldestAgeMs = oldestPendingAt === null ? null : Date.parse(reading.asOf) - Date.parse(oldestPendingAt);
      return { waiting: depth.waiting.count, dead: depth.dead.count, oldestAgeMs };
    },
    /** Which verdicts hold now, for the collector; null if there is neither a good reading of the last 10 s nor a failure. */
    async holdsNow(id: string): Promise<HoldsNow | null> {
      const answer = await readings.latest(id, COLLECTOR);
      const { reading, previous, ageMs } = answer;
      const failure = graveFailure(answer, now());
      if (failure === null && (reading === null || ageMs > SAMPLE_STANDS_MS)) return null;
      const at = failure === null && reading !== null ? reading.asOf : nowIso();
      const history = failure === null && isRead(answer) ? await recentOf(answer, id) : null;
      // Without figures nothing is called healthy, and no sums are read.
      const holds = findings({ reading, figures: null, failure, previous, history, now: Date.parse(at) });
      return { at, holds, blind: failure !== null };
    },
    /** The verdict of the last hour, hardly waiting for it; null without a good reading of the last 15 s. Problem `not_found` for an unknown id. */
    async diagnosis(id: string): Promise<Summary['diagnosis'] | null> {
      const answer = await readings.latest(id, COLLECTOR);
      if (graveFailure(answer, now()) !== null || answer.ageMs > VERDICT_STANDS_MS) return null;
      return (await judged(id, '1h', answer, ALL_TYPES)).summary.diagnosis;
    },
    /** Of several types, in the order given, from the reading that screens share. */
    async seriesOfTypes(id: string, span: SeriesSpan, types: readonly string[]): Promise<Series[]> {
      const answer = await readings.latest(id, SCREEN);
      return Promise.all(types.map((type) => chartOf(answer, id, { span, type })));
    },
    /** Of all events or of one type. Problem `not_found` for an unknown id; the series of one that is unreachable has no values. */
    async series(id: string, span: SeriesSpan, type?: string): Promise<Series> {
      const answer = await readings.latest(id, SCRIPT);
      return answer.failure === null ? chartOf(answer, id, { span, type }) : noChart(answer, { span, type });
    },
  };
}

/** Why the last figures are not current; null while they are. A late reading is a failure only after VERDICT_STANDS_MS. */
function graveFailure({ reading, failure }: Answer, now: number): Failure | null {
  if (reading === null || (failure?.kind !== 'timeout' && failure?.kind !== 'slow')) return failure;
  return now - Date.parse(failure.since) < VERDICT_STANDS_MS ? null : failure;
}

const PROBLEMS: Record<Failure['kind'], StaleProblem> = {
  timeout: 'timeout',
  slow: 'timeout',
  unavailable: 'unavailable',
  no_privilege: 'unreadable',
  missing: 'unreadable',
  outdated: 'unreadable',
  unusable: 'unreadable',
  no_store: 'store',
};

const whyNothing = ({ failure }: Answer): UnavailableReason => {
  if (failure === null) return 'source_down';
  return failure.kind === 'no_store' ? 'store_down' : UNREAD[failure.kind];
};

/** Figures older than VERDICT_STANDS_MS are stale even if nothing has failed: they were not requested for a while. */
function staleOf({ reading, failure, ageMs }: Answer): OutboxReading['stale'] {
  if (failure !== null) return { since: reading?.asOf ?? failure.since, problem: PROBLEMS[failure.kind] };
  return reading === null || ageMs < VERDICT_STANDS_MS ? null : { since: reading.asOf, problem: 'timeout' };
}

type Read = Answer & { reading: Reading };
const isRead = (answer: Answer): answer is Read => answer.reading !== null;
