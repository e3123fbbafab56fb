/** What was collected, as readings need it: the newest end of the rollups, and the fewest slices that cover a span before it. */
import { gather } from '@/lib/shared/async/gather';
import type { Acted } from '@/lib/store/acted';
import { findCollectorStates } from '@/lib/store/collector-leases';
import { readRollupsOf, readSeries, type Rollup, type RollupSpan, type Tier } from '@/lib/store/rollups';
import type { Store, StoreDb } from '@/lib/store/store';
import { openVerdictSpans } from '@/lib/store/verdict-spans';
import { parseProgress, type Progress } from './collector/progress';
import { ALL_TYPES, DAY_MINUTES, HOUR_MINUTES, TOUCHED, decodeCell, emptyCell, encodeCell, type Slice } from '@/lib/rollup/cell';

/** Minutes before that of the last fold that a tick under way may still write to. */
const HEAD_MINUTES = 2;
/** To the end of the rollups: a clock that was set back may have left minutes after the last fold. */
const LONGER_THAN_ANY_HEAD = 1_440;
/** Outboxes per statement: for an hour it returns some thousand rows. */
const TOGETHER = 25;

/** The newest end of the rollups, read together with how far they go. */
export interface Head {
  progress: Progress;
  /** Minutes since the epoch: the head holds every slice from here on. */
  fromMinute: number;
  slices: readonly Slice[];
  /** When operators acted on the outbox; null if they never did. */
  acted: Acted | null;
}

/** Of whole minutes; where only hours are kept, an hour that lies partly outside is left out. */
export interface HistorySpan extends Omit<RollupSpan, 'tier' | 'series'> {
  /** One series and that of all types, with that the touched ones; every one when left out. */
  series?: string;
  /** The widest slices that will do, in minutes; days when left out. */
  widest?: number;
}

/** Reads rollups in the order of time. */
type Read = (span: RollupSpan) => Promise<Rollup[]>;
export type History = ReturnType<typeof openHistory>;

/** Calls made at the same time share statements, TOGETHER outboxes each. */
export const openHistory = ({ db }: Store) => ({
  /** `head` is null while nothing is collected; `open`: since when verdicts hold, as entered. */
  head: gather(TOGETHER, (outboxes: readonly string[]) => headsOf(db, outboxes)),
  rollups: gather(TOGETHER, (spans: readonly RollupSpan[]) => readRollupsOf(db, spans)),
  seriesEver: (outbox: string) => readSeries(db, outbox),
});

/** In one snapshot, so that progress and rollups fit together. */
function headsOf(db: StoreDb, outboxes: readonly string[]) {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const states = await findCollectorStates(tx, outboxes);
      const known = outboxes.flatMap((outbox) => {
        const { state = 'null', acted = null } = states.get(outbox) ?? {};
        const progress = parseProgress(state);
        return progress === null ? [] : [{ outbox, progress, acted, fromMinute: minuteOf(progress.foldedTo) - HEAD_MINUTES }];
      });
      const spans = known.map(({ outbox, fromMinute }): RollupSpan => {
        return { outbox, tier: 'minute', fromMinute, toMinute: fromMinute + LONGER_THAN_ANY_HEAD };
      });
      const rollups = await readRollupsOf(tx, spans);
      const open = await openVerdictSpans(tx, outboxes);
      const slicesAt = (at: number): Slice[] => (rollups[at] ?? []).map((rollup) => sliceOfWidth(rollup, 1));
      const heads = new Map(known.map(({ outbox, ...head }, at) => [outbox, { ...head, slices: slicesAt(at) }]));
      return outboxes.map((outbox) => ({ head: heads.get(outbox) ?? null, open: open.get(outbox) ?? new Map() }));
    });
}

const minuteOf = (iso: string): number => Math.floor(Date.parse(iso) / 60_000);
const sliceOfWidth = ({ data, ...rollup }: Rollup, width: number): Slice => ({ ...rollup, width, cell: decodeCell(data) });

