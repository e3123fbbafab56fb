import { awayInfo } from '@/lib/outbox/away';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { outboxInfo } from '@/lib/outbox/outbox';
import type { FleetEntry, FleetSnapshot, OutboxInfo, OutboxReading, OutboxSnapshot, Series, Summary } from '@/lib/shared/model';
import { VERDICTS } from '@/lib/shared/verdicts';
import { DEFAULT_WINDOW, type SeriesSpan, type Window } from '@/lib/shared/windows';
import { diagnose } from './diagnose';
import { createReadings, type Answer, type ReadingCost, type Terms } from './readings';
import { noFigures, noSeries, plot, summarise } from './summarise';
import { isBlind, type Failure } from './verdict';

/** The figures of every outbox, one reading for all viewers: single flight, never more than 5 s old when answered. */
export interface Snapshots {
  /** Every outbox over the last hour, worst first; one that is slow or away never delays the others. */
  fleet(): Promise<FleetSnapshot>;
  /** Problem `not_found` for an unknown id; a source that is away keeps its last figures, marked `stale`. */
  outbox(id: string, window: Window): Promise<OutboxSnapshot>;
  /** Problem `not_found` for an unknown id; a source that is away has the verdict `source_down` and no figures. */
  summary(id: string, window: Window): Promise<Summary>;
  /** Every outbox over the last hour, for a machine that comes by every few seconds: one that is away delays nobody twice. */
  current(): Promise<Current[]>;
  /** Of all events or of one type. Problem `not_found` for an unknown id; the series of a source that is away has no values. */
  series(id: string, span: SeriesSpan, type?: string): Promise<Series>;
}

/** An outbox as far as it is known at this moment. */
export interface Current {
  id: string;
  /** Whether the figures are of now; those of a source that is away are its last ones. */
  up: boolean;
  summary: Summary;
  cost: ReadingCost;
}

export interface SnapshotsOptions {
  /** Milliseconds since the epoch, for tests. */
  now?: () => number;
  /** Told when an outbox begins to fail, or fails in another way; for the log. */
  onFailure?: (outbox: string, error: unknown) => void;
}

/** A screen asks every 5 s: a hundred of them share what one costs. With the time a reading takes it stays below 5 s. */
const SCREEN = { sharedMs: 4_000, patienceMs: 4_800 } satisfies Terms;
/** The fleet does not wait long for one outbox: it has the others to show. */
const FLEET = { sharedMs: 4_000, patienceMs: 2_500 } satisfies Terms;
/** A script compares what it is told with its own counts: it gets a reading begun after it asked, unless readings are dear. */
const SCRIPT = { sharedMs: 0, patienceMs: 4_800 } satisfies Terms;
/** A machine asks again soon: of an outbox that is away it takes what is known, and hears next time what the new attempt brought. */
const MACHINE = { sharedMs: 4_000, patienceMs: 2_500, failingMs: 200 } satisfies Terms;
/** A reading that is merely late leaves the verdict of the last one standing for this long. */
const VERDICT_STANDS_MS = 15_000;
const SPARKLINE_POINTS = 30;

export function createSnapshots(directory: OutboxDirectory, { now = Date.now, onFailure }: SnapshotsOptions = {}): Snapshots {
  const readings = createReadings(directory, { now, onFailure });
  const nowIso = (): string => new Date(now()).toISOString();

  function infoOf(id: string, { outbox, failure }: Answer): OutboxInfo {
    return outbox === null ? awayInfo(directory, id, failure !== null && isBlind(failure)) : outboxInfo(outbox);
  }

  /** The last figures there are, and how much they are worth. */
  function judged(id: string, window: Window, answer: Answer): OutboxReading {
    const { reading, failure, previous } = answer;
    const figures = reading === null ? null : summarise(reading);
    const grave = graveFailure(answer);
    const at = grave === null && reading !== null ? Date.parse(reading.asOf) : now();
    return {
      outbox: infoOf(id, answer),
      summary: {
        ...(figures ?? noFigures(window, nowIso(), 'source_down')),
        diagnosis: diagnose({ reading, figures, failure: grave, previous, history: null, now: at }),
      },
      collector: null,
      stale:
        failure === null
          ? null
          : { since: reading?.asOf ?? failure.since, problem: failure.kind === 'timeout' ? 'timeout' : 'unavailable' },
    };
  }

  async function entryOf(id: string): Promise<FleetEntry> {
    const answer = await readings.latest(id, '1h', FLEET);
    const series = answer.reading === null ? noSeries({ window: '1h' }, nowIso()) : plot(answer.reading);
    return { ...judged(id, '1h', answer), sparkline: series.points.slice(-SPARKLINE_POINTS).map((point) => point.waiting) };
  }

  return {
    async fleet() {
      const entries = await Promise.all(directory.ids.map(entryOf));
      const fresh = entries.filter((one) => one.stale === null).map((one) => one.summary.asOf);
      return { asOf: fresh.sort()[0] ?? nowIso(), entries: entries.sort(worstFirst) };
    },
    current: () =>
      Promise.all(
        directory.ids.map(async (id) => {
          const answer = await readings.latest(id, '1h', MACHINE);
          const { summary } = judged(id, '1h', answer);
          return { id, up: answer.reading !== null && graveFailure(answer) === null, summary, cost: answer.cost };
        }),
      ),
    async outbox(id, window) {
      const answer = await readings.latest(id, window, SCREEN);
      const read = judged(id, window, answer);
      return { ...read, asOf: read.summary.asOf, series: answer.reading === null ? noSeries({ window }, nowIso()) : plot(answer.reading) };
    },
    async summary(id, window) {
      const answer = await readings.latest(id, window, SCRIPT);
      const { reading, failure, previous } = answer;
      if (reading !== null && failure === null) return judged(id, window, answer).summary;
      return {
        ...noFigures(window, nowIso(), 'source_down'),
        diagnosis: diagnose({ reading, figures: null, failure, previous, history: null, now: now() }),
      };
    },
    async series(id, span, type) {
      const { reading, failure } = await readings.latest(id, 'window' in span ? span.window : DEFAULT_WINDOW, SCRIPT);
      // Of one type, and of a span that is over, the table alone does not tell.
      const told = reading !== null && failure === null && type === undefined && 'window' in span;
      return told ? plot(reading) : noSeries(span, nowIso(), type);
    },
  };
}

/** Why the last figures count no more; null while they do. */
function graveFailure({ reading, failure, ageMs }: Answer): Failure | null {
  const late = failure?.kind === 'timeout' && reading !== null && ageMs < VERDICT_STANDS_MS;
  return late ? null : failure;
}

function worstFirst(a: FleetEntry, b: FleetEntry): number {
  const rank = (entry: FleetEntry): number => VERDICTS.indexOf(entry.summary.diagnosis.verdict);
  return rank(a) - rank(b) || (b.summary.depth.waiting.count ?? -1) - (a.summary.depth.waiting.count ?? -1);
}
