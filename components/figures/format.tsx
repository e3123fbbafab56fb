import { useLocale, useTimeZone, useTranslations } from 'next-intl';
import { createContext, type ReactNode, useContext, useMemo, useState, useSyncExternalStore } from 'react';
import type { Count } from '@/lib/shared/figures/measured';
import { DEFAULT_TIME_ZONE } from '@/lib/shared/preferences';
import * as format from '@/lib/shared/text/format';
import classes from './figures.module.css';

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
      /** "3 m 12 s ago", or "in 4 s" for a future time: `now` is up to two ticks old, and what just happened is not to come. */
      relative: (at: string | number, now: number) => {
        const ms = now - new Date(at).getTime();
        return ms > -2 * TICK_MS ? say('ago', { age: age(Math.max(ms, 0)) }) : say('ahead', { age: age(-ms) });
      },
    };
  }, [locale, timeZone, say]);
}

export type Format = ReturnType<typeof useFormat>;

/** The server's time at first paint, so that hydration gives the same text; then the browser's, corrected if it is clearly wrong. */
const ClockContext = createContext<{ serverNow: number; now: () => number } | null>(null);

/** A smaller difference is the time the page took to arrive. */
const TOLERATED_SKEW_MS = 30_000;

export function ClockProvider({ serverNow, children }: { serverNow: number; children: ReactNode }) {
  // Only the first value counts: a later one comes with a soft navigation, when the browser's clock is already in use.
  const [clock] = useState(() => {
    const skew = serverNow - Date.now();
    const correction = Math.abs(skew) > TOLERATED_SKEW_MS ? skew : 0;
    return { serverNow, now: () => heldNow() + correction };
  });
  return <ClockContext value={clock}>{children}</ClockContext>;
}

const TICK_MS = 1_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let held = 0;
/** Told between two frames: six hundred texts at once would take several. */
const AT_ONCE = 60;
let frame = 0;

function tell(waiting: readonly (() => void)[]): void {
  for (const each of waiting.slice(0, AT_ONCE)) if (listeners.has(each)) each();
  if (waiting.length > AT_ONCE) frame = requestAnimationFrame(() => tell(waiting.slice(AT_ONCE)));
}

/** The time is constant between two ticks: values computed from it in one render must be equal. */
function heldNow(): number {
  const now = Date.now();
  if (Math.abs(now - held) > TICK_MS) held = now;
  return held;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    held = Date.now();
    cancelAnimationFrame(frame);
    tell([...listeners]);
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** A value recomputed every second from the time in milliseconds; the component renders only when it changes. */
export function useTicking<T extends string | number | boolean | null>(select: (now: number) => T): T {
  const clock = useContext(ClockContext);
  if (!clock) throw new Error('useTicking needs a ClockProvider above it');
  return useSyncExternalStore(
    subscribe,
    () => select(clock.now()),
    () => select(clock.serverNow),
  );
}

/** The time to the second, in milliseconds. Renders its component every second: not for tables. */
export const useNow = (): number => useTicking((time) => Math.floor(time / 1_000) * 1_000);

/** A text updated every second; the absolute time with its zone on hover, and in copied text. */
function Ticking({ at, say }: { at: string; say: (format: Format, now: number) => string }) {
  const format = useFormat();
  const text = useTicking((now) => say(format, now));
  const absolute = format.absolute(at);
  return (
    <time dateTime={at} title={absolute} data-absolute={absolute}>
      {text}
    </time>
  );
}

/** "3 m 12 s ago". */
export const RelativeTime = ({ at }: { at: string }) => <Ticking at={at} say={(format, now) => format.relative(at, now)} />;

/** How long something has lasted: "3 m 12 s", growing. */
export const Since = ({ at }: { at: string }) => <Ticking at={at} say={(format, now) => format.age(now - Date.parse(at))} />;

/** "2026-11-21 14:02:11 Asia/Seoul". */
export const AbsoluteTime = ({ at }: { at: string }) => <time dateTime={at}>{useFormat().absolute(at)}</time>;

/** "as of 14:02:11"; after two intervals also how old that is. */
export function Age({ asOf, intervalMs }: { asOf: string; intervalMs: number }) {
  const format = useFormat();
  const words = useTranslations('figures');
  const stale = useIsStale(asOf, intervalMs);
  const age = useTicking((now) => (stale ? format.age(now - Date.parse(asOf)) : ''));
  const clock = format.clock(asOf);
  return (
    <time dateTime={asOf} title={format.absolute(asOf)} className={classes.stale} data-stale={stale}>
      {stale ? words('asOfOld', { clock, age }) : words('asOf', { clock })}
    </time>
  );
}

/** True once figures of `asOf` have missed two readings. */
export function useIsStale(asOf: string | null, intervalMs: number): boolean {
  // A reading may be one interval old when it arrives: all viewers share it.
  return useTicking((now) => asOf !== null && now - Date.parse(asOf) > 2 * intervalMs + STALE_GRACE_MS);
}

const STALE_GRACE_MS = 2_000;

/** Formats a time as "3 m 12 s ago", for use in a sentence. */
export function useAgo(): (at: string | number) => string {
  const format = useFormat();
  const now = useNow();
  return (at) => format.relative(at, now);
}
