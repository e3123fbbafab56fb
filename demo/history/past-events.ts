import type { Random } from '../random';
import type { PastEvent } from '../schema/table';
import type { Story } from '../story/story';
import { timeline } from './timeline';

export interface PastOptions {
  /** Rows over seven days, about. */
  rows: number;
  /** Milliseconds from creation to publishing: the middle, and the spread of its logarithm. */
  medianMs: number;
  sigma: number;
  /** What `attempts` says on a row that went out at the first try. */
  firstAttempt: number;
  /** Dead events over the week, and what killed them; `{hex}` and `{n}` are filled in. */
  dead: { count: number; attempts: number; types: readonly string[]; errors: readonly [string, ...string[]] } | null;
  /** The relay has not published for this long; what was created since waits. */
  stoppedForMs: number;
}

const DAYS = 7;

/** Seven days of one outbox, oldest first, up to now. */
export function pastEvents(random: Random, story: Story, now: number, liveRate: number, options: PastOptions): PastEvent[] {
  const times = timeline({ random: random.fork('times'), now, days: DAYS, rows: options.rows, liveRate });
  const deadEvery = options.dead === null ? Number.POSITIVE_INFINITY : Math.floor((times.length * 0.85) / options.dead.count);
  let deadDue = Math.floor(deadEvery / 2);
  let dead = 0;
  return times.map((time, index) => {
    const event = story.next();
    const createdAt = new Date(time);
    if (
      options.dead !== null &&
      dead < options.dead.count &&
      index >= deadDue &&
      options.dead.types.includes(event.type) &&
      time < now - 3_600_000
    ) {
      deadDue += deadEvery;
      dead += 1;
      const error = random
        .pick(options.dead.errors)
        .replaceAll('{hex}', random.hex(8))
        .replaceAll('{n}', String(random.int(2, 900)));
      return {
        event,
        createdAt,
        state: 'dead',
        endedAt: new Date(time + random.int(4_000, 9_000)),
        attempts: options.dead.attempts,
        error,
      };
    }
    if (time > now - options.stoppedForMs) return { event, createdAt, state: 'pending', endedAt: null, attempts: 0, error: null };
    // A few needed several tries.
    const tries = random.chance(0.02) ? random.int(1, 3) : 0;
    const latency = random.logNormal(options.medianMs, options.sigma) + tries * 1_200;
    const endedAt = new Date(Math.min(time + latency, now - 50));
    return {
      event,
      createdAt,
      state: 'published',
      endedAt: endedAt < createdAt ? createdAt : endedAt,
      attempts: options.firstAttempt + tries,
      error: null,
    };
  });
}
