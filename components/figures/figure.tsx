import type { ReactNode } from 'react';
import { useTranslations } from 'next-intl';
import { UNREAD_REASONS, type Count, type Known, type Percentiles, type UnavailableReason } from '@/lib/shared/figures/measured';
import { type Summary, type OutboxEvent } from '@/lib/shared/model';
import { markKnown } from '@/lib/shared/text/format';
import { useFormat } from './format';
import classes from './figures.module.css';

/** Text with a reason, shown on hover, touch and keyboard focus. */
export function Hint({ reason, children, className }: { reason: string; children: ReactNode; className?: string }) {
  return (
    // Takes the focus, so that the reason can be read without a mouse.
    <span data-tip={reason} tabIndex={0} className={className ? `${classes.hint} ${className}` : classes.hint}>
      {children}
    </span>
  );
}

const SHORT: Partial<Record<UnavailableReason, string>> = {
  no_events: 'noEvents',
  ...Object.fromEntries(UNREAD_REASONS.map((why) => [why, 'notReadable'])),
  store_down: 'notComputed',
  not_watched: 'notWatched',
  backfilling: 'backfilling',
  too_large: 'notRead',
  too_many_rows: 'notRead',
};

interface FigureProps {
  /** The value as text; null if there is none, for the reason in `why`. */
  text: string | null;
  known?: Known;
  why?: UnavailableReason;
  /** 20 px instead of the surrounding size. */
  large?: boolean;
}

/** A value marked by how it is known ("10,000+", "≈ 1.6 M", "812 ∿"); a missing one is shown in words, never as zero or a dash. */
export function Figure({ text, known = 'exact', why, large }: FigureProps) {
  const words = useTranslations('figures');
  const reasons = useTranslations('unavailable');
  const kinds = useTranslations('known');
  let shown: ReactNode;
  if (text === null || known === 'unavailable') {
    const reason = why ?? 'not_in_schema';
    shown = (
      <Hint reason={reasons(reason)} className={classes.absent}>
        {words(SHORT[reason] ?? 'notInTable')}
      </Hint>
    );
  } else {
    const marked = markKnown(text, known);
    shown = known === 'exact' ? marked : <Hint reason={kinds(known)}>{marked}</Hint>;
  }
  return large ? <span className={classes.figure}>{shown}</span> : shown;
}

/** "2 of 5": how many attempts are left matters only while the relay tries on. */
export function Attempts({ event: { attempts, maxAttempts, state } }: { event: Pick<OutboxEvent, 'attempts' | 'maxAttempts' | 'state'> }) {
  const t = useTranslations('events');
  const format = useFormat();
  if (attempts === null) return null;
  const ofMax = maxAttempts !== null && attempts <= maxAttempts && state !== 'published';
  return ofMax ? t('attemptsOf', { attempts: format.number(attempts), max: format.number(maxAttempts) }) : format.number(attempts);
}

export function CountText({ count, large }: { count: Count; large?: boolean }) {
  const format = useFormat();
  const { known, why } = count;
  const text = count.count === null ? null : known === 'estimated' ? format.compact(count.count) : format.number(count.count);
  return <Figure text={text} known={known} why={why} large={large} />;
}

/** So close to the exact value that numbers need no mark: the figure's name says it once. */
const CLOSE_SHARE = 0.02;

type Latency = Omit<Percentiles, 'p50Ms' | 'p95Ms' | 'p99Ms'>;

export const isClose = ({ known, errorShare = Infinity }: Latency): boolean => known === 'estimated' && errorShare <= CLOSE_SHARE;

/** A percentile of measured times: unmarked if close, "≤ 1 s" if shorter than the sampling interval, else marked by how it is known. */
export function Percentile({ ms, of, large }: { ms: number | null; of: Latency; large?: boolean }) {
  const words = useTranslations('figures');
  const format = useFormat();
  if (ms === null && of.atMostMs !== undefined && of.why === undefined) {
    const atMost = format.latency(of.atMostMs);
    const text = <Hint reason={words('atMostWhy', { interval: atMost })}>{words('atMost', { value: atMost })}</Hint>;
    return large ? <span className={classes.figure}>{text}</span> : text;
  }
  return <Figure text={ms === null ? null : format.latency(ms)} known={isClose(of) ? 'exact' : of.known} why={of.why} large={large} />;
}

type MeanLatency = Pick<Summary['latency'], 'meanMs' | 'meanErrorMs' | 'why'>;

/** Of sampled waits there is a mean and no percentile. */
export const isMeanOnly = ({ meanMs, why }: MeanLatency): boolean => meanMs !== null && why !== undefined;

/** A mean of sampled waits, with how far it may be off; `named` among percentiles. */
export function Mean({ of, large, named }: { of: MeanLatency; large?: boolean; named?: boolean }) {
  const words = useTranslations('figures');
  const format = useFormat();
  const { meanMs, meanErrorMs } = of;
  if (meanMs === null) return <Figure text={null} why={of.why} large={large} />;
  const mean = format.latency(meanMs);
  const text = meanErrorMs === undefined ? mean : words('plusMinus', { value: mean, error: format.latency(meanErrorMs) });
  const shown = <Hint reason={words('meanWhy')}>{named ? words('meanOf', { value: text }) : text}</Hint>;
  return large ? <span className={classes.figure}>{shown}</span> : shown;
}
