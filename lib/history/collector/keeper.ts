/** Collects one outbox while this process has its lease: ticks, recounts and backfills, each when it is due. */
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { LeaseLost, releaseLease, takeLease } from '@/lib/store/collector-leases';
import { within } from '@/lib/shared/async/within';
import type { Store } from '@/lib/store/store';
import { enter, sumOfCosts } from './progress';
import { type DepthNow, collect } from './collect';
import type { HoldsNow } from './incidents';
import { isSourceFailure, isTimeout, pauseAfter } from './clock';
import type { Observer } from './observers/observer';
import { observe } from './observe';
import { hasBackfill, backfill, recount } from './backfill';
import { openSession, type Session, type Timing } from './session';
import type { Queue } from '@/lib/shared/async/queue';

export interface CollectorParts {
  /** Uses the collector's own connections: ticks never wait for a screen's. */
  directory: OutboxDirectory;
  store: Store;
  observers: readonly Observer[];
  /** What waits now, from the reading that all viewers share; null if it is not known. */
  depthNow(outbox: string): Promise<DepthNow | null>;
  /** Which verdicts hold, from the same reading; null if nothing is known. Left out: when they began and ended is not entered. */
  holdsNow?(outbox: string): Promise<HoldsNow | null>;
  /** Called once per kind of failure in a row; the next tick retries. */
  onError(outbox: string, error: unknown): void;
}

interface KeeperOptions extends CollectorParts {
  owner: string;
  turns: Queue;
  /** For outboxes whose last read failed. */
  blindTurns: Queue;
  timing: Timing;
}

/** A depth that takes longer is left out. */
const DEPTH_WAIT_MS = 2_000;

export class Keeper {
  session: Session | null = null;
  blind = false;
  private renewAt = 0;
  private notedAt = 0;
  private failing: string | null = null;

  constructor(
    readonly id: string,
    private readonly options: KeeperOptions,
  ) {}

  /** Does what is due; returns the milliseconds until something is due again. Never throws. */
  async round(): Promise<number> {
    const { turns, blindTurns, timing } = this.options;
    try {
      if (!(await this.owns())) return timing.tickMs;
      // An unreachable server makes us wait for its connection: not in a turn that other outboxes wait for.
      const queue = this.blind ? blindTurns : turns;
      const failed = await queue.run(this.options.directory.database(this.id).id, () => this.work());
      await this.noteHolds();
      if (failed === null) this.failing = null;
      else this.complain(failed);
    } catch (error) {
      await this.failed(error);
      await this.noteHolds().catch((unnoted: unknown) => this.failed(unnoted));
    }
    return this.idleMs();
  }

  /** Before its next work it renews the lease, which tells that operators acted. */
  renew(): void {
    this.renewAt = 0;
  }

  async release(): Promise<void> {
    const { session } = this;
    this.session = null;
    if (session !== null) await releaseLease(this.options.store.db, session.lease).catch(() => undefined);
  }

  private async owns(): Promise<boolean> {
    const { store, owner, timing } = this.options;
    if (this.session !== null && Date.now() < this.renewAt) return true;
    const lease = await takeLease(store.db, this.id, owner, timing.leaseSeconds);
    this.renewAt = Date.now() + (timing.leaseSeconds * 1_000) / 3;
    if (lease === null) this.session = null;
    else if (this.session?.lease.epoch === lease.epoch) this.session.lease = lease;
    else this.session = await openSession(store, lease, timing);
    return this.session !== null;
  }

  /** Returns the error of an observer that failed if the rest could go on; null if none did. */
  private async work(): Promise<Error | null> {
    const { directory, store, observers } = this.options;
    const { session } = this;
    if (session === null) return null;
    const outbox = await directory.last(this.id);
    // Where only observers count, time in which they failed does not count as watched.
    let failed: Error | null = null;
    const observersFirst = session.choice !== null && session.choice.access === null;
    const unseen = observersFirst ? await observe(session, outbox, observers) : null;
    if (unseen !== null) throw unseen;
    if (Date.now() >= session.tickDueAt) {
      const began = Date.now();
      // Set first: a tick that fails is not retried at once.
      session.tickDueAt = began + session.pace.everyMs;
      const asked = this.options.depthNow(this.id).catch(() => null);
      const depth = within(asked, DEPTH_WAIT_MS);
      const { behind, tookMs } = await collect(session, outbox, store, depth);
      this.blind = false;
      session.tickDueAt = behind ? Date.now() + pauseAfter(tookMs) : began + session.pace.everyMs;
      await recount(session, outbox, store);
      failed = await session.causes.work(session.lease, outbox, store, await depth);
      session.observed = sumOfCosts(session.observed, session.causes.takeCost());
    }
    if (!observersFirst) failed = (await observe(session, outbox, observers)) ?? failed;
    if (hasBackfill(session) && Date.now() >= session.backfillDueAt) {
      const began = Date.now();
      session.backfillDueAt = began + session.pace.everyMs;
      session.backfillDueAt = began + pauseAfter(await backfill(session, outbox, store));
    }
    return failed;
  }

  private async noteHolds(): Promise<void> {
    const { session, options } = this;
    if (session === null || Date.now() < this.notedAt + options.timing.tickMs) return;
    this.notedAt = Date.now();
    const held = (await options.holdsNow?.(this.id)) ?? null;
    if (held !== null) await session.incidents.enter(options.store, session.lease, held);
  }

  private complain(error: unknown): void {
    // The table may have changed: its description is read again before the next tick.
    if (isSourceFailure(error) && !isTimeout(error)) this.options.directory.forget(this.id);
    const kind = error instanceof Error ? `${error.name} ${error.message}` : String(error);
    if (this.failing !== kind) this.options.onError(this.id, error);
    this.failing = kind;
  }

  private async failed(error: unknown): Promise<void> {
    const { session } = this;
    // Losing the lease to another replica is not a failure.
    if (!(error instanceof LeaseLost)) this.complain(error);
    if (session === null || !isSourceFailure(error)) {
      // The store may or may not have the last write: a new session reads its state.
      this.session = null;
      return;
    }
    session.pace.failed(isTimeout(error));
    if (isTimeout(error)) session.collectWidth.tooWide();
    session.tickDueAt = Math.max(session.tickDueAt, Date.now() + session.pace.everyMs);
    this.blind = !isTimeout(error);
    await this.tell(session).catch(() => (this.session = null));
  }

  /** Writes the state to the store, so that other replicas show it too. */
  private async tell(session: Session): Promise<void> {
    const { progress, pace } = session;
    if (progress === null || (progress.blind === this.blind && progress.everyMs === pace.everyMs)) return;
    const told = { ...progress, blind: this.blind, everyMs: pace.everyMs, slowed: pace.slowed };
    session.progress = await enter(this.options.store, session.lease, progress, told, { additions: new Map(), counts: false });
  }

  private idleMs(): number {
    const { session } = this;
    if (session === null) return this.options.timing.tickMs;
    const due = [session.tickDueAt, this.renewAt, ...[...session.rounds.values()].map(({ dueAt }) => dueAt)];
    if (hasBackfill(session)) due.push(session.backfillDueAt);
    return Math.max(0, Math.min(...due) - Date.now());
  }
}
