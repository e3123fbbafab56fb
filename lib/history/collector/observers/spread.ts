/**
 * Durations of which only bounds are known: an event was there at one look and gone at the next. Putting each anywhere
 * between its bounds with the same chance widens what is narrow by a whole tick. Events begin at all moments of a tick, though,
 * and their bounds overlap in as many ways: the distribution that agrees with itself, each event spread over its bounds as all
 * events together are, comes close to the truth (Turnbull's estimate, here by a few rounds over what is remembered).
 */

/** What is remembered of durations: events by cell, older ones weighing less. */
export type Prior = [group: number, events: number][];

export interface Bounds {
  /** Milliseconds, `toMs` greater than `fromMs`. */
  fromMs: number;
  toMs: number;
  /** How many events. */
  events: number;
  /** It began and ended between two looks `toMs` apart: the longer it lasted, the less likely that was. */
  unseen: boolean;
}

const CELLS_PER_OCTAVE = 8;
/** Events after which one weighs 1/e; of many at once, what came before them weighs this much at least. */
const REMEMBERED = 500;
const FADED = 0.8;
/** Events that are spread evenly where nothing is remembered. */
const UNKNOWN = 0.1;
const ROUNDS = 6;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

const cellOf = (ms: number): number => (ms < 1 ? 0 : 1 + Math.floor(Math.log2(ms) * CELLS_PER_OCTAVE));
const startOf = (group: number): number => (group <= 0 ? 0 : 2 ** ((group - 1) / CELLS_PER_OCTAVE));

/** Cells up to the one that holds the longest duration: where each begins, and its width. */
function gridTo(longestMs: number): { starts: Float64Array; widths: Float64Array } {
  const starts = Float64Array.from({ length: cellOf(longestMs) + 2 }, (_, group) => startOf(group));
  return { starts, widths: starts.slice(0, -1).map((start, group) => (starts[group + 1] ?? start) - start) };
}

/**
 * A duration in milliseconds for each of the bounds, and what is to be remembered. The same input gives the same answer:
 * `drawn` is how many were placed before, so that places within equal bounds are spread over them and not thrown.
 */
export function spread(prior: Prior, drawn: number, bounds: readonly Bounds[]): { placesMs: number[]; prior: Prior } {
  if (bounds.length === 0) return { placesMs: [], prior };
  const { starts, widths } = gridTo(
    bounds.reduce(
      (longest, { toMs }) => Math.max(longest, toMs),
      prior.at(-1)?.[0] === undefined ? 0 : startOf((prior.at(-1)?.[0] ?? 0) + 1),
    ),
  );
  const events = bounds.reduce((sum, one) => sum + one.events, 0);
  const fading = Math.max(FADED, Math.exp(-events / REMEMBERED));
  const remembered = new Float64Array(widths.length);
  for (const [group, here] of prior) if (group < remembered.length) remembered[group] = here * fading;
  // The first guess is that things go on as they did.
  const before = remembered.reduce((sum, here) => sum + here, 0);
  const guess = remembered.map((here) => (before === 0 ? 0 : here * (1 + events / before)));
  let fit = new Fit(guess, starts, widths);
  for (let round = 1; round < ROUNDS; round += 1) fit = new Fit(fit.refined(remembered, bounds), starts, widths);
  const placesMs = bounds.map((one, index) => fit.place(one, ((drawn + index + 1) * GOLDEN) % 1));
  const next: Prior = [];
  for (const [group, here] of fit.refined(remembered, bounds).entries()) if (here > 0.001) next.push([group, rounded(here)]);
  return { placesMs, prior: next };
}

/** One state of the estimate: events by cell, and their sums below each cell, so that bounds cost the same however wide. */
class Fit {
  private readonly below: Float64Array;

  constructor(
    private readonly events: Float64Array,
    private readonly starts: Float64Array,
    private readonly widths: Float64Array,
  ) {
    this.below = new Float64Array(events.length + 1);
    for (const [group, here] of events.entries()) this.below[group + 1] = (this.below[group] ?? 0) + here;
  }

