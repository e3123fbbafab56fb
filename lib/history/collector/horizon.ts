import type { Db, Engine, Transactions } from '@/lib/database/engine';
import { microsOf } from './instants';

/** What the server said of its transactions at one moment. */
export interface Tick {
  /** By the observed database's clock, in microseconds. */
  at: number;
  open: Transactions['open'];
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
export async function readTick(db: Db, engine: Engine): Promise<Tick> {
  const { at, open } = await engine.transactions(db);
  return { at: microsOf(at), open };
}

/** The ticks of one database, remembered for as long as they can matter. */
export class Horizon {
  private ticks: { at: number; next: bigint }[] = [];
  private newestClean: number | null = null;

  constructor(private readonly lags: Lags) {}

  /**
   * Every transaction that was under way before this instant has ended: no row published before it can still come to light,
   * unless its transaction wrote for the first time later than the margin, or its clock is behind. null while not known.
   * Where the server does not tell, no transaction that publishes is taken to be open for longer than UNTOLD_LAGS say.
   */
  get cleanTo(): number | null {
    return this.newestClean;
  }

  see({ at, open }: Tick): void {
    if (open === null) {
      this.newestClean = Math.max(this.newestClean ?? -Infinity, at - this.lags.most * UNTOLD_LAGS);
      return;
    }
    const tick = { at, next: open.next };
    const clean = [...this.ticks, tick].filter(({ next }) => next <= open.oldest).at(-1);
    if (clean !== undefined) this.newestClean = Math.max(this.newestClean ?? -Infinity, clean.at - this.lags.margin);
    // Earlier than the newest clean one, none can become the newest clean one.
    this.ticks = [...this.ticks.filter((one) => clean === undefined || one.at > clean.at), tick].slice(-TICKS_REMEMBERED);
  }

  /** Up to where rows are folded at this moment of the database's clock. */
  foldableTo(at: number): number {
    const settled = at - this.lags.settle;
    return Math.max(Math.min(settled, this.cleanTo ?? -Infinity), at - this.lags.most);
  }
}

/** Where nobody tells of transactions, minutes stay provisional for so many times the longest lag, and are counted once more then. */
const UNTOLD_LAGS = 10;
/** Half an hour of them: a transaction open for longer makes the horizon jump in coarser steps when it ends. */
const TICKS_REMEMBERED = 360;
