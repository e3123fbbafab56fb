import type { IdRange } from '@/lib/interventions/records';
import { type Carrying, LACKING_MAX, type LackReason } from '@/lib/shared/changes/carrying';

/** Most records counted in one look, and most pages. */
const COUNT_ROWS = 100_000;
const COUNT_PAGES = 40;

/** A range of ids, and its number of records when last compared plus those seen since. */
export interface ComparedPage extends IdRange {
  rows: number;
}

/** All records of a database in pages by id: a page with another count than expected is compared again. */
export class ComparedPages {
  private pages: ComparedPage[] = [];
  private next = 0;
  private mostRows = COUNT_ROWS;

  /** A range was compared and now consists of these pages, in order; the range is one page, or all records. */
  compared({ after, upTo }: IdRange, pages: readonly ComparedPage[]): void {
    if (after === null && upTo === null) {
      this.pages = [...pages];
      this.mostRows = Math.min(COUNT_ROWS, this.mostRows * 4);
      return;
    }
    const at = this.pages.findIndex((page) => page.after === after && page.upTo === upTo);
    if (at !== -1) this.pages.splice(at, 1, ...pages);
  }

  came(ids: readonly string[]): void {
    for (const id of ids) {
      const page = this.pages.find(({ upTo }) => upTo === null || id <= upTo);
      if (page !== undefined) page.rows += 1;
    }
  }

  /** The pages to count now, in turns, up to a number of records. */
  due(): ComparedPage[] {
    const due: ComparedPage[] = [];
    let rows = 0;
    for (let looked = 0; looked < Math.min(COUNT_PAGES, this.pages.length); looked += 1) {
      const page = this.pages[this.next % this.pages.length] as ComparedPage;
      if (due.length > 0 && rows + page.rows > this.mostRows) break;
      this.next = (this.next + 1) % this.pages.length;
      if (page.rows > this.mostRows) continue;
      rows += page.rows;
      due.push(page);
    }
    return due;
  }

  /** Counting timed out: counts a quarter until all records have been compared again. */
  tooMany(): void {
    this.mostRows /= 4;
  }
}

/** A record that is not in the audit after this time is reported. */
const LATE_MS = 10_000;

/** Records of one database that the audit lacks, and since when. Durations use the monotonic clock. */
export class Lack {
  private lacking = new Set<string>();
  private looked = false;
  /** All records have to be compared: not done since the start, or since a failure. */
  private unsure = true;
  private trouble: LackReason | null = null;
  private completeAt: string | null = null;
  private since: { wall: string; ms: number } | null = null;

  constructor(
    private readonly database: string,
    private readonly outboxes: readonly string[],
  ) {
    this.judge();
  }

  /** Updates the lacking ones among these records: those in `lacked` could not be carried. */
  found(records: readonly { id: string }[], lacked: ReadonlySet<string>): void {
    this.looked = true;
    for (const { id } of records) {
      if (!lacked.has(id)) this.lacking.delete(id);
      else if (this.lacking.size < LACKING_MAX) this.lacking.add(id);
    }
    this.judge();
  }

  walked(lacked: ReadonlySet<string>): void {
    this.looked = true;
    this.unsure = false;
    this.lacking = new Set(lacked);
    if (lacked.size === 0) this.completeAt = new Date().toISOString();
    this.judge();
  }

  /** Why records cannot be compared or carried; null if nothing prevents it. */
  because(trouble: LackReason | null): void {
    this.trouble = trouble;
    if (trouble !== null) this.unsure = true;
    this.judge();
  }

  carrying(): Carrying {
    const { database, outboxes, looked, lacking, since, completeAt } = this;
    return {
      database,
      outboxes: [...outboxes],
      lacking: looked ? lacking.size : null,
      why: this.why(),
      since: since?.wall ?? null,
      late: since !== null && performance.now() - since.ms >= LATE_MS,
      completeAt,
    };
  }

  private why(): LackReason | null {
    if (this.trouble !== null) return this.trouble;
    if (this.lacking.size > 0) return 'record';
    return this.unsure ? 'looking' : null;
  }

  private judge(): void {
    if (this.why() === null) this.since = null;
    else this.since ??= { wall: new Date().toISOString(), ms: performance.now() };
  }
}
