/** What the owner of a run remembers of it in the store, and what readers are told. */
import { NO_COUNTS, type PauseReason, type Run, type RunCounts } from '@/lib/shared/runs/runs';
import { isFollowed } from '@/lib/shared/changes/fates';
import type { StoredRun } from '@/lib/store/runs';
import { BATCH_BEGIN, LADDER_BEGIN, type PaceState } from '../pace';

/** How long fates are looked at after the last change, in seconds. */
export const FOLLOWED_SECONDS = 3_600;

export interface RunProgress {
  counts: RunCounts;
  left: Record<string, number>;
  pace: PaceState;
  /** Events of the next batch. */
  batch: number;
  /** What is sent before its fates are awaited: its first batch, how many events are still to be sent, and when it began; null between two. */
  window: { first: number; left: number; at: number } | null;
  /** The last window of which something was sent, and when it ended, in milliseconds since the epoch, as all times here; none after a pause. */
  rested?: { from: number; sent: number; tookMs: number };
  /** Why it stopped by itself, until it goes on. */
  paused: PauseReason | null;
  /** Somebody said that it goes on after the first event, or nobody is asked. */
  confirmed: boolean;
  firstOutMs: number | null;
  /** Of one that failed again. */
  error: { id: string; error: string } | null;
  /** When it began by the clock of its database, and how long the oldest waiting event had waited then; null if its table cannot tell. */
  waited?: { at: string; ms: number } | null;
  goneIsOut: boolean;
}

/** `asks`: the plan warns, so that somebody has to say that it goes on after the first event. */
export const progressAtStart = (requested: number, goneIsOut: boolean, asks: boolean): RunProgress => ({
  counts: { ...NO_COUNTS, requested, remaining: requested },
  ...{ left: { remaining: requested }, pace: LADDER_BEGIN, batch: BATCH_BEGIN, window: null, paused: null, confirmed: !asks },
  ...{ firstOutMs: null, error: null, goneIsOut },
});

export const progressOf = ({ progress }: Pick<StoredRun, 'progress'>): RunProgress => JSON.parse(progress) as RunProgress;

/** As readers see it; `error` is not masked yet, `failed` says whose it is. */
export function runOf(run: StoredRun): { run: Run; failed: string | null } {
  const progress = progressOf(run);
  const { id, planId, outbox, operation, reason, source, maker, state, because, pace, createdAt, beganAt, endedAt, followedUntil } = run;
  return {
    failed: progress.error?.id ?? null,
    run: {
      ...{ id, plan: planId, outbox, operation, reason, source, maker: maker.name, state, because, pace },
      ...{ createdAt, beganAt, endedAt, followedUntil, asOf: run.updatedAt, before: run.before },
      ...progress.counts,
      followed: isFollowed(operation),
      goneIsOut: progress.goneIsOut,
      window: { size: progress.pace.size, next: progress.pace.next },
      firstOutMs: progress.firstOutMs,
      left: progress.left,
      error: progress.error?.error ?? null,
    },
  };
}
