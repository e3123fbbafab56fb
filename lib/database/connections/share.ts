/** Limits the connections of one kind of work to one server. Idle ones count; one is closed when another database needs a connection in its turn. */
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { DatabaseFailure } from '../failure';
import type { Availability } from './availability';

/**
 * Opening a connection costs a server more than most reads. Callers are served in order, but for so long a database keeps the connection
 * it opened for all of its reads, those that come a pause after the one before too; and one that has a connection takes none of another's
 * until its caller has waited that long.
 */
const TURN_MS = 1_000;
const PAUSE_MS = 30;
/** Screens and collectors come back sooner; a connection that is idle for longer has nobody who reads by turns. */
const LEFT_MS = 10_000;
const IDLE_MS = 30_000;

export interface Source<C> {
  /** Calls `onLost` when the connection ends, in use or idle. Throws the driver's error. */
  open(onLost: (connection: C) => void): Promise<C>;
  /** Resolves when it is closed; never rejects. */
  close(connection: C): Promise<void>;
  failure(error: unknown): DatabaseFailure;
}

/** The connections to one database for one kind of work, as an engine's driver uses them. */
export interface Lane<C> {
  /** Throws DatabaseFailure `connection` if none can be opened, `busy` if it got none for `acquireTimeoutMs`. */
  acquire(): Promise<C>;
  /** `broken`: it must not be used again. */
  release(connection: C, broken: boolean): void;
  /** Closes idle connections now, and those in use when they are released. */
  end(): Promise<void>;
}

export interface LaneOptions {
  max: number;
  /** Longest wait for a connection, in milliseconds. */
  acquireTimeoutMs: number;
  /** null: every caller tries to connect, even right after a failed attempt. */
  availability: Availability | null;
}

export type LaneCounts = Record<'inUse' | 'idle' | 'waiting', number>;

interface Waiter {
  lane: LaneOf<object>;
  /** Waits for longer than a turn. */
  late: boolean;
  /** Called with a connection, or with null if the waiter may open one. */
  serve(connection: object | null): void;
}

export class Share {
  /** Connections that are open or being opened. */
  open = 0;
  readonly lanes = new Set<LaneOf<object>>();
  private readonly queue: Waiter[] = [];
  private later: NodeJS.Timeout | null = null;

  constructor(readonly limit: number) {}

  lane<C extends object>(source: Source<C>, options: LaneOptions): Lane<C> & { readonly counts: LaneCounts } {
    const lane = new LaneOf<C>(this, source, options);
    this.lanes.add(lane);
    return lane;
  }

  waitingOf(lane: LaneOf<object>): number {
    return this.queue.filter((waiter) => waiter.lane === lane).length;
  }

  /** Waits for an idle connection of this lane or for permission to open one; null after `timeoutMs`. */
  async turn(lane: LaneOf<object>, timeoutMs: number): Promise<object | 'open' | null> {
    return new Promise((resolve) => {
      const timers = [
        setTimeout(() => {
          waiter.late = true;
          this.serve();
        }, TURN_MS),
        setTimeout(() => {
          this.queue.splice(this.queue.indexOf(waiter), 1);
          end(null);
        }, timeoutMs),
      ];
      const end = (turn: object | 'open' | null): void => {
        timers.forEach(clearTimeout);
        resolve(turn);
      };
      const waiter: Waiter = { lane, late: false, serve: (connection) => end(connection ?? 'open') };
      this.queue.push(waiter);
      this.serve();
    });
  }

  /** A connection of the lane was closed. */
  free(lane: LaneOf<object>): void {
    this.open -= 1;
    lane.opened -= 1;
    this.serve();
  }

  /** A connection was released; a waiter for the same database may take it over, else whoever's turn it is. */
  returned(lane: LaneOf<object>): void {
    const [first] = this.queue;
    const own = this.queue.find((waiter) => waiter.lane === lane);
    if (own !== undefined && (own === first || lane.hasTurn)) {
      const opened = lane.takeIdle();
      if (opened !== null) this.answer(own, opened);
    }
    this.serve();
  }

  /** Serves all waiters it can, in their order; those that wait for another's pause to end a little later. */
  private serve(): void {
    for (const waiter of [...this.queue]) {
      const { lane } = waiter;
      const opened = lane.takeIdle();
      if (opened !== null) this.answer(waiter, opened);
      else if (lane.opened < lane.max && this.hasPlace(waiter)) {
        this.open += 1;
        lane.opened += 1;
        if (lane.opened === 1) lane.turnSince = null;
        this.answer(waiter, null);
      }
    }
    if (this.queue.length > 0 && [...this.lanes].some(({ usedAt }) => usedAt > 0)) {
      this.later ??= setTimeout(() => {
        this.later = null;
        this.serve();
      }, PAUSE_MS);
    }
  }

  private answer(waiter: Waiter, connection: object | null): void {
    this.queue.splice(this.queue.indexOf(waiter), 1);
    waiter.serve(connection);
  }

