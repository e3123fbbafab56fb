import { commonTests } from '@/lib/shape/compile';
import { fitTests } from '@/lib/outbox/indexes/index-fit';
import { isIndexTest, leadingColumns, type IndexTest, type WantedIndex } from '@/lib/outbox/indexes/wanted-index';
import type { LiveState } from '@/lib/shared/states';
import { SMALL_ROWS, type Found, type Patient } from './check';
import type { TableFacts } from './facts/facts';
import { priceOf, shareOf } from './price';

/** From so many rows on, reading the table for one figure is felt by everybody who uses the database. */
const GRAVE_ROWS = 1_000_000;

/** A finding that an index is missing, with the statement that makes it and what it costs. */
export function missingIndex(patient: Patient, table: TableFacts, wanted: WantedIndex, entries: number): Found[] {
  const { rows } = table;
  if (rows === null || rows <= SMALL_ROWS) return [];
  const cure = patient.cures.createIndex(table, wanted);
  const pages = Math.ceil(table.heapBytes / 8_192);
  return [
    {
      severity: rows >= GRAVE_ROWS ? 'act' : 'watch',
      values: { rows, pages, ...priceOf(patient, table, wanted, patient.cures.partialIndexes ? entries : rows) },
      ...(cure === null ? {} : { cure }),
    },
  ];
}

/** The tests an index over rows of these states can be made of; empty where the rules share none. */
export function testsOf({ outbox }: Patient, states: readonly LiveState[]): IndexTest[] {
  return commonTests(outbox.shape, states).filter(isIndexTest);
}

/** About how many rows pass tests on single columns, from what the server remembers; none where it remembers nothing. */
export function entriesOf(table: TableFacts, tests: readonly IndexTest[]): number {
  const shares = tests.flatMap((test): number[] => {
    const values = 'equals' in test ? [String(test.equals)] : 'in' in test ? test.in.map(String) : null;
    const share = values === null ? null : shareOf(table, test.column, values);
    return share === null ? [] : [share];
  });
  return Math.round((table.rows ?? 0) * (shares.length === 0 ? 0 : Math.min(...shares)));
}

/** Columns an index sorts by: fixed ones first where it cannot leave rows out. */
export function columnsFor({ cures }: Patient, tests: readonly IndexTest[], then: readonly string[]): string[] {
  return leadingColumns(cures.partialIndexes, tests, then);
}

/**
 * Where an index holds every row, the one advised for waiting events finds those of other states by the same column: one
 * index is advised, not three.
 */
export function servedByAdvice({ outbox, cures }: Patient, tests: readonly IndexTest[], created: string): boolean {
  if (cures.partialIndexes) return false;
  const waiting = commonTests(outbox.shape, ['pending', 'retrying']);
  if (!tests.some(({ column }) => waiting.some((test) => test.column === column))) return false;
  const fit = fitTests(outbox.main, 'o', created, waiting);
  return fit === null || !fit.ordered;
}
