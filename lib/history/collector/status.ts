import type { CollectorStatus } from '@/lib/shared/figures/collection';
import { countsRows } from './counts-rows';
import type { Progress } from './progress';
import { backfillOf } from './spans';

/** What an outbox's progress means to a person. */
export function statusOf(progress: Progress): CollectorStatus {
  const backfill = countsRows(progress.method) ? backfillOf(progress) : null;
  return {
    state: progress.blind ? 'blind' : backfill !== null ? 'backfilling' : progress.slowed ? 'slowed' : 'collecting',
    method: progress.method,
    foldedTo: progress.foldedTo,
    watchedSince: progress.watchedSince,
    backfill,
    everyMs: progress.everyMs,
    cost: progress.cost,
    advice: progress.advice,
  };
}

/** Of an outbox that nobody has looked at yet. */
export function notBegun(everyMs: number, blind: boolean): CollectorStatus {
  return {
    state: blind ? 'blind' : 'waiting',
    method: null,
    foldedTo: null,
    watchedSince: null,
    backfill: null,
    everyMs,
    cost: { statements: 0, rows: 0, milliseconds: 0 },
    advice: null,
  };
}
