/** Cells of the rollups, their bytes, and the slices of time they are for: minutes, and the hours and days above them. */
import { getOrMake } from '@/lib/shared/group-by';
import { addTo, mergeInto, type Histogram } from './histogram';

/** How the numbers of a cell are known; several bits may be set. */
export const HOW = {
  /** Latencies were seen at intervals, not read from rows. */
  sampled: 1,
  /** Counts are differences of the database's own statistics. */
  statistics: 2,
  /** Backfilled from rows: depth, retries and failed attempts of that time were not watched. */
  backfilled: 4,
  /** Rows were purged so soon after publishing that some may not have been counted. */
  purgedYoung: 8,
} as const;

/** Depth as the collector saw it, once per tick. */
export interface DepthSamples extends Record<'samples' | 'waitingSum' | 'waitingMax' | 'waitingLast', number> {
  /** -1 if the number of dead events is not known. */
  deadLast: number;
  /** The greatest age seen of the oldest waiting event; -1 if it is not known. */
  oldestAgeMaxMs: number;
}

/** One slice of time of one series. All numbers but `resolutionMs` and `depth` add up; counts are of events unless their name says otherwise. */
export interface Cell extends Record<'latencySumMs' | 'failures' | 'died', number> {
  /** Bits of HOW. */
  how: number;
  /** Minutes of the slice that were watched or read afterwards; only of the series of all types. The rest is a gap. */
  minutes: number;
  /** Published in the cell, with and without a latency. */
  published: number;
  /** Creation to publishing of those published in the cell. */
  latency: Histogram;
  /** Events published before they were created, as clocks disagree. They are in bucket 0 of `latency` too. */
  negative: number;
  /** Last claim to publishing of those published in the cell. */
  processing: Histogram;
  /** Created in the cell and collected since; what still waits is counted by the live reading. */
  created: number;
  /** Attempts beyond the first. */
  retries: number;
  /** If latencies are sampled: the longest time between two samples. Latencies below it are "at most". */
  resolutionMs: number;
  /** If latencies are sampled, how far their sum may be off: the variance (ms²) of the events seen waiting … */
  variance: number;
  /** … and, all the same way, that of the others (ms). Infinity in cells of a build that did not keep it. */
  biasMs: number;
  /** Only of the series of all types, and only of time that was watched. */
  depth: DepthSamples | null;
}

/** A cell with its place. */
export interface Slice {
  series: string;
  /** Its first minute since the epoch, and its length in minutes. */
  atMinute: number;
  width: number;
  cell: Cell;
  /** Rows of transactions that were still open may be missing from it. */
  provisional: boolean;
}

/** Whether these events were seen waiting at intervals, so that only their number and their mean are known. */
export const isSampled = ({ how }: Pick<Cell, 'how'>): boolean => (how & HOW.sampled) !== 0;

/** Not of a time of which only rows that came out later tell: what was created in it, and nothing else. */
export const isWatched = ({ minutes, published, failures, died, depth }: Cell): boolean =>
  minutes + published + failures + died > 0 || depth !== null;

/** The mean latency of sampled events in milliseconds, by Little's law; null if none was published. */
export const sampledMeanMs = ({ latencySumMs, published }: Cell): number | null => (published > 0 ? latencySumMs / published : null);

/** How far that mean may be off: two standard deviations, and the bias. Infinity if it was not kept. */
export const meanErrorMs = ({ variance, biasMs, published }: Cell): number => (2 * Math.sqrt(variance) + biasMs) / published;

const NO_EVENTS = { how: 0, minutes: 0, published: 0, negative: 0, created: 0, retries: 0, failures: 0, died: 0 };
const NO_TIMES = { latencySumMs: 0, resolutionMs: 0, variance: 0, biasMs: 0 };

export const emptyCell = (): Cell => ({ ...NO_EVENTS, ...NO_TIMES, latency: new Map(), processing: new Map(), depth: null });

const FLOATS = ['latencySumMs', 'variance', 'biasMs'] as const;
const COUNTS = ['minutes', 'published', 'negative', 'created', 'retries', 'failures', 'died'] as const;

/** Adds a cell to another. Cells have to come in the order of time: the last depth is that of the last one. */
export function addCell(sum: Cell, cell: Cell): void {
  sum.how |= cell.how;
  for (const name of [...COUNTS, ...FLOATS]) sum[name] += cell[name];
  sum.resolutionMs = Math.max(sum.resolutionMs, cell.resolutionMs);
  mergeInto(sum.latency, cell.latency);
  mergeInto(sum.processing, cell.processing);
  if (cell.depth !== null) sum.depth = sum.depth === null ? { ...cell.depth } : joinDepth(sum.depth, cell.depth);
}

/** The cells of single event types, by type. */
export function cellsOfTypes(cells: ReadonlyMap<string, Cell>): [string, Cell][] {
  return [...cells].flatMap(([series, cell]): [string, Cell][] => {
    const type = typeOfSeries(series);
    return type === null ? [] : [[type, cell]];
  });
}

/** Adds up slices by series; they have to come in the order of time. */
export function cellsBySeries(slices: readonly Pick<Slice, 'series' | 'cell'>[]): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  for (const { series, cell } of slices) addCell(getOrMake(cells, series, emptyCell), cell);
  return cells;
}

