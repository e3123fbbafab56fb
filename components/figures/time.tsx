import { useTranslations } from 'next-intl';
import { useTicking } from './clock';
import { useFormat } from './use-format';
import classes from './figures.module.css';

/** A text that grows older every second; the absolute time with its zone on hover, and what a copy takes along. */
function Ticking({ at, say }: { at: string; say: (format: ReturnType<typeof useFormat>, now: number) => string }) {
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

/** How long something has been so: "3 m 12 s", growing. */
export const Since = ({ at }: { at: string }) => <Ticking at={at} say={(format, now) => format.age(now - Date.parse(at))} />;

/** "2026-11-21 14:02:11 Asia/Seoul". */
export function AbsoluteTime({ at }: { at: string }) {
  const format = useFormat();
  return <time dateTime={at}>{format.absolute(at)}</time>;
}

/** "as of 14:02:11"; past two intervals it says how old that is. `short` then leaves out the time of day. */
export function Age({ asOf, intervalMs, short }: { asOf: string; intervalMs: number; short?: boolean }) {
  const format = useFormat();
  const words = useTranslations('figures');
  const stale = useIsStale(asOf, intervalMs);
  const age = useTicking((now) => (stale ? format.age(now - Date.parse(asOf)) : ''));
  const clock = format.clock(asOf);
  return (
    <time dateTime={asOf} title={format.absolute(asOf)} className={classes.stale} data-stale={stale}>
      {!stale ? words('asOf', { clock }) : short ? words('old', { age }) : words('asOfOld', { clock, age })}
    </time>
  );
}

/** True once numbers taken at `asOf` have missed two readings. */
export function useIsStale(asOf: string | null, intervalMs: number): boolean {
  // A reading may itself be one interval old when it arrives: it is shared by all viewers.
  return useTicking((now) => asOf !== null && now - Date.parse(asOf) > 2 * intervalMs + STALE_GRACE_MS);
}

const STALE_GRACE_MS = 2_000;
