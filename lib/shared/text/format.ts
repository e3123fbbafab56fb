/** Formats numbers and times. Pure: locale, time zone and words are arguments, so that server and browser write the same text. */
import type { Count, Known } from '../figures/measured';
import { getOrMake } from '../group-by';
import { instantToWall } from './zoned-time';

const NARROW_SPACE = '\u202f';

export type DurationUnit = 'days' | 'hours' | 'minutes' | 'seconds' | 'milliseconds';

const UNIT_MS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
] as const satisfies readonly (readonly [DurationUnit, number])[];

/** A duration in its two largest neighbouring units, truncated; below a second in milliseconds. Negative counts as 0. */
export function durationParts(ms: number): { unit: DurationUnit; value: number }[] {
  const whole = Math.max(0, Math.floor(ms));
  const first = UNIT_MS.findIndex(([, size]) => whole >= size);
  if (first === -1) return [{ unit: 'milliseconds', value: whole }];
  let rest = whole;
  return UNIT_MS.slice(first, first + 2).flatMap(([unit, size]) => {
    const value = Math.floor(rest / size);
    rest -= value * size;
    return value > 0 ? [{ unit, value }] : [];
  });
}

/** Writes one unit in words: `(unit, '3')` → `3 m`. */
export type SayUnit = (unit: DurationUnit, value: string) => string;

/** "3 m 12 s". For ages: anything below a second is 0 seconds. */
export const formatAge = (ms: number, locale: string, say: SayUnit): string =>
  ms < 1_000 ? say('seconds', '0') : inParts(ms, locale, say);

/** A measured time: "850 ms", "1.24 s", "3 m 12 s". Three figures below ten seconds, where latencies differ. */
export function formatLatency(ms: number, locale: string, say: SayUnit): string {
  if (ms < 10) return say('milliseconds', formatNumber(ms, locale, 1));
  if (Math.round(ms) < 1_000) return say('milliseconds', formatNumber(Math.round(ms), locale));
  if (ms < 10_000) return say('seconds', formatNumber(ms / 1_000, locale, 2));
  if (ms < 60_000) return say('seconds', formatNumber(ms / 1_000, locale, 1));
  return inParts(ms, locale, say);
}

const inParts = (ms: number, locale: string, say: SayUnit): string =>
  durationParts(ms)
    .map(({ unit, value }) => say(unit, formatNumber(value, locale)))
    .join(' ');

/** Cached: creating a format costs more than using it a hundred times, and a chart writes dozens of numbers per step. */
const numberFormats = new Map<string, Intl.NumberFormat>();

/** With the locale's grouping: 1,204. */
export function formatNumber(value: number, locale: string, maximumFractionDigits = 0): string {
  const key = `${locale} ${maximumFractionDigits}`;
  return getOrMake(numberFormats, key, () => new Intl.NumberFormat(locale, { maximumFractionDigits })).format(value);
}

/** 1.6 M; 160만. Below ten thousand in full, as it would not get shorter. */
export function formatCompact(value: number, locale: string): string {
  if (Math.abs(value) < 10_000) return formatNumber(value, locale);
  const parts = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 }).formatToParts(value);
  return parts.map(({ type, value: text }) => (type === 'compact' && /^[A-Za-z]/.test(text) ? NARROW_SPACE + text : text)).join('');
}

/** 0.4 · 8.5 · 1,204: one decimal below ten, none above. */
export const formatRate = (value: number, locale: string): string => formatNumber(value, locale, Math.abs(value) < 10 ? 1 : 0);

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** "512 B", "8 kB", "1.2 GB": steps of 1,024, as PostgreSQL and MySQL print sizes. */
export function formatBytes(bytes: number, locale: string): string {
  const step = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10)));
  const value = bytes / 1_024 ** step;
  return `${formatNumber(value, locale, step > 1 && Math.abs(value) < 10 ? 1 : 0)}${NARROW_SPACE}${BYTE_UNITS[step] ?? ''}`;
}

/** A share of 1 as a percentage: 0.123 → 12%, 0.0123 → 1.2%. */
export const formatPercent = (share: number, locale: string): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share);

/** Marks a formatted number with how it is known: "10,000+", "≈ 1.6 M", "812 ∿". */
export function markKnown(text: string, known: Known): string {
  if (known === 'capped') return `${text}+`;
  if (known === 'estimated') return `≈ ${text}`;
  if (known === 'sampled') return `${text} ∿`;
  return text;
}

/** A count as text; null if unavailable: the caller then shows the reason, never a zero. */
export function formatCount({ count, known }: Count, locale: string): string | null {
  if (count === null || known === 'unavailable') return null;
  return markKnown(known === 'estimated' ? formatCompact(count, locale) : formatNumber(count, locale), known);
}

export const formatClock = (at: string | number, timeZone: string): string => instantToWall(at, timeZone).slice(-8);

/** "2026-11-21 14:02:11 Asia/Seoul", always with the zone. */
export const formatAbsolute = (at: string | number, timeZone: string): string =>
  `${instantToWall(at, timeZone).replace('T', ' ')} ${timeZone}`;

/** A tick of a time axis: the time of day if the span is at most a day, otherwise the date in the locale's form. */
export function formatTick(at: string | number, locale: string, timeZone: string, spanSeconds: number): string {
  if (spanSeconds <= 86_400) return formatClock(at, timeZone).slice(0, 5);
  const key = `${locale} ${timeZone}`;
  const format = getOrMake(dayFormats, key, () => new Intl.DateTimeFormat(locale, { timeZone, month: 'short', day: 'numeric' }));
  return format.format(new Date(at));
}

const dayFormats = new Map<string, Intl.DateTimeFormat>();
