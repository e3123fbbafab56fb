/** Sample rows without saying everything six times. */
import type { z } from 'zod';
import type { sampleSchema } from '../../schema/sample';

type SampleRow = z.input<typeof sampleSchema>['rows'][number];
type Values = SampleRow['values'];

/**
 * Rows that each say what they have different from the first: `sampleRows({ status: 'NEW' }, [['pending', { id: 1 }], …])`.
 * A value that is undefined is left to the table's default; a third part, `dead`, puts the row into the dead-letter table.
 */
export function sampleRows(
  common: Values,
  rows: readonly (readonly [SampleRow['state'], Record<string, Values[string] | undefined>, SampleRow['in']?])[],
): SampleRow[] {
  return rows.map(([state, own, place]) => ({
    state,
    ...(place === undefined ? {} : { in: place }),
    values: Object.fromEntries(
      Object.entries({ ...common, ...own }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    ),
  }));
}

/** The n-th UUID of a sample. */
export function sampleId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}
