/** What the owner of an outbox's lease keeps in memory; all of it can be rebuilt from the store. */
import { readCollectorState, type Lease } from '@/lib/store/collector-leases';
import { readSeries } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';
import { openVerdictSpans } from '@/lib/store/verdict-spans';
import { addCell, ALL_TYPES, cellIn, OTHER_TYPES, seriesOfType, TYPES_KEPT, typeOfSeries, type Additions } from '@/lib/rollup/cell';
import { CauseCollector } from './causes';
import { DUTY_CYCLE, Horizon, type Lags, MINUTE, SECOND, Backoff, Width } from './clock';
import { Incidents } from './incidents';
import type { Choice } from './method';
import type { Tried } from './observers/observer';
import { NO_COST, parseProgress, type Progress } from './progress';

/** `duty`: the share of the time for ticks. In microseconds: `recountEvery` of recent minutes, and how far back is read (`retention`). */
export interface Timing extends Record<'tickMs' | 'leaseSeconds' | 'duty' | 'recountEvery' | 'retention', number> {
  lags: Lags;
}

export const RECOUNT_MINUTES = 16;

export class Session {
  /** What observers saw since the last write to the history, and what their ticks cost. */
  pending: Additions = new Map();
  observed = NO_COST;
  memoryChanged = false;
  /** Collected since the last tick of the attempts observer; null if no rows are collected. */
  tried: Tried | null = null;
  readonly horizon: Horizon;
  readonly pace: Backoff;
  readonly causes: CauseCollector;
  /** When each observer is due again, in milliseconds since the epoch, and its interval. */
  readonly rounds = new Map<string, { dueAt: number; pace: Backoff }>();
  tickDueAt = 0;
  backfillDueAt = 0;
  readonly collectWidth = new Width(MINUTE, { least: SECOND, most: 10 * MINUTE });
  readonly backfillWidth = new Width(10 * MINUTE, { least: SECOND, most: 1_440 * MINUTE });
  /** How the outbox is collected, and when that was chosen, in milliseconds since the epoch. */
  choice: Choice | null = null;
  chosenAt = -Infinity;
  /** When minutes were recounted last (microseconds of the observed database's clock), and the first minute not recounted. */
  recountedAt = -Infinity;
  recountedTo = -Infinity;
  /** Minutes per recount: fewer if that took too long. */
  recountMinutes = RECOUNT_MINUTES;
  /** Late rows were found: until then (microseconds) all recent minutes are recounted. */
  watchfulUntil = -Infinity;

  constructor(
    /** As it was renewed last. */
    public lease: Lease,
    readonly timing: Timing,
    /** null until the outbox has been read for the first time. */
    public progress: Progress | null,
    readonly memory: Record<string, { at: string; memory: unknown }>,
    readonly names: SeriesNames,
    readonly incidents: Incidents,
  ) {
    const { tickMs, duty, lags } = timing;
    this.horizon = new Horizon(lags);
    this.causes = new CauseCollector(tickMs, Math.min(1, duty / DUTY_CYCLE));
    this.pace = new Backoff(tickMs, Math.max(tickMs, progress?.everyMs ?? 0), duty);
  }
}

/** Continues where the last owner stopped. Throws if another version of the console wrote the state. */
export async function openSession(store: Store, lease: Lease, timing: Timing): Promise<Session> {
  const state = await readCollectorState(store.db, lease.outbox);
  const progress = state === null ? null : parseProgress(state.state);
  if (state !== null && progress === null)
    throw new Error(`The history of ${lease.outbox} was written by another version of the console: it is left alone`);
  const memory = JSON.parse(state?.memory ?? '{}') as Session['memory'];
  const open = await openVerdictSpans(store.db, [lease.outbox]);
  const incidents = new Incidents(open.get(lease.outbox) ?? new Map(), progress?.foldedTo ?? null);
  return new Session(lease, timing, progress, memory, new SeriesNames(await readSeries(store.db, lease.outbox)), incidents);
}

/** Gives event types their series: the first two hundred of an outbox have one each, the rest share one. */
export class SeriesNames {
  private readonly known: Set<string>;

  /** `series`: those in the history. */
  constructor(series: Iterable<string>) {
    this.known = new Set([...series].filter((one) => typeOfSeries(one) !== null));
  }

  /** A new type gets a series of its own while fewer than TYPES_KEPT have one. */
  of(type: string | null): string {
    if (type === null) return OTHER_TYPES;
    const series = seriesOfType(type);
    if (!this.known.has(series)) {
      if (this.known.size >= TYPES_KEPT) return OTHER_TYPES;
      this.known.add(series);
    }
    return series;
  }

  allOf(type: string | null): [string, string] {
    return [ALL_TYPES, this.of(type)];
  }

  /** Adds to `sum`; types without a series of their own share one. */
  add(sum: Additions, additions: Additions): void {
    for (const [minute, series] of additions) {
      for (const [name, cell] of series) {
        const type = typeOfSeries(name);
        addCell(cellIn(sum, minute, type === null ? name : this.of(type)), cell);
      }
    }
  }
}
