/** Money as in events: decimal text, summed and formatted without floating point. */

/** No amount has more digits, and no database could add up as many as a text may hold. JSON may write a number with an exponent. */
const DECIMAL = /^([+-]?\d{1,200})(?:\.(\d{1,200}))?(?:e([+-]?\d{1,2}))?$/i;

/** In units of its last decimal; null if it is no number. */
function unitsOf(amount: string | null): { units: bigint; scale: number } | null {
  const match = amount === null ? null : DECIMAL.exec(amount.trim());
  if (!match) return null;
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  return { units: BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, -scale)), scale: Math.max(0, scale) };
}

export type Money<Amount> = { amount: Amount; currency: string | null };

/** One exact sum per currency (null without one), by currency, with the most decimals found. Skips non-decimals. */
export function sumAmounts(rows: readonly Money<string | null>[]): Money<string>[] {
  const byCurrency = new Map<string | null, { units: bigint; scale: number }>();
  for (const { amount, currency } of rows) {
    const addend = unitsOf(amount);
    if (addend === null) continue;
    const sum = byCurrency.get(currency) ?? { units: 0n, scale: 0 };
    const scale = Math.max(sum.scale, addend.scale);
    const raised = (one: typeof sum) => one.units * 10n ** BigInt(scale - one.scale);
    byCurrency.set(currency, { units: raised(sum) + raised(addend), scale });
  }
  return [...byCurrency]
    .sort(([one], [other]) => (one ?? '').localeCompare(other ?? '', 'en'))
    .map(([currency, { units, scale }]) => ({ currency, amount: decimal(units, scale) }));
}

function decimal(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Decimal text with the locale's grouping and every digit kept: 1234567.890 → 1,234,567.890. Other text is returned unchanged. */
export function formatAmount(amount: string, locale: string): string {
  const read = unitsOf(amount);
  if (read === null) return amount;
  const [, sign, whole = '0', fraction] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal(read.units, read.scale)) ?? [];
  const point = new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';
  const grouped = new Intl.NumberFormat(locale).format(BigInt(whole));
  return `${sign}${grouped}${fraction === undefined ? '' : point + fraction}`;
}

export const formatMoney = (amount: string, currency: string | null, locale: string): string =>
  `${formatAmount(amount, locale)}${currency === null ? '' : ` ${currency}`}`;

/** The sums as text, empty without one, and how many of the rows have no amount that counts in them. */
export function sumText(rows: readonly Money<string | null>[], locale: string): { sums: string; without: number } {
  const sums = sumAmounts(rows).map(({ amount, currency }) => formatMoney(amount, currency, locale));
  return { sums: sums.join(' + '), without: rows.filter(({ amount }) => unitsOf(amount) === null).length };
}
