/** How many events of a run go next, how long it rests, and when it stops by itself. Pure. */
import { BATCH_EVENTS_MAX, type Pace, type PauseReason } from '@/lib/shared/runs/runs';

/** The first windows: what fails, fails on few events. */
export const LADDER = [1, 2, 5, 20, 100] as const;
/** Events of the windows in which a single failure for the same cause stops a run. */
export const TRIAL_EVENTS = 28;
export const WINDOW_MAX = 5_000;
/** How long fates may take before windows get smaller, in milliseconds: so long do fresh events wait behind them. */
export const WINDOW_MS = 2_000;
/** Windows below this say more about when a relay looks than about how fast it is. */
const TELLING = LADDER[2];
/** Of so many events or more, this part may fail. */
export const FAILED_OF = 100;
export const FAILED_PART = 0.05;

export interface PaceState {
  /** Windows sent since the ladder began; events of them; and those of the last windows, until there are FAILED_OF, with how many failed. */
  step: number;
  sent: number;
  recent: { sent: number; failed: number };
  /** Events tried since one was changed. */
  vain: number;
  /** Events of the last window, and of the next. */
  size: number;
  next: number;
}

export const LADDER_BEGIN: PaceState = { step: 0, sent: 0, recent: { sent: 0, failed: 0 }, vain: 0, size: 0, next: LADDER[0] };

/** What became of a window: of the events that were changed. */
export interface WindowEnd {
  sent: number;
  /** From its first batch until each had a fate. */
  tookMs: number;
  /** Their fates came all at one look: a relay that looks now and then is not slow. */
  together: boolean;
  /** How many failed again; for the same cause as before; and whether that can be told of all. */
  failed: number;
  same: number;
  comparable: boolean;
}

const recentOf = ({ recent }: PaceState, { sent, failed }: WindowEnd): PaceState['recent'] =>
  recent.sent >= FAILED_OF ? { sent, failed } : { sent: recent.sent + sent, failed: recent.failed + failed };

/** Why the run stops after this window; null if it goes on. */
export function stopAfter(state: PaceState, window: WindowEnd): PauseReason | null {
  const { sent, failed, same, comparable } = window;
  if (failed === 0) return null;
  const all = same === failed ? 'same_cause' : 'failed_again';
  // Another failure of all that go first is as good a reason.
  if (state.sent < TRIAL_EVENTS) return same > 0 ? 'same_cause' : !comparable || failed * 2 >= sent ? 'failed_again' : null;
  const recent = recentOf(state, window);
  return recent.failed >= FAILED_PART * Math.max(FAILED_OF, recent.sent) ? all : null;
}

/** Most events at once, so that a rate is one over each few seconds. */
export const ratedMax = ({ ratePerSecond: rate }: Pace) =>
  rate === null ? WINDOW_MAX : Math.max(1, Math.floor((rate * WINDOW_MS) / 1_000));

/** One in so many of those tried in vain so far may be tried at once. */
const VAIN_PART = 10;

/**
 * The state after a window whose events all have fates. One of which nothing was changed says nothing; after many of those, more are tried at
 * once: of a plan whose events all changed since, one at a time would take hours.
 */
export function afterWindow(state: PaceState, window: WindowEnd, pace: Pace): PaceState {
  const { sent, tookMs, together } = window;
  const rated = ratedMax(pace);
  if (sent === 0) {
    const vain = state.vain + state.next;
    return { ...state, vain, next: Math.max(state.next, Math.floor(Math.min(LADDER[3], vain / VAIN_PART, rated))) };
  }
  const step = state.step + 1;
  const rung = LADDER[step];
  const fitting = (sent * WINDOW_MS) / Math.max(1, tookMs);
  const wanted =
    rung !== undefined && sent < TELLING ? rung : tookMs <= WINDOW_MS ? Math.min(rung ?? 2 * sent, fitting) : together ? sent : fitting;
  const next = Math.max(1, Math.floor(Math.min(wanted, rated, WINDOW_MAX)));
  return { step, sent: state.sent + sent, recent: recentOf(state, window), vain: 0, size: sent, next };
}

/** How long nothing is sent after a window of which something was, in milliseconds. */
export function restAfter({ sent, tookMs }: Pick<WindowEnd, 'sent' | 'tookMs'>, { share, ratePerSecond }: Pace): number {
  const least = ratePerSecond === null ? 0 : (sent / ratePerSecond) * 1_000 - tookMs;
  return Math.max(0, least, tookMs * (1 / share - 1));
}

/** Pauses that somebody ends because the cause is gone: what goes on begins with one event. */
const OF_FAILURE: readonly (PauseReason | null)[] = ['same_cause', 'failed_again', 'relay_takes_nothing', 'fresh_events_wait'];

export const afterPause = (state: PaceState, because: PauseReason | null): PaceState =>
  OF_FAILURE.includes(because) ? LADDER_BEGIN : state;

export const BATCH_BEGIN = 50;
const [SLOW_MS, FAST_MS] = [50, 25];

/** Most events of the next batch, as its transaction holds locks. It grows after two quick ones, the last of as many events: one may be luck. */
export function nextBatch(size: number, sent: number, tookMs: number, tookBeforeMs: number): number {
  if (tookMs > SLOW_MS) return Math.min(size, Math.max(BATCH_BEGIN, Math.floor(size / 2)));
  return Math.max(tookMs, tookBeforeMs) < FAST_MS && sent >= size ? Math.min(BATCH_EVENTS_MAX, Math.ceil(size * 1.25)) : size;
}
