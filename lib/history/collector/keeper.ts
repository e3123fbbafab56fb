/** Collects one outbox for as long as its lease is ours: looks, recounts, reads the past, each when it is time. */
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { LeaseLost, releaseLease, takeLease } from '@/lib/store/collector-leases';
import { within } from '@/lib/shared/async/within';
import type { Store } from '@/lib/store/store';
import { enter } from './books';
import type { DepthNow } from './depth';
import { isSourceFailure, isTimeout } from './failures';
import type { Lags } from './horizon';
import { look } from './look';
import type { Observer } from './observer';
import { observe, type Rounds } from './observing';
import { pauseAfter } from './pace';
import { hasPast, readPast } from './past';
import { recount } from './recount';
import { openSession, type Session } from './session';
import type { Turns } from './turns';

export interface KeeperOptions {
  directory: OutboxDirectory;
  store: Store;
  owner: string;
  observers: readonly Observer[];
  turns: Turns;
  /** For outboxes that could not be read the last time. */
  blindTurns: Turns;
  tickMs: number;
  leaseSeconds: number;
  lags: Lags;
  /** The share of the time that looks may take. */
  duty: number;
  /** How often recent minutes are recounted, in microseconds. */
  recountEvery: number;
  /** How far back the past is read, in microseconds. */
  retention: number;
  /** What waits now, by the reading that all viewers share; null when it is not known. */
  depthNow(outbox: string): Promise<DepthNow | null>;
  onError(outbox: string, error: unknown): void;
}

/** A depth that is late belongs to no look. */
const DEPTH_PATIENCE_MS = 2_000;

export class Keeper {
  session: Session | null = null;
  /** The observed database cannot be read at the moment. */
  blind = false;
  private renewedAt = 0;
  private lookDueAt = 0;
  private pastDueAt = 0;
  private rounds: Rounds = new Map();
  private failing: string | null = null;

  constructor(
    readonly id: string,
    private readonly options: KeeperOptions,
  ) {}

  /** Does what is due; answers in how many milliseconds something will be. Never throws. */
  async round(): Promise<number> {
    const { turns, blindTurns, tickMs } = this.options;
    try {
      if (!(await this.owns())) return tickMs;
      // A server that answers nobody keeps us waiting for its connection: not in the others' place.
      const failed = await (this.blind ? blindTurns : turns).take(this.options.directory.database(this.id).id, () => this.work());
      if (failed === null) this.failing = null;
      else this.complain(failed);
    } catch (error) {
      await this.failed(error);
    }
    return this.idleMs();
  }

  async release(): Promise<void> {
    const { session } = this;
    this.session = null;
    if (session !== null) await releaseLease(this.options.store.db, session.lease).catch(() => undefined);
  }

  private async owns(): Promise<boolean> {
    const { store, owner, leaseSeconds, lags, tickMs, duty } = this.options;
    if (this.session !== null && Date.now() - this.renewedAt < (leaseSeconds * 1_000) / 3) return true;
    const lease = await takeLease(store.db, this.id, owner, leaseSeconds);
    this.renewedAt = Date.now();
    if (lease === null) this.session = null;
    else if (this.session?.lease.epoch !== lease.epoch) {
      this.session = await openSession(store, lease, { lags, tickMs, duty });
      this.rounds = new Map();
      this.lookDueAt = 0;
    }
    return this.session !== null;
  }

  /** Answers what kept an observer from seeing where the rest could go on. */
  private async work(): Promise<Error | null> {
    const { directory, store, observers, retention, lags, recountEvery } = this.options;
    const { session } = this;
    if (session === null) return null;
    const outbox = await directory.last(this.id);
    // Where nothing but observers counts, time in which they could not see was not watched.
    const observersFirst = session.choice !== null && session.choice.access === null;
    const unseen = observersFirst ? await observe(session, outbox, observers, this.rounds) : null;
    if (unseen !== null) throw unseen;
    if (Date.now() >= this.lookDueAt) {
      const began = Date.now();
      // Due again in any case: what fails is not tried at once.
      this.lookDueAt = began + session.pace.everyMs;
      const depth = within(
        this.options.depthNow(this.id).catch(() => null),
        DEPTH_PATIENCE_MS,
      );
      const { behind, tookMs } = await look(session, outbox, store, { settleMicros: lags.settle, retention }, depth);
      this.blind = false;
      this.lookDueAt = behind ? Date.now() + pauseAfter(tookMs) : began + session.pace.everyMs;
      await recount(session, outbox, store, recountEvery);
    }
    const failed = observersFirst ? null : await observe(session, outbox, observers, this.rounds);
    if (hasPast(session) && Date.now() >= this.pastDueAt) {
      const began = Date.now();
      this.pastDueAt = began + session.pace.everyMs;
      this.pastDueAt = began + pauseAfter(await readPast(session, outbox, store));
    }
    return failed;
  }

  /** Once per kind of failure in a row. */
  private complain(error: unknown): void {
    // The table may be another one than it was: it is looked at again before the next look.
    if (isSourceFailure(error) && !isTimeout(error)) this.options.directory.forget(this.id);
    const kind = error instanceof Error ? `${error.name} ${error.message}` : String(error);
    if (this.failing !== kind) this.options.onError(this.id, error);
    this.failing = kind;
  }

  private async failed(error: unknown): Promise<void> {
    const { session } = this;
    // Passing a lease on is no failure.
    if (!(error instanceof LeaseLost)) this.complain(error);
    if (session === null || !isSourceFailure(error)) {
      // Whether the store took the last entry is not known: it is asked.
      this.session = null;
      return;
    }
    session.pace.failed(isTimeout(error));
    if (isTimeout(error)) session.foldWidth.tooWide();
    this.lookDueAt = Math.max(this.lookDueAt, Date.now() + session.pace.everyMs);
    this.blind = !isTimeout(error);
    await this.tell(session).catch(() => (this.session = null));
  }

  /** So that other replicas show it too. */
  private async tell(session: Session): Promise<void> {
    const { progress, pace } = session;
    if (progress === null || (progress.blind === this.blind && progress.everyMs === pace.everyMs)) return;
    const told = { ...progress, blind: this.blind, everyMs: pace.everyMs, slowed: pace.slowed };
    session.progress = await enter(this.options.store, session.lease, progress, told, { additions: new Map(), counts: false });
  }

  private idleMs(): number {
    const { tickMs, leaseSeconds } = this.options;
    const { session } = this;
    if (session === null) return tickMs;
    const due = [this.lookDueAt, this.renewedAt + (leaseSeconds * 1_000) / 3, ...[...this.rounds.values()].map(({ dueAt }) => dueAt)];
    if (hasPast(session)) due.push(this.pastDueAt);
    return Math.max(0, Math.min(...due) - Date.now());
  }
}
