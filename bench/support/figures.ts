export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Nearest-rank quantile. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(fraction * sorted.length) - 1))] ?? NaN;
}

/** Rows as titles write them: 10M, 250,000. */
export const short = (rows: number): string => (rows >= 1_000_000 ? `${rows / 1_000_000}M` : rows.toLocaleString('en-US'));
