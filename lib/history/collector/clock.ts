import type { Transactions } from '@/lib/database/engine';
import { DatabaseFailure } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';

/** Instants of the observed database are exact whole microseconds since the epoch. */

export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;

/** From ISO 8601 UTC with up to six decimals. */
export function microsOf(iso: string): number {
  const fraction = /\.(\d+)Z$/.exec(iso)?.[1] ?? '';
  return Date.parse(`${iso.slice(0, 19)}Z`) * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** To ISO 8601 UTC with microseconds. */
export function isoOf(micros: number): string {
  const seconds = Math.floor(micros / SECOND);
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(micros - seconds * SECOND).padStart(6, '0')}Z`;
}

/** The minute since the epoch that an instant lies in. */
export const minuteOf = (micros: number): number => Math.floor(micros / MINUTE);

/** The minutes that [from, to) touches. */
export function minutesIn(from: number, to: number): number[] {
  if (from >= to) return [];
  const first = minuteOf(from);
  return Array.from({ length: Math.ceil(to / MINUTE) - first }, (_, index) => first + index);
}

/** In microseconds. */
export interface Lags {
  /** Time this recent is not collected: transactions that publish in it are usually still open. */
  settle: number;
  /** A transaction's timestamp is its start; it gets its number with its first write, up to this much later. */
  margin: number;
  /** An open transaction delays collection by this much at most. */
  most: number;
}

/** The server's transaction numbers at past ticks, kept for as long as they can matter. */
export class Horizon {
  private ticks: { at: number; next: bigint }[] = [];
  /**
   * Every transaction that began before this instant has ended: no row published before it can still appear, unless its transaction first
   * wrote later than the margin or its clock is behind. null while unknown. If the server does not report transactions, those that publish
   * are assumed to be open for UNTOLD_LAGS times `lags.most` at most.
   */
  cleanTo: number | null = null;

  constructor(private readonly lags: Lags) {}

  /** Adds a tick; returns its time by the observed database's clock, in microseconds. */
  see({ at: iso, open }: Transactions): number {
    const at = microsOf(iso);
    const raise = (to: number): void => void (this.cleanTo = Math.max(this.cleanTo ?? -Infinity, to));
    if (open === null) raise(at - this.lags.most * UNTOLD_LAGS);
    else {
      const tick = { at, next: open.next };
      const clean = [...this.ticks, tick].filter(({ next }) => next <= open.oldest).at(-1);
      if (clean !== undefined) raise(clean.at - this.lags.margin);
      // Ticks before the newest clean one are not needed again.
      this.ticks = [...this.ticks.filter((one) => clean === undefined || one.at > clean.at), tick].slice(-TICKS_REMEMBERED);
    }
    return at;
  }

  /** Up to when rows can be collected at `at`, both by the database's clock in microseconds. */
  foldableTo(at: number): number {
    return Math.max(Math.min(at - this.lags.settle, this.cleanTo ?? -Infinity), at - this.lags.most);
  }
}

/** If the server does not report transactions, minutes are provisional for this many times the longest lag, then recounted once. */
const UNTOLD_LAGS = 10;
/** Half an hour of ticks: when a transaction that was open for longer ends, the horizon moves in coarser steps. */
const TICKS_REMEMBERED = 360;

/** A tick may take this share of the time between ticks. */
export const DUTY_CYCLE = 0.03;
/** Longest interval for expensive ticks: waiting longer saves nothing, as a row costs the same whenever it is collected. */
const DUTY_MOST_MS = 30_000;
/** Longest interval for ticks that run into their timeout. */
const TIMEOUTS_MOST_MS = 300_000;
/** Longest interval for ticks that fail otherwise: they cost nothing, and should succeed soon after the cause is gone. */
const FAILING_MOST_MS = 15_000;
/** Backfill may take this share of the time. */
const BACKFILL_DUTY = 0.1;
const BACKFILL_LEAST_MS = 100;

export class Backoff {
  private failing = 0;

  /** Milliseconds between ticks, as configured (`tickMs`) and at present (`everyMs`). */
  constructor(
    private readonly tickMs: number,
    public everyMs: number = tickMs,
    private readonly duty: number = DUTY_CYCLE,
  ) {}

  get slowed(): boolean {
    return this.everyMs >= 2 * this.tickMs;
  }

  succeeded(tookMs: number): void {
    this.failing = 0;
    const fair = Math.min(DUTY_MOST_MS, Math.max(this.tickMs, tookMs / this.duty));
    // It falls by half at most: one quick tick among slow ones proves nothing.
    this.everyMs = Math.round(fair >= this.everyMs ? fair : Math.max(fair, this.everyMs / 2));
  }

  failed(timedOut: boolean): void {
    this.failing += 1;
    const most = Math.max(this.tickMs, timedOut ? TIMEOUTS_MOST_MS : FAILING_MOST_MS);
    // A single failure may be momentary.
    if (this.failing > 1) this.everyMs = Math.min(most, this.everyMs * 2);
  }
}

/** The pause after a read of past rows that took `tookMs`, in milliseconds. */
export const pauseAfter = (tookMs: number): number => Math.max(BACKFILL_LEAST_MS, tookMs * (1 / BACKFILL_DUTY - 1));

/** The width of a span that one statement can read, in microseconds: halved if that is too much, doubled if it is little. */
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

/** The observed database refused, was slow or is unreachable; any other error is the store's or our own. */
export const isSourceFailure = (error: unknown): boolean =>
  (error instanceof DatabaseFailure || error instanceof Problem) && !error.ofStore;

/** A statement ran into its timeout or waited for a lock: reading is too expensive at the moment. */
export function isTimeout(error: unknown): boolean {
  const failure = error instanceof Problem ? error.cause : error;
  return failure instanceof DatabaseFailure && (failure.code === 'timeout' || failure.code === 'locked');
}