  /** Whether one more may be opened; closes an idle one for that: one nobody came back for, else the one used last, which is needed last. */
  private hasPlace({ lane, late }: Waiter): boolean {
    if (this.open < this.limit) return true;
    if (lane.opened > 0 && !late) return false;
    const idle = [...this.lanes].filter(({ usedAt }) => usedAt > 0).sort((one, other) => one.usedAt - other.usedAt);
    const left = idle.toSorted((one, other) => one.idleSince - other.idleSince)[0];
    const isLeft = left !== undefined && left.idleSince < Date.now() - LEFT_MS;
    const given = isLeft ? left : idle.findLast(({ usedAt, hasTurn }) => !hasTurn || usedAt <= Date.now() - PAUSE_MS);
    if (given === undefined) return false;
    given.closeIdleOne(isLeft ? 'longest' : 'last');
    given.opened -= 1;
    this.open -= 1;
    return true;
  }
}

/** Lanes that share no limit: `max` connections each, and a caller waits for one at most `acquireTimeoutMs`. */
export const lanesOfOwn =
  (max: number, acquireTimeoutMs: number, availability: Availability | null = null) =>
  <C extends object>(source: Source<C>): Lane<C> =>
    new Share(max).lane(source, { max, acquireTimeoutMs, availability });

export class LaneOf<C extends object> implements Lane<C> {
  /** Connections open or being opened; counted by the share. */
  opened = 0;
  /** When the first of them was open; null before. */
  turnSince: number | null = null;
  readonly max: number;
  /** Idle connections, longest idle first. */
  private resting: { connection: C; since: number }[] = [];
  /** Connections that ended while in use. */
  private readonly lost = new WeakSet<object>();
  private ended = false;
  private sweep: NodeJS.Timeout | null = null;

  constructor(
    private readonly share: Share,
    private readonly source: Source<C>,
    private readonly options: LaneOptions,
  ) {
    this.max = Math.min(options.max, share.limit);
  }

  get counts(): LaneCounts {
    return { inUse: this.opened - this.resting.length, idle: this.resting.length, waiting: this.share.waitingOf(this) };
  }

  get hasTurn(): boolean {
    return this.turnSince !== null && Date.now() - this.turnSince < TURN_MS;
  }

  /** When the idle connection used last was; 0 if none is idle. */
  get usedAt(): number {
    return this.resting.at(-1)?.since ?? 0;
  }

  /** When the one idle for longest was used; 0 if none is idle. */
  get idleSince(): number {
    return this.resting[0]?.since ?? 0;
  }

  async acquire(): Promise<C> {
    const { availability, acquireTimeoutMs } = this.options;
    for (const until = Date.now() + acquireTimeoutMs; ;) {
      if (this.ended) throw new DatabaseFailure('connection', null, new Error('the pool is closed'));
      const found = this.takeIdle();
      if (found !== null) return found;
      await availability?.ready();
      const turn = await this.share.turn(this, Math.max(0, until - Date.now()));
      if (turn === null) throw new DatabaseFailure('busy', null, new Error('every connection allowed is in use'));
      if (turn !== 'open') return turn as C;
      // Meanwhile the database may have become unreachable, or another caller may be trying to connect.
      if (availability === null || availability.begin()) return this.open();
      this.share.free(this);
    }
  }

  release(connection: C, unusable: boolean): void {
    const broken = unusable || this.lost.delete(connection);
    if (broken || this.ended) {
      void this.close(connection);
      if (!broken) return;
      // The idle connections may be broken too.
      this.options.availability?.doubt();
      void this.closeResting();
      return;
    }
    this.resting.push({ connection, since: Date.now() });
    this.sweep ??= outsideRequests(() => setInterval(() => this.closeIdle(), IDLE_MS / 2).unref());
    this.share.returned(this);
  }

  async end(): Promise<void> {
    this.ended = true;
    if (this.sweep !== null) clearInterval(this.sweep);
    this.share.lanes.delete(this);
    await this.closeResting();
  }

  /** The most recently used one, so that the others can time out. */
  takeIdle(): C | null {
    return this.resting.pop()?.connection ?? null;
  }

  /** The one idle for longest, or the one used last. The share adjusts the counts. */
  closeIdleOne(which: 'longest' | 'last'): void {
    const one = which === 'last' ? this.takeIdle() : this.resting.shift()?.connection;
    if (one != null) void this.source.close(one);
  }

  private async open(): Promise<C> {
    const { availability } = this.options;
    try {
      const connection = await outsideRequests(() => this.source.open((ended) => this.lose(ended)));
      availability?.succeeded();
      this.turnSince ??= Date.now();
      return connection;
    } catch (error) {
      const failure = this.source.failure(error);
      availability?.failed(failure);
      this.share.free(this);
      throw failure;
    }
  }

  /** The connection ended: one in use fails at its next statement, or counts as broken when released. */
  private lose(connection: C): void {
    const at = this.resting.findIndex((one) => one.connection === connection);
    if (at === -1) {
      this.lost.add(connection);
      return;
    }
    this.resting.splice(at, 1);
    this.options.availability?.doubt();
    void this.close(connection);
  }

  private close(connection: C): Promise<void> {
    const closed = this.source.close(connection);
    this.share.free(this);
    return closed;
  }

  private async closeResting(): Promise<void> {
    await Promise.all(this.resting.splice(0).map(({ connection }) => this.close(connection)));
  }

  private closeIdle(): void {
    const before = Date.now() - IDLE_MS;
    const stale = this.resting.findLastIndex(({ since }) => since < before) + 1;
    for (const { connection } of this.resting.splice(0, stale)) void this.close(connection);
  }
}