const joinDepth = (before: DepthSamples, after: DepthSamples): DepthSamples => ({
  ...after,
  samples: before.samples + after.samples,
  waitingSum: before.waitingSum + after.waitingSum,
  waitingMax: Math.max(before.waitingMax, after.waitingMax),
  oldestAgeMaxMs: Math.max(before.oldestAgeMaxMs, after.oldestAgeMaxMs),
});

const VERSION = 1;
/** The numbers of a cell in the order they are written; those of DEPTH plus what is beside them, so that "not known" is zero. */
const NUMBERS = ['how', ...COUNTS, 'resolutionMs'] as const;
const BESIDE: DepthSamples = { samples: 0, waitingSum: 0, waitingMax: 0, waitingLast: 0, deadLast: 1, oldestAgeMaxMs: 1 };
const DEPTH = Object.entries(BESIDE) as [keyof DepthSamples, number][];
const ERRORS = ['variance', 'biasMs'] as const;

/** A cell as the bytes that the store keeps. */
export function encodeCell({ depth, ...cell }: Cell): Buffer {
  const out: number[] = [];
  writeUint(out, VERSION);
  for (const name of NUMBERS) writeUint(out, cell[name]);
  writeFloat(out, cell.latencySumMs);
  writeHistogram(out, cell.latency);
  writeHistogram(out, cell.processing);
  writeUint(out, depth === null ? 0 : 1);
  if (depth !== null) for (const [name, more] of DEPTH) writeUint(out, depth[name] + more);
  // Behind the end of what older builds write and read, which stays the same.
  if (isSampled(cell)) for (const name of ERRORS) writeFloat(out, cell[name]);
  return Buffer.from(out);
}

/** Throws RangeError for bytes of another version, or that end too early. */
export function decodeCell(bytes: Buffer): Cell {
  const input = new ByteReader(bytes);
  const version = input.uint();
  if (version !== VERSION) throw new RangeError(`A cell of version ${String(version)} is not understood`);
  const cell = emptyCell();
  for (const name of NUMBERS) cell[name] = input.uint();
  cell.latencySumMs = input.float();
  cell.latency = readHistogram(input);
  cell.processing = readHistogram(input);
  if (input.uint() === 1)
    cell.depth = Object.fromEntries(DEPTH.map(([name, more]) => [name, input.uint() - more])) as unknown as DepthSamples;
  if (isSampled(cell)) for (const name of ERRORS) cell[name] = input.ended() ? Infinity : input.float();
  return cell;
}

/** Buckets in order, each as its distance from the one before, then its count. */
function writeHistogram(out: number[], histogram: Histogram): void {
  const cells = [...histogram].filter(([, count]) => Math.round(count) > 0).sort(([a], [b]) => a - b);
  writeUint(out, cells.length);
  let last = 0;
  for (const [bucket, count] of cells) {
    writeUint(out, bucket - last);
    writeUint(out, count);
    last = bucket;
  }
}

function readHistogram(input: ByteReader): Histogram {
  const histogram: Histogram = new Map();
  let bucket = 0;
  for (let cells = input.uint(); cells > 0; cells -= 1) {
    bucket += input.uint();
    addTo(histogram, bucket, input.uint());
  }
  return histogram;
}

/** A whole number from 0 to 2^53 - 1, in as few bytes as it needs (LEB128). */
function writeUint(out: number[], value: number): void {
  let rest = Math.max(0, Math.round(value));
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
}

function writeFloat(out: number[], value: number): void {
  const eight = Buffer.alloc(8);
  eight.writeDoubleLE(value);
  out.push(...eight);
}

/** Reads what these wrote; throws RangeError where the bytes end too early. */
class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  uint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.bytes[this.at];
      if (byte === undefined) throw new RangeError('A cell ends too early');
      this.at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  ended(): boolean {
    return this.at === this.bytes.length;
  }

  float(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }
}

export const HOUR_MINUTES = 60;
export const DAY_MINUTES = 1_440;
/** Minutes are kept this long; what is older is only in its hour. */
export const MINUTES_KEPT = 2 * DAY_MINUTES;
export const SLICE_MINUTES = { hour: HOUR_MINUTES, day: DAY_MINUTES } as const;

/** What is to be added, by minute since the epoch, then by series. */
export type Additions = Map<number, Map<string, Cell>>;

/** The cell of a series in a minute, created if it is missing. */
export function cellIn(additions: Additions, atMinute: number, series: string): Cell {
  const minute = getOrMake(additions, atMinute, () => new Map<string, Cell>());
  return getOrMake(minute, series, emptyCell);
}

export const sliceOf = (minute: number, tier: keyof typeof SLICE_MINUTES): number =>
  Math.floor(minute / SLICE_MINUTES[tier]) * SLICE_MINUTES[tier];

/** The first minute of the oldest hour whose minutes are kept. */
export const minutesKeptFrom = (nowMinute: number): number => sliceOf(nowMinute - MINUTES_KEPT, 'hour');

/** This many event types of an outbox have a series of their own; the rest share one. */
export const TYPES_KEPT = 200;
export const ALL_TYPES = '*';
/** The series of the types beyond TYPES_KEPT, and of events without a type. */
export const OTHER_TYPES = '~';

/** Latencies of events that operators changed, of all types: they are in no other series, which counts the events. */
export const TOUCHED = '!';

export const seriesOfType = (type: string): string => `=${type}`;

/** The event type of a series; null for ALL_TYPES, OTHER_TYPES and TOUCHED. */
export const typeOfSeries = (series: string): string | null => (series.startsWith('=') ? series.slice(1) : null);
