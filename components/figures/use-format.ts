import { useMemo } from 'react';
import { useLocale, useTimeZone, useTranslations } from 'next-intl';
import * as format from '@/lib/shared/text/format';
import { DEFAULT_TIME_ZONE } from '@/lib/shared/preferences';
import type { Count } from '@/lib/shared/figures/measured';

const A_DAY_MS = 86_400_000;

/** Cached texts: a fleet formats the same few hundred durations every second. */
const said = new Map<string, string>();
const SAID_MAX = 2_000;

function remembered(key: string, say: () => string): string {
  const known = said.get(key);
  if (known !== undefined) return known;
  if (said.size >= SAID_MAX) said.clear();
  const text = say();
  said.set(key, text);
  return text;
}

/** The formats of `lib/shared/text/format`, bound to the reader's language and time zone. */
export function useFormat() {
  const locale = useLocale();
  const timeZone = useTimeZone() ?? DEFAULT_TIME_ZONE;
  const say = useTranslations('units');
  return useMemo(() => {
    const sayUnit: format.SayUnit = (unit, value) => remembered(`${locale} ${unit} ${String(value)}`, () => say(unit, { value }));
    /** "3 m 12 s"; ages and waiting times, from milliseconds. */
    const age = (ms: number) => format.formatAge(ms, locale, sayUnit);
    /** "1.24 s"; measured times, from milliseconds. */
    const latency = (ms: number) => format.formatLatency(ms, locale, sayUnit);
    const number = (value: number, fraction?: number) => format.formatNumber(value, locale, fraction);
    const rate = (value: number) => format.formatRate(value, locale);
    const percent = (share: number) => format.formatPercent(share, locale);
    const clock = (at: string | number) => format.formatClock(at, timeZone);
    const absolute = (at: string | number) => format.formatAbsolute(at, timeZone);
    return {
      ...{ locale, timeZone, age, latency, number, rate, percent, clock, absolute },
      compact: (value: number) => format.formatCompact(value, locale),
      /** Formats a metric's number by its unit. */
      amount: { count: (value: number) => number(value), share: percent, ms: latency, perMinute: rate },
      bytes: (value: number) => format.formatBytes(value, locale),
      /** null if the table cannot show it. */
      count: (count: Count) => format.formatCount(count, locale),
      /** The time of day within a day of `now`, otherwise with the date. */
      recent: (at: string, now: number) => (now - Date.parse(at) < A_DAY_MS ? clock(at) : absolute(at)),
      /** "14:02". */
      minute: (at: number) => format.formatTick(at, locale, timeZone, 0),
      /** "Nov 21". */
      day: (at: number) => format.formatTick(at, locale, timeZone, Infinity),
      /** "3 m 12 s ago", or "in 4 s" for a future time. */
      relative: (at: string | number, now: number) => {
        const ms = now - new Date(at).getTime();
        return ms >= 0 ? say('ago', { age: age(ms) }) : say('ahead', { age: age(-ms) });
      },
    };
  }, [locale, timeZone, say]);
}

export type Format = ReturnType<typeof useFormat>;
