import { describe, expect, it } from 'vitest';
import { ComparedPages } from './compared-pages';

const ALL = { after: null, upTo: null };
/** Pages of so many rows, up to '1', '2', … and to the end. */
const pagesOf = (...rows: number[]) =>
  rows.map((n, at) => ({ after: at === 0 ? null : String(at), upTo: at === rows.length - 1 ? null : String(at + 1), rows: n }));

describe('compared pages', () => {
  it('are all counted, in one look, as long as they hold no more than a hundred thousand records', () => {
    const pages = new ComparedPages();
    expect(pages.due()).toEqual([]);
    pages.compared(ALL, pagesOf(50_000, 50_000));
    expect(pages.due().map(({ rows }) => rows)).toEqual([50_000, 50_000]);
    expect(pages.due()).toHaveLength(2);
  });

  it('are counted in turns where they hold more, each of them once in a round', () => {
    const pages = new ComparedPages();
    pages.compared(ALL, pagesOf(...Array.from({ length: 50 }, () => 5_000)));
    const round = [pages.due(), pages.due(), pages.due()];
    expect(round.map((due) => due.length)).toEqual([20, 20, 20]);
    expect(new Set(round.flat().map(({ upTo }) => upTo)).size).toBe(50);
  });

  it('of which one alone holds more are counted without it', () => {
    const pages = new ComparedPages();
    pages.compared(ALL, pagesOf(2, 200_000, 1));
    expect([pages.due(), pages.due()].map((due) => due.map(({ rows }) => rows))).toEqual([[2], [1, 2]]);
  });

  it('hold what was seen to come, each where its id lies', () => {
    const pages = new ComparedPages();
    pages.compared(ALL, pagesOf(1, 1, 1));
    pages.came(['0', '1', '2', '3', '9']);
    expect(pages.due().map(({ rows }) => rows)).toEqual([3, 2, 3]);
  });

  it('are split where one of them was compared and is several now, and stay where nobody knows the range any more', () => {
    const pages = new ComparedPages();
    pages.compared(ALL, pagesOf(1, 1));
    pages.compared({ after: '1', upTo: null }, [
      { after: '1', upTo: '5', rows: 4 },
      { after: '5', upTo: null, rows: 2 },
    ]);
    pages.compared({ after: '7', upTo: '8' }, [{ after: '7', upTo: '8', rows: 9 }]);
    expect(pages.due().map(({ rows }) => rows)).toEqual([1, 4, 2]);
  });

  it('are counted less at a time where that takes too long, in the end not at all, and again when all have been compared', () => {
    const pages = new ComparedPages();
    pages.compared(ALL, pagesOf(...Array.from({ length: 20 }, () => 5_000)));
    expect(pages.due()).toHaveLength(20);
    pages.tooMany();
    expect(pages.due()).toHaveLength(5);
    pages.tooMany();
    expect(pages.due()).toHaveLength(1);
    pages.tooMany();
    expect(pages.due()).toEqual([]);
    pages.compared(ALL, pagesOf(5_000, 5_000));
    expect(pages.due()).toHaveLength(1);
  });
});
