import { DatabaseFailure } from '../failure';

/** Time between attempts to reach an unreachable database, in milliseconds: an attempt is cheap, and recovery is noticed within seconds. */
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 2_000;

export type AvailabilityState = 'unknown' | 'up' | 'down';

/** Whether a database is reachable. While that is unknown, or it is not, one caller at a time tries to connect for all. */
export class Availability {
  state: AvailabilityState = 'unknown';
  /** Start of the current state, in milliseconds since the epoch. */
  since: number;
  failure: DatabaseFailure | null = null;
  /** A connection broke: one caller alone opens the next one. */
  private doubtful = false;
  private retryAt = 0;
  private retryMs = RETRY_FIRST_MS;
  private attempt: { done: Promise<void>; end: () => void } | null = null;

  constructor(private readonly now: () => number = Date.now) {
    this.since = now();
  }

  /** Resolves when a connection may be opened or another caller's attempt ends; throws DatabaseFailure while unreachable. */
  async ready(): Promise<void> {
    if (this.state === 'down') {
      if (this.failure !== null && (this.attempt !== null || this.now() < this.retryAt)) throw again(this.failure);
      return;
    }
    if (this.attempt !== null) await this.attempt.done;
  }

  /** Whether the caller may open a connection now; one caller at a time while it is unknown whether that works. */
  begin(): boolean {
    if (this.state === 'up' && !this.doubtful) return true;
    if (this.attempt !== null || (this.state === 'down' && this.now() < this.retryAt)) return false;
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    this.attempt = { done, end };
    return true;
  }

  succeeded(): void {
    this.retryMs = RETRY_FIRST_MS;
    this.failure = null;
    this.become('up');
  }

  failed(failure: DatabaseFailure): void {
    this.failure = failure;
    this.retryAt = this.now() + this.retryMs;
    this.retryMs = Math.min(RETRY_MOST_MS, this.retryMs * 2);
    this.become('down');
  }

  /** A connection broke: the database may be unreachable. */
  doubt(): void {
    if (this.state === 'up') this.doubtful = true;
  }

  private become(state: AvailabilityState): void {
    if (this.state !== state) this.since = this.now();
    this.state = state;
    this.doubtful = false;
    this.attempt?.end();
    this.attempt = null;
  }
}

/** A new error for each caller, as a catcher may add to its trace. */
const again = ({ code, state, cause }: DatabaseFailure): DatabaseFailure => new DatabaseFailure(code, state, cause);
