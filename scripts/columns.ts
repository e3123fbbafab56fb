/** Text for a terminal out of values that others have written. */

/** Columns as wide as their widest value; what a table holds cannot steer the terminal. */
export function columns(rows: readonly string[][]): string[] {
  const cut = rows.map((row) => row.map((cell) => plain(cell).slice(0, 80)));
  const widths = cut.reduce<number[]>((known, row) => row.map((cell, index) => Math.max(known[index] ?? 0, cell.length)), []);
  return cut.map(
    (row) =>
      `  ${row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}`,
  );
}

/** Control characters out of a database would move the cursor or colour the screen. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