  /** What is remembered, and all bounds spread over their cells as this estimate says. */
  refined(remembered: Float64Array, bounds: readonly Bounds[]): Float64Array {
    const next = remembered.slice();
    // Cells that lie whole within bounds get shares of what they hold and of their width: kept as steps at both ends.
    const ofEvents = new Float64Array(next.length + 1);
    const ofWidths = new Float64Array(next.length + 1);
    const add = (steps: Float64Array, group: number, value: number): void => void (steps[group] = (steps[group] ?? 0) + value);
    for (const one of bounds) {
      const [first, last] = [cellOf(one.fromMs), cellOf(one.toMs)];
      if (one.unseen) {
        const weights = this.unseenWeights(one.toMs);
        const sum = weights.reduce((total, weight) => total + weight, 0);
        for (const [group, weight] of weights.entries()) add(next, group, (one.events * weight) / sum);
        continue;
      }
      const factor = one.events / this.within(one);
      for (const group of first === last ? [first] : [first, last]) add(next, group, factor * this.pieceOf(one, group));
      if (last - first < 2) continue;
      add(ofEvents, first + 1, factor);
      add(ofEvents, last, -factor);
      const perMs = (factor * UNKNOWN) / (one.toMs - one.fromMs);
      add(ofWidths, first + 1, perMs);
      add(ofWidths, last, -perMs);
    }
    let [events, width] = [0, 0];
    for (let group = 0; group < next.length; group += 1) {
      events += ofEvents[group] ?? 0;
      width += ofWidths[group] ?? 0;
      add(next, group, Math.max(0, events) * (this.events[group] ?? 0) + Math.max(0, width) * (this.widths[group] ?? 0));
    }
    return next;
  }

  /** The duration below which `share` of what is spread between the bounds lies. */
  place(one: Bounds, share: number): number {
    const last = cellOf(one.toMs);
    if (one.unseen) {
      const weights = this.unseenWeights(one.toMs);
      let left = share * weights.reduce((total, weight) => total + weight, 0);
      for (const [group, weight] of weights.entries()) {
        if (left <= weight && weight > 0) return this.between(one, group, left / weight);
        left -= weight;
      }
      return one.toMs;
    }
    const wanted = share * this.within(one);
    // The last cell below whose start there is less than wanted.
    let [low, high] = [cellOf(one.fromMs), last];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.within({ ...one, toMs: this.starts[middle] ?? 0 }, one.toMs - one.fromMs) < wanted) low = middle;
      else high = middle - 1;
    }
    const before = this.starts[low] ?? 0;
    const left = wanted - (before <= one.fromMs ? 0 : this.within({ ...one, toMs: before }, one.toMs - one.fromMs));
    return this.between(one, low, left / this.pieceOf(one, low));
  }

  private between(one: Bounds, group: number, share: number): number {
    const from = Math.max(one.fromMs, this.starts[group] ?? 0);
    const to = Math.min(one.toMs, this.starts[group + 1] ?? one.toMs);
    return from + (to - from) * Math.min(1, Math.max(0, share));
  }

  /** Events between the bounds, those spread evenly over `evenlyMs` among them. */
  private within({ fromMs, toMs }: Bounds, evenlyMs = toMs - fromMs): number {
    return this.upTo(toMs) - this.upTo(fromMs) + (UNKNOWN * (toMs - fromMs)) / evenlyMs;
  }

  private upTo(ms: number): number {
    const group = cellOf(ms);
    return (this.below[group] ?? 0) + ((this.events[group] ?? 0) * (ms - (this.starts[group] ?? 0))) / (this.widths[group] ?? 1);
  }

  /** Events in the part of a cell that lies between the bounds. */
  private pieceOf(one: Bounds, group: number): number {
    const from = Math.max(one.fromMs, this.starts[group] ?? 0);
    const to = Math.min(one.toMs, this.starts[group + 1] ?? one.toMs);
    const share = (to - from) / (this.widths[group] ?? 1);
    return Math.max(0, (this.events[group] ?? 0) * share + (UNKNOWN * (to - from)) / (one.toMs - one.fromMs));
  }

  private unseenWeights(toMs: number): number[] {
    const one = { fromMs: 0, toMs, events: 1, unseen: true };
    return Array.from({ length: cellOf(toMs) + 1 }, (_, group) => {
      const middle = this.between(one, group, 0.5);
      return this.pieceOf(one, group) * (1 - middle / toMs);
    });
  }
}

const rounded = (weight: number): number => Math.round(weight * 1_000) / 1_000;
