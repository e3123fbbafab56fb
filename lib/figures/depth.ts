/** How many events wait, are being processed or are dead: now, and before that as sampled, or computed backwards from the changes since. */
import { DEPTH_CAP, cappedAt, unavailable, type Count, type Known } from '@/lib/shared/figures/measured';
import type { Summary, TypeFigures } from '@/lib/shared/model';
import { figuresIn, type Aggregates, type Reading } from '@/lib/live/reading';
import { TYPES_SHOWN } from '@/lib/live/reading-sql';
import type { Part } from '@/lib/outbox/scan/sources';
import { count, earliest, isState, iso } from '@/lib/outbox/scan/sql-terms';
import type { DepthSamples } from '@/lib/rollup/cell';
import type { Plot, SeriesInput, Step } from './series';

const PART_OF = { pending: 'waiting', retrying: 'waiting', processing: 'processing', dead: 'dead' } as const satisfies Record<string, Part>;
type DepthState = keyof typeof PART_OF;
type DepthOfType = Record<'waiting' | 'dead', number>;

export const DEPTH: Aggregates<Record<DepthState, number>, DepthOfType> = {
  owner: 'depth',
  showsTypes: true,
  figures: ({ state, deadCount }) => ({
    pending: count(isState(state, 'pending')),
    retrying: count(isState(state, 'retrying')),
    processing: count(isState(state, 'processing')),
    dead: deadCount,
  }),
  perType: ({ state }) => ({ waiting: count(isState(state, 'pending', 'retrying')), dead: count(isState(state, 'dead')) }),
};

export const OLDEST: Aggregates<{ at: string | null; dead: string | null }> = {
  owner: 'oldest-pending',
  figures: ({ traits, state, created, died }) => ({
    at: iso(earliest(created, isState(state, 'pending', 'retrying'))),
    // If dead rows are read by their creation, or by their death, those left out were created before.
    dead: iso(earliest(traits.deathTime ? died : created, isState(state, 'dead'))),
  }),
};

/** Waiting is pending and retrying together. */
export function depthOf(reading: Reading): Summary['depth'] {
  const pending = inState(reading, 'pending');
  const retrying = inState(reading, 'retrying');
  return {
    pending,
    retrying,
    processing: inState(reading, 'processing'),
    dead: inState(reading, 'dead'),
    waiting: pending.count === null && retrying.count === null ? pending : bounded(reading, 'waiting', waitingNow(reading)),
  };
}

/** A type without a row in the reading has none, unless the list of types was cut. */
export function depthOfType({ reach, deadDetailed, types }: Reading, type: string): Pick<TypeFigures, 'waiting' | 'dead'> {
  const row = types.find((one) => one.type === type);
  const none = row === undefined && types.length < TYPES_SHOWN ? 0 : null;
  const counted = (row?.figures[DEPTH.owner] ?? {}) as Partial<DepthOfType>;
  return {
    waiting: reach.waiting === 'complete' ? (counted.waiting ?? none) : null,
    dead: reach.dead === 'complete' && deadDetailed ? (counted.dead ?? none) : null,
  };
}

/** Since when the longest waiting event waits; null if rows were cut off in no particular order: the oldest one may not have been read. */
export const oldestPendingAt = (reading: Reading): string | null =>
  reading.reach.waiting === 'cut' && !reading.ordered.waiting ? null : (figuresIn(reading, OLDEST).at ?? null);

export function depthPlots(series: SeriesInput): Record<'waiting' | 'dead' | 'oldestAgeMs', Plot> {
  const { reading, totals, span } = series.input;
  const { traits, reach } = reading;
  // What an operator put back since then no longer shows that it had died.
  const tellsDeaths = traits.deathTime && reach.dead === 'complete' && !(Date.parse(totals?.acted?.last ?? '') >= span.fromMs);
  const tellsLeaving = traits.createdAt && traits.publishedAt && reach.waiting === 'complete';
  return {
    waiting: backwards(series, 'waiting', waitingNow(reading), {
      seen: ({ waitingMax }) => waitingMax,
      end: ({ waitingLast }) => waitingLast,
      change: tellsLeaving ? waitingChange : null,
    }),
    dead: backwards(series, 'dead', raw(reading, 'dead'), {
      seen: ({ deadLast }) => (deadLast < 0 ? null : deadLast),
      end: ({ deadLast }) => (deadLast < 0 ? null : deadLast),
      change: tellsDeaths ? ({ died }) => died : null,
    }),
    oldestAgeMs: oldestAges(series),
  };
}

function oldestAges({ input: { reading, span }, steps }: SeriesInput): Plot {
  const ages = steps.map(({ cell }) => {
    const age = cell?.depth?.oldestAgeMaxMs ?? -1;
    return age < 0 ? null : age;
  });
  const at = oldestPendingAt(reading);
  if (span.live && at !== null) ages[ages.length - 1] = Math.max(0, Date.parse(reading.asOf) - Date.parse(at));
  return { known: ages.every((age) => age === null) ? 'unavailable' : 'sampled', values: ages };
}

const raw = (reading: Reading, state: DepthState): number => figuresIn(reading, DEPTH)[state] ?? 0;

function waitingNow(reading: Reading): number {
  const shown = (['pending', 'retrying'] as const).filter((state) => reading.traits.cannotShow[state] === null);
  return shown.reduce((sum, state) => sum + raw(reading, state), 0);
}

function inState(reading: Reading, state: DepthState): Count {
  const why = reading.traits.cannotShow[state];
  return why === null ? bounded(reading, PART_OF[state], raw(reading, state)) : unavailable(why);
}

/** The count: exact, or a lower bound if the cap or the limit of the reading stopped it. */
function bounded(reading: Reading, part: Part, counted: number): Count {
  if (reading.reach[part] !== 'cut') return cappedAt(counted, DEPTH_CAP);
  return { count: Math.min(counted, DEPTH_CAP), known: 'capped', why: 'too_many_rows' };
}

/** Arrivals minus departures. */
const waitingChange = ({ cell, untold, died, claimed }: Step): number =>
  (cell?.created ?? 0) - untold - (cell?.published ?? 0) - died - claimed;

interface Backwards {
  /** The value to show for a watched step. */
  seen: (depth: DepthSamples) => number | null;
  end: (depth: DepthSamples) => number | null;
  /** By how much the number rose in a step; null if rows do not show it. */
  change: ((step: Step) => number) | null;
}

/** The number now; before that the samples or, where there are none, the number after it without the changes in between. */
function backwards({ input: { reading, span }, steps }: SeriesInput, part: Part, current: number, { seen, end, change }: Backwards): Plot {
  const values: (number | null)[] = steps.map(() => null);
  if (reading.reach[part] === 'absent') return { known: 'unavailable', values };
  const last = steps.length - 1;
  let known: Known = reading.reach[part] === 'cut' ? 'capped' : 'exact';
  let value = span.live ? current : null;
  if (value !== null) values[last] = value;
  for (let at = span.live ? last - 1 : last; at >= 0; at -= 1) {
    const depth = steps[at]?.cell?.depth ?? null;
    const after = steps[at + 1];
    if (depth !== null) {
      value = end(depth);
      values[at] = seen(depth);
      if (known === 'exact') known = 'sampled';
    } else {
      value = value === null || change === null || after?.cell == null ? null : Math.max(0, value - change(after));
      // The value at the end of a gap is known, but nothing is shown within it.
      if (value === null || steps[at]?.cell == null) continue;
      values[at] = value;
      known = 'estimated';
    }
  }
  return { known, values };
}
