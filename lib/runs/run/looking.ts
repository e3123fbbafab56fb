/** What became of the events of a run: by key, while somebody waits for it. */
import { failureAs } from '@/lib/database/failure';
import { findFates, sentEvents, type Sent } from '@/lib/interventions/fates';
import { listEvents } from '@/lib/outbox/lists/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import { traitsOf } from '@/lib/outbox/scan/traits';
import type { EventFilter } from '@/lib/shared/model';
import { type Job, type JobBatch, isUnsure } from './job';
import type { RunDeps } from './deps';
import type { RunProgress } from './progress';
import { WINDOW_MAX } from '../pace';

/** Records read by one statement. */
const RECORDS_AT_ONCE = 10;

export interface Looked {
  /** Batches of which a fate is another one now. */
  batches: Set<number>;
  /** Events that have a fate, and had none. */
  found: number;
  /** Of one that failed again. */
  error: { id: string; error: string } | null;
}

/** Looks at the fates of one run; remembers what the records say of its events as long as their fates may change. */
export class Looking {
  private readonly sent = new Map<number, Sent>();
  /** Of events that failed again, whether for the same error; null if that cannot be told. */
  readonly same = new Map<number, boolean | null>();

  /** The batch at which the last look ended, if that was not all. */
  private lookedTo = 0;
  private lookedFreshAt = 0;

  constructor(private readonly job: Job) {}

  /**
   * Looks at events of batches from `first` on whose fates may change, a few thousand at most; of a window (`first` above 0) also at those
   * that another process saw fail, whose error only it knew. Throws DatabaseFailure.
   */
  async look(outbox: Outbox, first: number): Promise<Looked> {
    const { job, sent, same } = this;
    const looked: Looked = { batches: new Set(), found: 0, error: null };
    const unsure = job.unsure(first, (position) => first > 0 && hasFailed(job, position) && !same.has(position));
    const batchOf = new Map<number, JobBatch>();
    const from = this.lookedTo;
    this.lookedTo = 0;
    for (const { batch, positions } of [
      ...unsure.filter(({ batch: { n } }) => n > from),
      ...unsure.filter(({ batch: { n } }) => n <= from),
    ]) {
      if (batchOf.size >= WINDOW_MAX) break;
      this.lookedTo = batch.n;
      for (const position of positions) batchOf.set(position, batch);
    }
    if (batchOf.size === 0) return looked;
    const lacking = [...new Set([...batchOf].flatMap(([position, batch]) => (sent.has(position) ? [] : batch)))];
    await outbox.database.read(async (db) => {
      for (let at = 0; at < lacking.length; at += RECORDS_AT_ONCE) await this.remember(outbox, db, lacking.slice(at, at + RECORDS_AT_ONCE));
      const known = [...batchOf].flatMap(([position, batch]) => {
        const one = sent.get(position);
        return one === undefined ? [] : [{ position, batch, one }];
      });
      const remembered = known.map(({ one }) => one);
      const fates = await findFates(outbox, db, remembered);
      known.forEach(({ position, batch, one }, at) => {
        const fate = fates[at];
        if (fate === undefined) return;
        const had = hasFate(job, position);
        if (job.setFate(position, fate.fate)) looked.batches.add(batch.n);
        if (!had && hasFate(job, position)) looked.found += 1;
        if (hasFailed(job, position)) {
          same.set(position, fate.same);
          if (fate.error !== null) looked.error = { id: one.id, error: fate.error };
        }
        if (!isUnsure(fate.fate)) sent.delete(position);
      });
    });
    return looked;
  }

  /** Asked now and then: a reason to stop, if events created since the run began wait too long. */
  async freshWait(outbox: Outbox, progress: Pick<RunProgress, 'waited'>, timing: RunDeps['timing']): Promise<'fresh_events_wait' | null> {
    const { waited } = progress;
    if (waited == null || Date.now() < this.lookedFreshAt + timing.freshEveryMs) return null;
    this.lookedFreshAt = Date.now();
    const fresh = await oldestWaiting(outbox, waited.at);
    // Too slow to be asked again and again.
    if (fresh === null) progress.waited = null;
    return fresh !== null && fresh.ms > waited.ms + timing.freshMs ? 'fresh_events_wait' : null;
  }

  private async remember(outbox: Outbox, db: Parameters<typeof sentEvents>[1], batches: readonly JobBatch[]): Promise<void> {
    const interventions = batches.flatMap(({ interventionId }) => interventionId ?? []);
    const lines = await sentEvents(outbox, db, interventions);
    for (const { interventionId, positions } of batches) {
      const byId = new Map(lines.get(interventionId ?? '')?.map((one) => [one.id, one]));
      const events = await this.job.eventsAt(positions);
      positions.forEach((position, at) => {
        const one = byId.get(events[at]?.id ?? '');
        if (one !== undefined) this.sent.set(position, one);
      });
    }
  }
}

/** Whether the relay has dealt with it. */
export function hasFate(job: Job, position: number): boolean {
  const fate = job.fate(position);
  return fate !== 'notLooked' && fate !== 'waiting';
}

/** Dead again, or tried without success since. */
export const hasFailed = (job: Job, position: number): boolean => ['failedAgain', 'retrying'].includes(job.fate(position));

/**
 * How long the oldest event that waits has waited, of all or of those created since; null if the table cannot tell, as where events may be meant
 * for later, or not in time.
 */
export async function oldestWaiting(outbox: Outbox, since: string | null): Promise<{ at: string; ms: number } | null> {
  const { createdAt, dueTime } = traitsOf(outbox);
  if (!createdAt || dueTime) return null;
  const filter: EventFilter = { state: ['pending'], order: 'oldest', ...(since !== null && { from: since }) };
  const page = await listEvents(outbox, filter, { limit: 1 }).catch(failureAs(null, 'timeout'));
  if (page === null) return null;
  const created = page.events[0]?.createdAt ?? null;
  return { at: page.asOf, ms: created === null ? 0 : Math.max(0, Date.parse(page.asOf) - Date.parse(created)) };
}
