import type { Transactions } from '@/lib/database/engine';
import { DatabaseFailure } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';

/** Instants of the observed database as microseconds since the epoch: whole numbers, and no digit is lost on the way. */

export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;

/** Of ISO 8601 UTC with microseconds. */
export function microsOf(iso: string): number {
  const fraction = /\.(\d+)Z$/.exec(iso)?.[1] ?? '';
  return Date.parse(`${iso.slice(0, 19)}Z`) * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** ISO 8601 UTC with microseconds. */
export function isoOf(micros: number): string {
  const seconds = Math.floor(micros / SECOND);
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(micros - seconds * SECOND).padStart(6, '0')}Z`;
}

/** The minute since the epoch that an instant lies in. */
export const minuteOf = (micros: number): number => Math.floor(micros / MINUTE);

/** The minutes that have a part in [from, to). */
export function minutesIn(from: number, to: number): number[] {
  if (from >= to) return [];
  const first = minuteOf(from);
  return Array.from({ length: Math.ceil(to / MINUTE) - first }, (_, index) => first + index);
}

/** In microseconds. */
export interface Lags {
  /** Rows this young are left alone: transactions that published them are usually still open. */
  settle: number;
  /** A transaction's time is when it began; its number it gets with its first write, up to this much later. */
  margin: number;
  /** A transaction that stays open holds the history up for this long at the most. */
  most: number;
}

/** What the server told of its transactions at ticks, remembered for as long as it can matter. */
export class Horizon {
  private ticks: { at: number; next: bigint }[] = [];
  /**
   * Every transaction that was under way before this instant has ended: no row published before it can still come to light,
   * unless its transaction wrote for the first time later than the margin, or its clock is behind. null while not known.
   * Where the server does not tell, no transaction that publishes is taken to be open for longer than UNTOLD_LAGS say.
   */
  cleanTo: number | null = null;

  constructor(private readonly lags: Lags) {}

  /** Answers the moment, by the observed database's clock, in microseconds. */
  see({ at: iso, open }: Transactions): number {
    const at = microsOf(iso);
    const raise = (to: number): void => void (this.cleanTo = Math.max(this.cleanTo ?? -Infinity, to));
    if (open === null) raise(at - this.lags.most * UNTOLD_LAGS);
    else {
      const tick = { at, next: open.next };
      const clean = [...this.ticks, tick].filter(({ next }) => next <= open.oldest).at(-1);
      if (clean !== undefined) raise(clean.at - this.lags.margin);
      // Earlier than the newest clean one, none can become the newest clean one.
      this.ticks = [...this.ticks.filter((one) => clean === undefined || one.at > clean.at), tick].slice(-TICKS_REMEMBERED);
    }
    return at;
  }

  /** Up to where rows are collected at this moment of the database's clock. */
  foldableTo(at: number): number {
    const settled = at - this.lags.settle;
    return Math.max(Math.min(settled, this.cleanTo ?? -Infinity), at - this.lags.most);
  }
}

/** Where the server does not report transactions, minutes stay provisional for so many times the longest lag, and are counted once more then. */
const UNTOLD_LAGS = 10;
/** Half an hour of them: a transaction open for longer makes the horizon jump in coarser steps when it ends. */
const TICKS_REMEMBERED = 360;

/** How often an outbox is read: as configured while that is cheap, and less often where it is not. */

/** A tick may take this share of the time between ticks. */
export const DUTY_CYCLE = 0.03;
/** Expensive ticks alone never spread them further apart than this: a row costs the same however late it is collected. */
const DUTY_MOST_MS = 30_000;
/** Ticks that run into their timeout do, up to here. */
const TIMEOUTS_MOST_MS = 300_000;
/** Ticks that fail in another way cost nothing: they are tried again soon after the cause is gone. */
const FAILING_MOST_MS = 15_000;
/** Reading the past is done sooner or later: it may take this share. */
const BACKFILL_DUTY = 0.1;
const BACKFILL_LEAST_MS = 100;

export class Backoff {
  private failing = 0;

  /** Milliseconds between ticks, as asked for and as they are. */
  constructor(
    private readonly tickMs: number,
    public everyMs: number = tickMs,
    private readonly duty: number = DUTY_CYCLE,
  ) {}

  /** Worth telling: a little less often is nothing. */
  get slowed(): boolean {
    return this.everyMs >= 2 * this.tickMs;
  }

  succeeded(tookMs: number): void {
    this.failing = 0;
    const fair = Math.min(DUTY_MOST_MS, Math.max(this.tickMs, tookMs / this.duty));
    // Down by halves: one quick tick among slow ones proves nothing.
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
export const pauseAfter = (tookMs: number): number => Math.max(BACKFILL_LEAST_MS, tookMs * (1 / BACKFILL_DUTY - 1));

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

/** The observed database refused, was slow or was away; anything else is the store's failure, or ours. */
export const isSourceFailure = (error: unknown): boolean => error instanceof DatabaseFailure || error instanceof Problem;

/** A statement ran into its timeout, or waited for a lock: reading costs too much at the moment. */
export function isTimeout(error: unknown): boolean {
  const failure = error instanceof Problem ? error.cause : error;
  return failure instanceof DatabaseFailure && (failure.code === 'timeout' || failure.code === 'locked');
}
