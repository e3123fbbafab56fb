import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { iso } from '../spelling';
import { microsOf } from './instants';

/** What the server said of its transactions at one moment. */
export interface Tick {
  /** By the observed database's clock, in microseconds. */
  at: number;
  /** Every transaction numbered below it has ended. */
  oldest: bigint;
  /** The number the next transaction gets. */
  next: bigint;
}

/** In microseconds. */
export interface Lags {
  /** Rows this young are left alone: transactions that published them are usually still open. */
  settle: number;
  /** A transaction's time is when it began; its number it gets with its first write, up to this much later. */
  margin: number;
  /** A transaction that stays open holds the books up for this long at the most. */
  most: number;
}

/** Asks for the time and the transactions under way: no privilege needed, nothing is locked or read. */
export async function readTick(db: Db): Promise<Tick> {
  const { rows } = await sql<{ at: string; oldest: string; next: string }>`select ${iso(sql`clock_timestamp()`)} as at,
    txid_snapshot_xmin(s)::text as oldest, txid_snapshot_xmax(s)::text as next from (select txid_current_snapshot() as s) as t`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('A tick answers one row');
  return { at: microsOf(row.at), oldest: BigInt(row.oldest), next: BigInt(row.next) };
}

/** The ticks of one database, remembered for as long as they can matter. */
export class Horizon {
  private ticks: Tick[] = [];
  private newestClean: number | null = null;

  constructor(private readonly lags: Lags) {}

  /**
   * Every transaction that was under way before this instant has ended: no row published before it can still come to light,
   * unless its transaction wrote for the first time later than the margin, or its clock is behind. null while not known.
   */
  get cleanTo(): number | null {
    return this.newestClean;
  }

  see(tick: Tick): void {
    const clean = [...this.ticks, tick].filter((one) => one.next <= tick.oldest).at(-1);
    if (clean !== undefined) this.newestClean = Math.max(this.newestClean ?? -Infinity, clean.at - this.lags.margin);
    // Earlier than the newest clean one, none can become the newest clean one.
    this.ticks = [...this.ticks.filter((one) => clean === undefined || one.at > clean.at), tick].slice(-TICKS_REMEMBERED);
  }

  /** Up to where rows are folded at this tick. */
  foldableTo({ at }: Tick): number {
    const settled = at - this.lags.settle;
    return Math.max(Math.min(settled, this.cleanTo ?? -Infinity), at - this.lags.most);
  }
}

/** Half an hour of them: a transaction open for longer makes the horizon jump in coarser steps when it ends. */
const TICKS_REMEMBERED = 360;
