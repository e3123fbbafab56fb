import { ByteReader, ByteWriter } from './bytes';
import { addTo, mergeInto, type Histogram } from './histogram';

/** How the numbers of a slot came to be known; a slot of several kinds has several. */
export const HOW = {
  /** Latencies are what was seen at intervals, not what rows say. */
  sampled: 1,
  /** Counts are differences of the database's own statistics. */
  statistics: 2,
  /** Read from the rows afterwards: depth, retries and failed attempts of that time were not watched. */
  backfilled: 4,
  /** Rows were purged so soon after they were published that some may have gone before they were counted. */
  purgedYoung: 8,
} as const;

/** Depth as the collector saw it, once per tick. */
export interface DepthSamples {
  samples: number;
  waitingSum: number;
  waitingMax: number;
  waitingLast: number;
  /** -1 where this table cannot show dead events. */
  deadLast: number;
  /** Age of the oldest waiting event, the greatest seen; -1 where it is not known. */
  oldestAgeMaxMs: number;
}

/**
 * What is known of one slice of time of one series. All numbers add up when slices are put together; counts are of
 * events unless their name says otherwise.
 */
export interface Slot {
  /** Bits of HOW. */
  how: number;
  /** Minutes of the slice that were watched or read afterwards; only of the series of all types. The rest is a gap. */
  minutes: number;
  /** Published in the slot, with and without a latency. */
  published: number;
  /** Creation to publishing of those published in the slot. */
  latency: Histogram;
  latencySumMs: number;
  /** Those whose publishing lies before their creation: clocks that disagree. They are in bucket 0 of `latency` too. */
  negative: number;
  /** Last claim to publishing of those published in the slot. */
  processing: Histogram;
  /** Created in the slot and folded since; what still waits is counted by the live reading. */
  created: number;
  /** Attempts beyond the first. */
  retries: number;
  /** Attempts that failed. */
  failures: number;
  died: number;
  /** Where latencies are sampled: the longest time between two looks. Quantiles below it are "at most". */
  resolutionMs: number;
  /** Only of the series of all types, and only of time that was watched. */
  depth: DepthSamples | null;
}

export function emptySlot(): Slot {
  return {
    how: 0,
    minutes: 0,
    published: 0,
    latency: new Map(),
    latencySumMs: 0,
    negative: 0,
    processing: new Map(),
    created: 0,
    retries: 0,
    failures: 0,
    died: 0,
    resolutionMs: 0,
    depth: null,
  };
}

const COUNTS = ['minutes', 'published', 'latencySumMs', 'negative', 'created', 'retries', 'failures', 'died'] as const;

/**
 * Adds `share` of a slot to another. Slots have to come in the order of time: the last depth is that of the last one.
 */
export function addSlot(sum: Slot, slot: Slot, share = 1): void {
  sum.how |= slot.how;
  for (const name of COUNTS) sum[name] += slot[name] * share;
  sum.resolutionMs = Math.max(sum.resolutionMs, slot.resolutionMs);
  mergeInto(sum.latency, slot.latency, share);
  mergeInto(sum.processing, slot.processing, share);
  if (slot.depth !== null) sum.depth = sum.depth === null ? { ...slot.depth } : joinDepth(sum.depth, slot.depth);
}

function joinDepth(before: DepthSamples, after: DepthSamples): DepthSamples {
  return {
    samples: before.samples + after.samples,
    waitingSum: before.waitingSum + after.waitingSum,
    waitingMax: Math.max(before.waitingMax, after.waitingMax),
    waitingLast: after.waitingLast,
    deadLast: after.deadLast,
    oldestAgeMaxMs: Math.max(before.oldestAgeMaxMs, after.oldestAgeMaxMs),
  };
}

const VERSION = 1;

/** A slot as the store keeps it. */
export function encodeSlot(slot: Slot): Buffer {
  const out = new ByteWriter();
  out.uint(VERSION);
  out.uint(slot.how);
  for (const count of [
    slot.minutes,
    slot.published,
    slot.negative,
    slot.created,
    slot.retries,
    slot.failures,
    slot.died,
    slot.resolutionMs,
  ])
    out.uint(count);
  out.float(slot.latencySumMs);
  writeHistogram(out, slot.latency);
  writeHistogram(out, slot.processing);
  out.uint(slot.depth === null ? 0 : 1);
  if (slot.depth !== null) {
    const { samples, waitingSum, waitingMax, waitingLast, deadLast, oldestAgeMaxMs } = slot.depth;
    // One more, so that "not known" is zero.
    for (const value of [samples, waitingSum, waitingMax, waitingLast, deadLast + 1, oldestAgeMaxMs + 1]) out.uint(value);
  }
  return out.done();
}

/** Throws RangeError for bytes that no version of this build has written. */
export function decodeSlot(bytes: Buffer): Slot {
  const input = new ByteReader(bytes);
  const version = input.uint();
  if (version !== VERSION) throw new RangeError(`A slot of version ${String(version)} is not understood`);
  const slot = emptySlot();
  slot.how = input.uint();
  for (const name of ['minutes', 'published', 'negative', 'created', 'retries', 'failures', 'died', 'resolutionMs'] as const)
    slot[name] = input.uint();
  slot.latencySumMs = input.float();
  slot.latency = readHistogram(input);
  slot.processing = readHistogram(input);
  if (input.uint() === 1) {
    const samples = input.uint();
    slot.depth = {
      samples,
      waitingSum: input.uint(),
      waitingMax: input.uint(),
      waitingLast: input.uint(),
      deadLast: input.uint() - 1,
      oldestAgeMaxMs: input.uint() - 1,
    };
  }
  return slot;
}

/** Buckets in order, each as its distance from the one before, then its count. */
function writeHistogram(out: ByteWriter, histogram: Histogram): void {
  const cells = [...histogram].filter(([, count]) => Math.round(count) > 0).sort(([a], [b]) => a - b);
  out.uint(cells.length);
  let last = 0;
  for (const [bucket, count] of cells) {
    out.uint(bucket - last);
    out.uint(count);
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
