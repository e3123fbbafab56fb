import { useMemo } from 'react';
import { useLocale, useTimeZone, useTranslations } from 'next-intl';
import * as format from '@/lib/shared/text/format';
import { DEFAULT_TIME_ZONE } from '@/lib/shared/preferences';
import type { Count } from '@/lib/shared/figures/measured';
import { useTicking } from './clock';

/** A fleet says the same few hundred spans of time over and over, every second. */
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
    return {
      locale,
      timeZone,
      /** "3 m 12 s"; ages and waiting times, in milliseconds. */
      age: (ms: number) => format.formatAge(ms, locale, sayUnit),
      /** "1.24 s"; measured times, in milliseconds. */
      latency: (ms: number) => format.formatLatency(ms, locale, sayUnit),
      number: (value: number, fraction?: number) => format.formatNumber(value, locale, fraction),
      compact: (value: number) => format.formatCompact(value, locale),
      rate: (value: number) => format.formatRate(value, locale),
      /** A metric's number by its unit. */
      amount: {
        count: (value: number) => format.formatNumber(value, locale),
        share: (value: number) => format.formatPercent(value, locale),
        ms: (value: number) => format.formatLatency(value, locale, sayUnit),
        perMinute: (value: number) => format.formatRate(value, locale),
      },
      bytes: (value: number) => format.formatBytes(value, locale),
      percent: (share: number) => format.formatPercent(share, locale),
      /** null when the table cannot say. */
      count: (count: Count) => format.formatCount(count, locale),
      clock: (at: string | number) => format.formatClock(at, timeZone),
      absolute: (at: string | number) => format.formatAbsolute(at, timeZone),
      /** "14:02". */
      minute: (at: number) => format.formatTick(at, locale, timeZone, 0),
      /** "Nov 21". */
      day: (at: number) => format.formatTick(at, locale, timeZone, Infinity),
      /** "3 m 12 s ago", or "in 4 s" for a time to come. */
      relative: (at: string | number, now: number) => {
        const ms = now - new Date(at).getTime();
        return ms >= 0
          ? say('ago', { age: format.formatAge(ms, locale, sayUnit) })
          : say('ahead', { age: format.formatAge(-ms, locale, sayUnit) });
      },
    };
  }, [locale, timeZone, say]);
}

/** What `useFormat` gives. */
export type Format = ReturnType<typeof useFormat>;

/** Says a time as "3 m 12 s ago" inside a sentence. Renders its component every second: for a few sentences, not for a table. */
export function useAgo(): (at: string) => string {
  const format = useFormat();
  const now = useTicking((time) => Math.floor(time / 1_000) * 1_000);
  return (at) => format.relative(at, now);
}