/** The width of each tier's slices in minutes, widest first. */
const TIERS = Object.entries({ day: DAY_MINUTES, hour: HOUR_MINUTES, minute: 1 } satisfies Record<Tier, number>) as [Tier, number][];

/** The slices of a span in the order of time: days that were summed, then hours, then minutes, as the series of all types has them. */
export async function slicesOf(read: Read, { widest = DAY_MINUTES, ...span }: HistorySpan): Promise<Slice[]> {
  const { outbox, series } = span;
  const wholeDays = widest < DAY_MINUTES ? await daysWatchedWhole(read, span) : [];
  const slices: Slice[] = [];
  let open: [number, number][] = [[span.fromMinute, span.toMinute]];
  for (const [tier, width] of TIERS.filter((one) => one[1] <= widest)) {
    const left: [number, number][] = [];
    for (const [from, to] of open) {
      const [fromMinute, toMinute] = [Math.ceil(from / width) * width, Math.floor(to / width) * width];
      const named = series === undefined ? undefined : [ALL_TYPES, series === ALL_TYPES ? TOUCHED : series];
      const wanted = { outbox, tier, series: named, fromMinute, toMinute };
      const known = tier === 'hour' ? wholeDays.filter((day) => day >= fromMinute && day + DAY_MINUTES <= toMinute) : [];
      const rollups = toMinute <= fromMinute ? [] : await (known.length === 0 ? read(wanted) : readAround(read, wanted, known));
      const covered = new Set(rollups.filter((rollup) => rollup.series === ALL_TYPES).map(({ atMinute }) => atMinute));
      slices.push(...rollups.filter(({ atMinute }) => covered.has(atMinute)).map((rollup) => sliceOfWidth(rollup, width)));
      left.push(...uncovered([from, to], [...covered], width));
    }
    open = left;
  }
  return slices.sort((a, b) => a.atMinute - b.atMinute);
}

/** The first minute (since the epoch) of each day that its day slice says was watched throughout: its hours need no check. */
async function daysWatchedWhole(read: Read, { outbox, series, fromMinute, toMinute }: HistorySpan): Promise<number[]> {
  if (series === undefined || series === ALL_TYPES || toMinute - fromMinute < DAY_MINUTES) return [];
  const days = await read({ outbox, series: [ALL_TYPES], tier: 'day', fromMinute, toMinute: toMinute - DAY_MINUTES });
  return days.filter(({ data, provisional }) => !provisional && decodeCell(data).minutes >= DAY_MINUTES).map(({ atMinute }) => atMinute);
}

const WATCHED_HOUR = encodeCell({ ...emptyCell(), minutes: HOUR_MINUTES });

/** The hours of one type's series; for days watched throughout, those of all types are filled in, not read. */
async function readAround(read: Read, span: RollupSpan, wholeDays: readonly number[]): Promise<Rollup[]> {
  const found = await read({ ...span, series: span.series?.filter((series) => series !== ALL_TYPES) });
  for (const [fromMinute, toMinute] of uncovered([span.fromMinute, span.toMinute], wholeDays, DAY_MINUTES))
    found.push(...(await read({ ...span, series: [ALL_TYPES], fromMinute, toMinute })));
  for (const day of wholeDays) {
    for (let hour = day; hour < day + DAY_MINUTES; hour += HOUR_MINUTES)
      found.push({ series: ALL_TYPES, atMinute: hour, data: WATCHED_HOUR, provisional: false });
  }
  return found.sort((a, b) => a.atMinute - b.atMinute);
}

/** The parts of a range that these slices, in the order of time, do not cover. */
function uncovered([from, to]: [number, number], slices: readonly number[], width: number): [number, number][] {
  const left: [number, number][] = [];
  let at = from;
  for (const slice of slices) {
    if (slice > at) left.push([at, slice]);
    at = Math.max(at, slice + width);
  }
  if (at < to) left.push([at, to]);
  return left;
}
