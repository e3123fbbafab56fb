import type { FindingValues } from '@/lib/shared/doctor';
import type { Patient } from './check';
import type { WantedIndex } from '@/lib/outbox/indexes/wanted-index';
import type { TableFacts } from './facts/facts';
import { ratesOf } from './trend';

const PAGE_BYTES = 8_192;
/** Pages of a new index are left this full. */
const FILL = 0.9;
const DEFAULT_VALUE_BYTES = 16;

/**
 * What an index would cost: its size from the rows it would hold and the width of its columns, the writes it takes part
 * in each second, and the updates that could no longer leave all indexes alone. `entries` is how many rows it would hold.
 */
export function priceOf(
  { facts, trend, cures, now, outbox }: Patient,
  table: TableFacts,
  wanted: WantedIndex,
  entries: number,
): FindingValues {
  const width = wanted.columns.reduce((sum, name) => sum + (table.columns.get(name)?.averageBytes ?? DEFAULT_VALUE_BYTES), 0);
  const estimatedBytes = Math.max(2 * PAGE_BYTES, Math.ceil((entries * (width + cures.entryOverheadBytes)) / FILL));
  const rates = ratesOf(table, trend, facts.statisticsSince, now);
  const touched = new Set([...wanted.columns, ...(cures.partialIndexes ? wanted.tests.map(({ column }) => column) : [])]);
  const relayWrites = ['attempts', 'attemptedAt', 'publishedAt', 'error'] as const;
  const changes = relayWrites.some((role) => touched.has(outbox.main.roles[role]?.column.name ?? '')) || wanted.tests.length > 0;
  return {
    entries,
    estimatedBytes,
    readBytes: table.heapBytes,
    writesPerSecond: rates === null ? null : rates.insertsPerSecond + (changes ? rates.updatesPerSecond : 0),
    hotLostPerSecond: rates === null || rates.hotUpdatesPerSecond === null ? null : changes ? rates.hotUpdatesPerSecond : 0,
  };
}

/** About how many rows have one of these values in a column: by the server's own memory of frequent values. */
export function shareOf(table: TableFacts, column: string, values: readonly string[]): number | null {
  const { frequent } = table.columns.get(column) ?? { frequent: [] };
  if (frequent.length === 0) return null;
  return frequent.filter(({ value }) => values.includes(value)).reduce((sum, { share }) => sum + share, 0);
}
