import type { IdRange } from '@/lib/interventions/record-pages';

/** Records counted in one look, and in how many pages at the most. */
const COUNT_ROWS = 100_000;
const COUNT_PAGES = 40;

/** A range of ids and how many records were in it when they were compared, with those that were seen to come since. */
export interface ComparedPage extends IdRange {
  rows: number;
}

/**
 * All records of a database in pages by id, with how many each holds. A page with another number than that has records which
 * nobody saw come: whatever their ids and times say, it is to be compared again.
 */
export class ComparedPages {
  private pages: ComparedPage[] = [];
  private next = 0;
  private mostRows = COUNT_ROWS;

  /** A range has been compared and is these pages now, in their order: one of the pages, or all of them. */
  compared({ after, upTo }: IdRange, pages: readonly ComparedPage[]): void {
    if (after === null && upTo === null) {
      this.pages = [...pages];
      this.mostRows = Math.min(COUNT_ROWS, this.mostRows * 4);
      return;
    }
    const at = this.pages.findIndex((page) => page.after === after && page.upTo === upTo);
    if (at !== -1) this.pages.splice(at, 1, ...pages);
  }

  /** Records that were seen for the first time. */
  came(ids: readonly string[]): void {
    for (const id of ids) {
      const page = this.pages.find(({ upTo }) => upTo === null || id <= upTo);
      if (page !== undefined) page.rows += 1;
    }
  }

  /** Which pages to count now: as many as hold so many records, in turns. */
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

  /** Counting them took too long: a quarter of them until all have been compared again. */
  tooMany(): void {
    this.mostRows /= 4;
  }
}
