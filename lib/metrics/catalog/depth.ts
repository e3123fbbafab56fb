import { sql } from 'kysely';
import { DEPTH_CAP, cappedAt, unavailable, type Count } from '@/lib/shared/measured';
import type { State } from '@/lib/shared/states';
import type { Axis } from '../base';
import type { Metric, Plot } from '../metric';
import { countLineOf, numberOf, pointSteps, toNumber, type Reading } from '../reading';
import type { Part } from '../sources';
import { count, isState } from '../spelling';

const ID = 'depth';
const PART_OF = { pending: 'waiting', retrying: 'waiting', processing: 'processing', dead: 'dead' } as const satisfies Partial<
  Record<State, Part>
>;
type DepthState = keyof typeof PART_OF;

/** Events by state now; the history of waiting and dead ones is worked out backwards from now. */
export const depthMetric: Metric = {
  id: ID,
  unit: 'events',
  help: 'Events that are pending, retrying, processing or dead now; waiting is pending and retrying together.',
  figures: ({ state }) => ({
    pending: count(isState(state, 'pending')),
    retrying: count(isState(state, 'retrying')),
    processing: count(isState(state, 'processing')),
    dead: count(isState(state, 'dead')),
  }),
  perType: ({ state }) => ({ waiting: count(isState(state, 'pending', 'retrying')), dead: count(isState(state, 'dead')) }),
  lines({ state, published, died, attempted }) {
    const n = { n: sql`count(*)` };
    // A row that left at an unknown time is left out of both ends, so that it never seems to wait for ever.
    const entered = sql`(${isState(state, 'pending', 'retrying')} or ${isState(state, 'published')} and ${published} is not null
      or ${isState(state, 'dead')} and ${died} is not null or ${isState(state, 'processing')} and ${attempted} is not null)`;
    return { created: { n: count(entered) }, published: n, died: n, claimed: n };
  },
  summary(reading) {
    const pending = depthOf(reading, 'pending');
    const retrying = depthOf(reading, 'retrying');
    const waiting = (pending.count === null ? 0 : raw(reading, 'pending')) + (retrying.count === null ? 0 : raw(reading, 'retrying'));
    return {
      depth: {
        pending,
        retrying,
        processing: depthOf(reading, 'processing'),
        dead: depthOf(reading, 'dead'),
        waiting: pending.count === null && retrying.count === null ? pending : bounded(reading, 'waiting', waiting),
      },
    };
  },
  byType: (reading, type) => ({
    waiting: reading.reach.waiting === 'complete' ? toNumber(type('waiting')) : null,
    dead: reading.reach.dead === 'complete' ? toNumber(type('dead')) : null,
  }),
  plots(reading) {
    const { traits, reach } = reading;
    const tellsLeaving = traits.createdAt && traits.publishedAt && reach.waiting === 'complete' && reach.published === 'complete';
    return {
      waiting: backwards(
        reading,
        'waiting',
        raw(reading, 'pending') + raw(reading, 'retrying'),
        tellsLeaving ? { came: 'created', went: ['published', 'died', 'claimed'] } : null,
      ),
      dead: backwards(
        reading,
        'dead',
        raw(reading, 'dead'),
        traits.deathTime && reach.dead === 'complete' ? { came: 'died', went: [] } : null,
      ),
    };
  },
};

const raw = (reading: Reading, state: DepthState): number => numberOf(reading, ID, state) ?? 0;

function depthOf(reading: Reading, state: DepthState): Count {
  const why = reading.traits.cannotShow[state];
  return why === null ? bounded(reading, PART_OF[state], raw(reading, state)) : unavailable(why);
}

/** What was counted: exact, or at least this many where the cap or the bound of the reading stopped the count. */
function bounded(reading: Reading, part: Part, counted: number): Count {
  if (reading.reach[part] !== 'cut') return cappedAt(counted, DEPTH_CAP);
  return { count: Math.min(counted, DEPTH_CAP), known: 'capped', why: 'too_many_rows' };
}

/** The number now, and before each step what it was without those that came and with those that went in it. */
function backwards(reading: Reading, part: Part, current: number, lines: { came: Axis; went: Axis[] } | null): Plot {
  const last = pointSteps(reading).length - 1;
  const values: (number | null)[] = Array.from({ length: last + 1 }, () => null);
  if (reading.reach[part] === 'absent') return { known: 'unavailable', values };
  values[last] = current;
  if (lines === null) return { known: reading.reach[part] === 'cut' ? 'capped' : 'exact', values };
  const came = countLineOf(reading, lines.came, ID, 'n');
  const went = lines.went.map((axis) => countLineOf(reading, axis, ID, 'n'));
  for (let at = last, value = current; at > 0; at -= 1) {
    // Before the oldest row the table still has, nothing is known.
    if ((came[at - 1] ?? null) === null) break;
    value = Math.max(0, value - (came[at] ?? 0) + went.reduce((sum, line) => sum + (line[at] ?? 0), 0));
    values[at - 1] = value;
  }
  return { known: 'estimated', values };
}
