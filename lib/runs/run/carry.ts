/**
 * Carries out one run under a lease, step by step. Every step leaves the store such that another process can go on from there: a batch is
 * declared before it is sent, and its answer and the next declaration are one transaction.
 */
import type { Transaction } from 'kysely';
import { intervene } from '@/lib/interventions/intervene';
import { findKey } from '@/lib/interventions/settle';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import { INTERVENTION_MS } from '@/lib/shared/changes/intervention-time';
import type { InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { PauseReason } from '@/lib/shared/runs/runs';
import { LeaseLost, underLease, type Lease } from '@/lib/store/collector-leases';
import {
  answerBatch,
  changeRun,
  declareBatch,
  isBatchOld,
  declareBatchAgain,
  stateOfRun,
  takeBatchBack,
  writeFates,
  type BatchAnswer,
  type StoredRun,
} from '@/lib/store/runs';
import type { StoreTables } from '@/lib/store/tables';
import { findPlan, type PlanRow } from '@/lib/store/plans';
import { LADDER_BEGIN, afterPause, afterWindow, nextBatch, ratedMax, restAfter, stopAfter, type WindowEnd } from '../pace';
import { timing, type RunDeps } from './deps';
import { isGoing, isTooSlow, ofStore, stopBefore, stopsFor, StoreAway } from './going';
import { loadJob, type Choice, type Job, type JobBatch } from './job';
import { hasFailed, hasFate, Looking, oldestWaiting, type Looked } from './looking';
import { FOLLOWED_SECONDS, progressOf, type RunProgress } from './progress';

/** Nothing to do until somebody says so. */
export const IDLE = Infinity;
const RETRY_MOST_MS = 15_000;

interface Writing {
  answer?: BatchAnswer;
  /** The number of a batch that was not committed. */
  withdrawn?: number;
  choice?: Choice;
  fates?: Iterable<number>;
  /** Why nothing is sent any more. */
  pause?: PauseReason | null;
  done?: boolean;
}

export class Carrying {
  private readonly progress: RunProgress;
  private readonly looking: Looking;
  /** Whether the declared batch may have been committed. */
  private doubt: boolean;
  /** Of a batch that was declared and not sent yet: how long ago. */
  private unsent: (() => number) | null = null;
  private tries = 0;
  private retryAt = 0;
  private steppedAt = 0;
  private failing: string | null = null;
  /** Why the declared batch was refused, though it may have been committed before; null: as smaller ones it may pass. */
  private refused: PauseReason | null | undefined;
  private tookBeforeMs = Infinity;
  private lockedAt = 0;
  private lastFateAt = Date.now();
  private fateLooks = 0;
  private followAt = 0;
  private followPauseMs = 0;

  private constructor(
    private readonly deps: RunDeps,
    private readonly lease: Lease,
    /** As read last. */
    private run: StoredRun,
    private readonly job: Job,
    private readonly plan: PlanRow,
  ) {
    this.progress = progressOf(run);
    // The time in which nobody carried it out says nothing of the relay.
    if (this.progress.window !== null) this.progress.window.at = Date.now();
    this.looking = new Looking(job);
    this.doubt = job.declared() !== null;
  }

  static async load(deps: RunDeps, lease: Lease, run: StoredRun): Promise<Carrying> {
    const { db } = deps.store;
    const plan = await findPlan(db, run.planId);
    if (plan === null) throw new Error(`the plan of run ${run.id} is gone`);
    return new Carrying(deps, lease, run, await loadJob(db, run, progressOf(run).goneIsOut), plan);
  }

  /** Takes up a run that is its turn. Throws LeaseLost, DatabaseFailure of the store. */
  async begin(): Promise<void> {
    const { progress } = this;
    if (progress.paused !== null) {
      progress.pace = afterPause(progress.pace, progress.paused);
      if (progress.pace === LADDER_BEGIN || progress.paused === 'first_is_out') progress.window = null;
      progress.confirmed ||= progress.paused === 'first_is_out';
      progress.paused = null;
    }
    delete progress.rested;
    if (progress.window !== null) progress.window.at = Date.now();
    this.lastFateAt = Date.now();
    this.retryAt = 0;
    this.refused = undefined;
    await this.inStore((db) => changeRun(db, this.run.id, ['queued'], { state: 'running', because: null, began: true, ...this.saved() }));
  }

  /** One step; returns the milliseconds until the next. Throws LeaseLost, and DatabaseFailure of the store: then it is loaded anew. */
  async step(row: StoredRun): Promise<number> {
    this.run = row;
    this.steppedAt = Date.now();
    const wait = this.retryAt - this.steppedAt;
    if (wait > 0) return wait;
    try {
      const next = await this.stepOn(row);
      if (this.retryAt <= Date.now()) this.tries = 0;
      return next;
    } catch (error) {
      if (error instanceof LeaseLost || error instanceof StoreAway || (error instanceof Problem && error.ofStore)) throw error;
      return this.failed(row, error);
    }
  }

  private async stepOn(row: StoredRun): Promise<number> {
    const { job, progress } = this;
    if (job.declared() !== null) return this.send(row);
    if (row.state === 'cancelled' && row.endedAt === null) return this.end(row.id);
    if (!isGoing(row)) return this.follow(row);
    const { rested } = progress;
    const rest = progress.window !== null || rested === undefined ? 0 : rested.from + restAfter(rested, row.pace) - Date.now();
    if (rest > 0) return rest;
    if (progress.window === null) {
      if (progress.waited === undefined) progress.waited = await oldestWaiting(await this.outbox(), null);
      progress.window = { first: job.nextNumber(), left: job.followed ? progress.pace.next : this.run.count, at: Date.now() };
      this.lastFateAt = Date.now();
      this.fateLooks = 0;
    }
    if (progress.window.left > 0) {
      const why = await this.check();
      const choice = this.choose();
      const locked = choice.again ? this.lockedAt + this.deps.timing.retryMs - Date.now() : 0;
      if (locked > 0) return locked;
      if (why !== null || choice.send.length + choice.blocked.length > 0) {
        await this.write(why === null ? { choice } : { pause: why });
        return 0;
      }
    }
    return this.awaitFates(row);
  }

  private choose = (most = this.job.followed ? Infinity : ratedMax(this.run.pace)): Choice =>
    this.job.choose(Math.min(most, this.progress.batch, this.progress.window?.left ?? 0));

  private freshWait = async () => this.looking.freshWait(await this.outbox(), this.progress, this.deps.timing);

  private outbox = () => this.deps.directory.get(this.run.outbox);

  private check = () => stopBefore(this.deps, this.run, this.plan);

  private keyOf = ({ n }: JobBatch): string => `run/${this.run.id}/${String(n)}`;

  /**
   * Sends the declared batch, if need be again: under its key it is the same intervention. One that was tried before is sent again only while
   * it may be; until that is certain, what may have been committed is sent again or looked for in any state.
   */
  private async send(row: StoredRun): Promise<number> {
    const { job, run, deps, lease } = this;
    const batch = job.declared();
    if (batch === null) return 0;
    let elapsedMs = this.unsent;
    this.unsent = null;
    if (elapsedMs === null) {
      if (!this.doubt && !isGoing(row)) return this.withdraw(row, batch, null);
      const why = this.refused === undefined ? await this.check() : this.refused;
      if (why !== null || this.refused === null) return this.withdraw(row, batch, why);
      elapsedMs = stopwatch();
      await this.inStore((db) => declareBatchAgain(db, lease, run.id, batch.n));
    }
    const { operation, reason, maker } = run;
    const events = (await ofStore(job.eventsAt(batch.positions))).map(({ id, version }) => ({ id, version }));
    const { deps: timed, tookMs } = timing(deps);
    const result = await intervene(timed, maker, run.outbox, { operation, reason, events }, this.keyOf(batch), elapsedMs);
    if (result.outcome === 'unknown') {
      this.doubt = true;
      await this.write({});
      return this.retryLater();
    }
    return this.take(row, batch, result, tookMs());
  }

  /** Keeps the answer to the declared batch, whatever becomes of the next. */
  private async take(row: StoredRun, { n, positions }: JobBatch, result: InterventionResult, tookMs: number | null): Promise<number> {
    const { job, progress } = this;
    // It was committed: whatever fails until its answer is taken, it is not one that was never sent.
    this.doubt = true;
    const answer = { n, interventionId: result.interventionId, outcomes: await job.answer(result), tookMs };
    this.doubt = false;
    this.lastFateAt = Date.now();
    if (result.skipped.some(({ code }) => code === 'locked')) this.lockedAt = Date.now();
    // What is not followed has one window for all of it, or one for each batch of a rate.
    const left = job.followed || row.pace.ratePerSecond === null ? (progress.window?.left ?? 0) - positions.length : 0;
    if (progress.window !== null) progress.window.left = Math.max(0, left);
    if (tookMs !== null) progress.batch = nextBatch(progress.batch, positions.length, tookMs, this.tookBeforeMs);
    this.tookBeforeMs = tookMs ?? Infinity;
    const stop = isGoing(row) ? await this.check().catch(() => undefined) : undefined;
    const choice = stop === null && (progress.window?.left ?? 0) > 0 ? this.choose() : undefined;
    await this.write({ answer, ...(choice?.again === false && { choice }), ...(stop != null && { pause: stop }) });
    return 0;
  }

  /** Takes a batch back that was not committed, and never will be; of one that was, the answer is taken. Later, while that is not certain. */
  private async withdraw(row: StoredRun, batch: JobBatch, pause: PauseReason | null): Promise<number> {
    const { run, job } = this;
    if (this.doubt) {
      // Asked before: whoever sent it last has no time left then.
      const isOver = await ofStore(isBatchOld(this.deps.store.db, run.id, batch.n, INTERVENTION_MS));
      const finding = await findKey(await this.outbox(), { outbox: run.outbox, actor: run.maker, key: this.keyOf(batch) });
      if (finding.kind === 'applied') return this.take(row, batch, finding.result, null);
      if (finding.kind === 'unknown' || !isOver) {
        await this.write({ pause });
        return this.retryLater();
      }
    }
    this.doubt = false;
    this.refused = undefined;
    job.withdraw();
    await this.write({ withdrawn: batch.n, pause });
    return 0;
  }

  /** One transaction of the store: what was learnt, and what follows from it if the run may still go on. */
  private async write({ answer, withdrawn, choice, fates, pause, done }: Writing): Promise<void> {
    const { lease, run, job, progress } = this;
    let n = job.nextNumber();
    const blocked = choice === undefined || choice.blocked.length === 0 ? null : { n: n++, positions: choice.blocked };
    const outcomes = blocked === null ? null : job.block(blocked.n, blocked.positions);
    const send = choice === undefined || choice.send.length === 0 ? null : { n, positions: choice.send };
    if (choice?.again === true && progress.window !== null) progress.window.left = choice.send.length;
    if (pause != null) progress.paused = pause;
    const elapsedMs = stopwatch();
    const declared = await this.inStore(async (db) => {
      const now = await stateOfRun(db, run.id);
      const going = now !== null && isGoing(now);
      if (answer !== undefined) await answerBatch(db, run.id, answer);
      if (withdrawn !== undefined) await takeBatchBack(db, run.id, withdrawn);
      if (blocked !== null) {
        await declareBatch(db, lease, run.id, blocked);
        await answerBatch(db, run.id, { n: blocked.n, interventionId: null, outcomes, tookMs: null });
      }
      if (fates !== undefined) {
        const batches = [...fates].map((one) => ({ n: one, fates: job.fatesOf(one) }));
        await writeFates(db, run.id, batches);
      }
      if (going && send !== null) await declareBatch(db, lease, run.id, send);
      const followedFor = (done === true || pause != null) && job.unsure(0).length > 0 ? FOLLOWED_SECONDS : null;
      const next = !going
        ? {}
        : done === true
          ? { state: 'done' as const, because: null, ended: true, followedFor }
          : pause != null
            ? { state: 'paused' as const, because: pause, followedFor }
            : { state: 'running' as const, because: null };
      await changeRun(db, run.id, now === null ? [] : [now.state], { ...next, ...this.saved() });
      return going && send !== null;
    });
    if (declared && send !== null) {
      job.declare(send.n, send.positions);
      this.unsent = elapsedMs;
    }
    this.failing = null;
  }

  private inStore = <T>(work: (db: Transaction<StoreTables>) => Promise<T>): Promise<T> =>
    ofStore(underLease(this.deps.store, this.lease, work));

  private saved = () => ({ progress: JSON.stringify(Object.assign(this.progress, this.job.counts(this.doubt))), epoch: this.lease.epoch });

  /** Looks at the events of the window, or, if it has none, at all that wait. */
  private async awaitFates(row: StoredRun): Promise<number> {
    const { job, progress, deps } = this;
    const { window } = progress;
    if (window === null) return 0;
    if (!job.followed) {
      progress.rested = { from: Date.now(), sent: Math.min(job.changedSince(window.first).length, ratedMax(row.pace)), tookMs: 0 };
      progress.window = null;
      return job.hasOpen() ? 0 : this.write({ done: true }).then(() => 0);
    }
    const ofWindow = job.changedSince(window.first);
    const looked = await this.look(ofWindow.length > 0 ? window.first : 0);
    const now = Date.now();
    if (looked.found > 0) {
      this.lastFateAt = now;
      this.fateLooks += 1;
    }
    const open = ofWindow.filter((position) => !hasFate(job, position)).length;
    const waits = ofWindow.length === 0 && !this.canSend() && job.hasOpen();
    if (open === 0 && !waits) return this.endWindow(looked, window, ofWindow);
    const isSilent = now - this.lastFateAt >= deps.timing.noFateMs;
    const why = isSilent ? 'relay_takes_nothing' : await this.freshWait();
    // With nothing left to send there is nothing to stop.
    if (why !== null) await this.write({ fates: looked.batches, ...(job.hasOpen() ? { pause: why } : { done: true }) });
    else if (looked.batches.size > 0 || row.state === 'paused') await this.write({ fates: looked.batches });
    if (waits) return deps.timing.lookMs;
    const perFate = (now - window.at) / Math.max(1, ofWindow.length - open);
    return Math.max(deps.timing.lookMs / 5, Math.min(deps.timing.lookMs, open * perFate));
  }

  private canSend = ({ send, blocked } = this.job.choose(1)): boolean => send.length + blocked.length > 0;

  private async look(first: number): Promise<Looked> {
    const looked = await this.looking.look(await this.outbox(), first);
    if (looked.error !== null) this.progress.error = looked.error;
    return looked;
  }

  private async endWindow(looked: Looked, window: NonNullable<RunProgress['window']>, positions: readonly number[]): Promise<number> {
    const { job, progress, looking } = this;
    const now = Date.now();
    const failed = positions.filter((position) => hasFailed(job, position));
    const same = failed.map((position) => looking.same.get(position) ?? null);
    const end: WindowEnd = {
      ...{ sent: positions.length, tookMs: now - window.at, together: this.fateLooks < 2, failed: failed.length },
      ...{ same: same.filter((one) => one === true).length, comparable: !same.includes(null) },
    };
    const out = positions.length - failed.length;
    let why = stopAfter(progress.pace, end);
    if (out > 0) progress.firstOutMs ??= end.tookMs;
    if (out > 0 && !progress.confirmed) why ??= 'first_is_out';
    why ??= await this.freshWait();
    progress.pace = afterWindow(progress.pace, end, this.run.pace);
    if (end.sent > 0) progress.rested = { from: now, sent: end.sent, tookMs: end.tookMs };
    progress.window = null;
    looking.same.clear();
    await this.write({ fates: looked.batches, ...(job.hasOpen() ? { pause: why } : { done: true }) });
    return 0;
  }

  /** A cancelled run is over once nothing of it is under way. */
  private async end(id: string): Promise<number> {
    const followedFor = this.job.unsure(0).length > 0 ? FOLLOWED_SECONDS : null;
    await this.inStore((db) => changeRun(db, id, ['cancelled'], { ended: true, followedFor, ...this.saved() }));
    return 0;
  }

  /** Looks at fates of a run that sends nothing, with growing pauses. */
  private async follow(row: StoredRun): Promise<number> {
    if (row.followedUntil === null) return IDLE;
    const { job, deps } = this;
    const wait = this.followAt - Date.now();
    if (wait > 0) return wait;
    const { timing } = deps;
    const isOver = job.unsure(0).length === 0 || Date.now() > Date.parse(row.followedUntil);
    if (isOver) {
      await this.inStore((db) => changeRun(db, row.id, [row.state], { followedFor: null }));
      return IDLE;
    }
    const looked = await this.look(0);
    if (looked.batches.size > 0) await this.write({ fates: looked.batches });
    this.followPauseMs =
      looked.batches.size > 0 ? timing.lookMs : Math.min(timing.followMs, Math.max(timing.lookMs, this.followPauseMs * 2));
    this.followAt = Date.now() + this.followPauseMs;
    return this.followPauseMs;
  }

  private retryLater(): number {
    const pause = Math.min(RETRY_MOST_MS, this.deps.timing.retryMs * 2 ** Math.min(10, this.tries));
    this.tries += 1;
    this.retryAt = Date.now() + pause;
    // The time in which nothing could be sent or looked at says nothing of the relay.
    const lost = this.retryAt - this.steppedAt;
    this.lastFateAt += lost;
    if (this.progress.window !== null) this.progress.window.at += lost;
    return pause;
  }

  /** This try changed nothing, or it is not known: the same is tried again later, or when somebody resumes it. */
  private async failed(row: StoredRun, error: unknown): Promise<number> {
    const stop = stopsFor(error, this.tries);
    const kind = String(error);
    if (!(error instanceof Problem) && this.failing !== kind) this.deps.onError(this.run.outbox, error);
    this.failing = kind;
    const batch = this.job.declared();
    const half = isTooSlow(error) ? Math.floor((batch?.positions.length ?? 0) / 2) : 0;
    if (half > 0) this.progress.batch = half;
    const pause = half > 0 && !this.doubt ? 0 : this.retryLater();
    if ((stop !== null || half > 0) && batch !== null && !this.doubt) return this.withdraw(row, batch, stop);
    this.refused = half > 0 ? null : batch === null ? undefined : (stop ?? undefined);
    // Once is nothing to speak of.
    if (stop === null && this.tries < 2) return pause;
    const because = stop ?? 'unavailable';
    await this.inStore(async (db) => {
      const now = await stateOfRun(db, row.id);
      if (now === null || !isGoing(now) || now.because === because) return;
      await changeRun(db, row.id, [now.state], { state: 'paused', because, ...this.saved() });
    });
    return pause;
  }
}
