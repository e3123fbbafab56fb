import { DatabaseFailure } from '../failure';

/** Between attempts at a database that is away, in milliseconds: a tenth of a minute of doubt is too much, and one attempt costs little. */
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 2_000;

export type AvailabilityState = 'unknown' | 'up' | 'down';

/** Whether a database can be reached: while that is not known, or it is not, one caller at a time tries for all of them. */
export class Availability {
  state: AvailabilityState = 'unknown';
  /** Milliseconds since the epoch: since when it has been so. */
  since: number;
  failure: DatabaseFailure | null = null;
  /** A connection broke: the next one is tried by one caller alone. */
  private doubtful = false;
  private retryAt = 0;
  private retryMs = RETRY_FIRST_MS;
  private attempt: { done: Promise<void>; end: () => void } | null = null;

  constructor(private readonly now: () => number = Date.now) {
    this.since = now();
  }

  /** Resolves when a connection may be opened, or another caller's attempt has ended; throws DatabaseFailure while it is away. */
  async ready(): Promise<void> {
    if (this.state === 'down') {
      if (this.failure !== null && (this.attempt !== null || this.now() < this.retryAt)) throw again(this.failure);
      return;
    }
    if (this.attempt !== null) await this.attempt.done;
  }

  /** Whether the caller may open a connection now; where nobody knows whether that works, it is the only one. */
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

  /** A connection broke in use: the database may be gone. */
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

/** For each caller one of its own: whoever catches it may add to its trace. */
const again = ({ code, state, cause }: DatabaseFailure): DatabaseFailure => new DatabaseFailure(code, state, cause);
