/** How often an outbox is looked at: as asked for while that is cheap, and less often where it is not. */

/** A look may take this share of the time between looks. */
export const DUTY = 0.03;
/** Dear looks alone never spread them further apart than this: a row costs the same however late it is folded. */
const DUTY_MOST_MS = 30_000;
/** Looks that run into their timeout do, up to here. */
const TIMEOUTS_MOST_MS = 300_000;
/** Looks that fail in another way cost nothing: they are tried again soon after the cause is gone. */
const FAILING_MOST_MS = 15_000;
/** Reading the past is done sooner or later: it may take this share. */
const PAST_DUTY = 0.1;
const PAST_LEAST_MS = 100;

export class Pace {
  private failing = 0;

  /** Milliseconds between looks, as asked for and as they are. */
  constructor(
    private readonly tickMs: number,
    public everyMs: number = tickMs,
    private readonly duty: number = DUTY,
  ) {}

  /** Worth telling: a little less often is nothing. */
  get slowed(): boolean {
    return this.everyMs >= 2 * this.tickMs;
  }

  succeeded(tookMs: number): void {
    this.failing = 0;
    const fair = Math.min(DUTY_MOST_MS, Math.max(this.tickMs, tookMs / this.duty));
    // Down by halves: one quick look among slow ones proves nothing.
    this.everyMs = Math.round(fair >= this.everyMs ? fair : Math.max(fair, this.everyMs / 2));
  }

  failed(timedOut: boolean): void {
    this.failing += 1;
    const most = Math.max(this.tickMs, timedOut ? TIMEOUTS_MOST_MS : FAILING_MOST_MS);
    // The first failure may have been a moment's.
    if (this.failing > 1) this.everyMs = Math.min(most, this.everyMs * 2);
  }
}

/** How long reading the past pauses after a slice that took so long, in milliseconds. */
export const pauseAfter = (tookMs: number): number => Math.max(PAST_LEAST_MS, tookMs * (1 / PAST_DUTY - 1));

/** A width that fits what a statement can do: halved when it was too much, doubled when it was little. */
export class Width {
  constructor(
    public micros: number,
    private readonly limits: { least: number; most: number },
  ) {}

  tooWide(): void {
    this.micros = Math.max(this.limits.least, this.micros / 2);
  }

  narrow(): void {
    this.micros = Math.min(this.limits.most, this.micros * 2);
  }
}
