import type { LeftCode } from '@/lib/shared/runs/plans';
import { findRun } from '@/lib/store/runs';
import type { StoreDb } from '@/lib/store/store';
import { Problem } from '@/lib/shared/problems';
import { runFateOf } from '../codes';
import { loadJob, type Job } from './job';
import { progressOf } from './progress';

const AT_ONCE = 1_000;

/** Ids of the events that a run left for these reasons, in the plan's order. Throws Problem `not_found`. */
export async function leftoverIds(db: StoreDb, runId: string, codes: readonly LeftCode[]): Promise<string[]> {
  const run = await findRun(db, runId);
  if (run === null) throw new Problem('not_found', 'There is no such run');
  const job = await loadJob(db, run, progressOf(run).goneIsOut);
  const wanted = new Set<LeftCode | null>(codes);
  const positions: number[] = [];
  for (let position = 0; position < run.count; position += 1) if (wanted.has(whyLeft(job, position))) positions.push(position);
  const ids: string[] = [];
  for (let at = 0; at < positions.length; at += AT_ONCE) {
    for (const { id } of await job.eventsAt(positions.slice(at, at + AT_ONCE))) ids.push(id);
  }
  return ids;
}

/** Null of events that are out. */
function whyLeft(job: Job, position: number): LeftCode | null {
  if (job.isOpen(position)) return 'remaining';
  const outcome = job.outcome(position);
  if (outcome !== 'changed' || !job.followed) return outcome;
  const fate = runFateOf(job.fate(position));
  return fate === 'failedAgain' ? 'failed_again' : fate === 'waiting' ? 'waiting' : fate === 'notKnown' ? 'not_known' : null;
}
