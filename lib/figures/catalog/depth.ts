import { DEPTH_CAP, cappedAt, unavailable, type Count, type Known } from '@/lib/shared/figures/measured';
import type { State } from '@/lib/shared/states';
import type { Line, Step } from '../series';
import type { Metric, Plot } from '../metric';
import { numberOf, toNumber, type Reading } from '@/lib/live/reading';
import type { DepthSamples } from '@/lib/rollup/cell';
import type { Part } from '@/lib/outbox/scan/source';
import { count, isState } from '@/lib/outbox/scan/sql-terms';

const ID = 'depth';
const PART_OF = { pending: 'waiting', retrying: 'waiting', processing: 'processing', dead: 'dead' } as const satisfies Partial<
  Record<State, Part>
>;
type DepthState = keyof typeof PART_OF;

/** Events by state now, and how many waited and were dead before: as was seen, or worked out backwards from what was. */
export const depthMetric: Metric = {
  id: ID,
  unit: 'events',
  help: 'Events that are pending, retrying, processing or dead now; waiting is pending and retrying together.',
  figures: ({ state, deadCount }) => ({
    pending: count(isState(state, 'pending')),
    retrying: count(isState(state, 'retrying')),
    processing: count(isState(state, 'processing')),
    dead: deadCount,
  }),
  perType: ({ state }) => ({ waiting: count(isState(state, 'pending', 'retrying')), dead: count(isState(state, 'dead')) }),
  summary({ reading }) {
    const pending = depthOf(reading, 'pending');
    const retrying = depthOf(reading, 'retrying');
    return {
      depth: {
        pending,
        retrying,
        processing: depthOf(reading, 'processing'),
        dead: depthOf(reading, 'dead'),
        waiting: pending.count === null && retrying.count === null ? pending : bounded(reading, 'waiting', waitingNow(reading)),
      },
    };
  },
  byType: ({ reading }, { now }) => ({
    waiting: reading.reach.waiting === 'complete' ? toNumber(now('waiting')) : null,
    dead: reading.reach.dead === 'complete' && reading.deadDetailed ? toNumber(now('dead')) : null,
  }),
  plots(line) {
    const { reading } = line.observed;
    const { traits, reach } = reading;
    const tellsLeaving = traits.createdAt && traits.publishedAt && reach.waiting === 'complete';
    return {
      waiting: backwards(line, 'waiting', waitingNow(reading), {
        seen: ({ waitingMax }) => waitingMax,
        end: ({ waitingLast }) => waitingLast,
        change: tellsLeaving ? waitingChange : null,
      }),
      dead: backwards(line, 'dead', raw(reading, 'dead'), {
        seen: ({ deadLast }) => (deadLast < 0 ? null : deadLast),
        end: ({ deadLast }) => (deadLast < 0 ? null : deadLast),
        change: traits.deathTime && reach.dead === 'complete' ? ({ died }) => died : null,
      }),
    };
  },
};

const raw = (reading: Reading, state: DepthState): number => numberOf(reading, ID, state) ?? 0;

function waitingNow(reading: Reading): number {
  const shown = (['pending', 'retrying'] as const).filter((state) => reading.traits.cannotShow[state] === null);
  return shown.reduce((sum, state) => sum + raw(reading, state), 0);
}

function depthOf(reading: Reading, state: DepthState): Count {
  const why = reading.traits.cannotShow[state];
  return why === null ? bounded(reading, PART_OF[state], raw(reading, state)) : unavailable(why);
}

/** What was counted: exact, or at least this many where the cap or the bound of the reading stopped the count. */
function bounded(reading: Reading, part: Part, counted: number): Count {
  if (reading.reach[part] !== 'cut') return cappedAt(counted, DEPTH_CAP);
  return { count: Math.min(counted, DEPTH_CAP), known: 'capped', why: 'too_many_rows' };
}

/** What came less what went. */
const waitingChange = ({ cell, untold, died, claimed }: Step): number =>
  (cell?.created ?? 0) - untold - (cell?.published ?? 0) - died - claimed;

interface History {
  /** What to show of a step that was watched. */
  seen: (depth: DepthSamples) => number | null;
  /** What there was at its end. */
  end: (depth: DepthSamples) => number | null;
  /** By how much the number rose in a step; null where rows do not tell. */
  change: ((step: Step) => number) | null;
}

/** The number now; before it what was seen, and where nobody looked what it was without the changes since. */
function backwards({ observed: { reading, span }, steps }: Line, part: Part, current: number, { seen, end, change }: History): Plot {
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
      // At the end of a gap it is known, in it nothing is.
      if (value === null || steps[at]?.cell == null) continue;
      values[at] = value;
      known = 'estimated';
    }
  }
  return { known, values };
}
