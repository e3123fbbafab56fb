import { Button, createSafeContext } from '@mantine/core';
import { IconAlertTriangle, IconCircleFilled, IconPlayerPauseFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { unstable_isUnrecognizedActionError as isUnrecognizedActionError } from 'next/navigation';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { within } from '@/lib/shared/async/within';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { ActionResult, ShownCode } from '@/lib/shared/problems';
import { useFormat, useIsStale } from '../figures/format';
import classes from './frame.module.css';
import { useShortcuts } from './shortcuts';

/** A failed reading: what happened, and the time of the figures still shown. */
interface FailedReading {
  code: ShownCode | 'unreachable';
  since: string;
  reference?: string;
}

/** What the screen last read, for the live dot and the banners of the frame. */
interface LiveReading {
  asOf: string | null;
  intervalMs: number;
  /** The screen itself has paused polling, because rows are ticked. */
  held: boolean;
  failing: FailedReading | null;
  /** The console was updated since this tab was loaded: the server does not know its actions. */
  outdated: boolean;
}

interface LiveControl {
  paused: boolean;
  setPaused: (paused: boolean) => void;
  report: (reading: LiveReading | null) => void;
}

const [ControlContext, useLiveControl] = createSafeContext<LiveControl>('useLiveControl needs a LiveProvider above it');
const ReadingContext = createContext<LiveReading | null>(null);

/** Holds the pause switch and the reading of the current screen; two contexts, so that a new reading renders only what shows it. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [paused, setPaused] = useState(false);
  const [reading, report] = useState<LiveReading | null>(null);
  return (
    <ControlContext value={useMemo(() => ({ paused, setPaused, report }), [paused])}>
      <ReadingContext value={reading}>{children}</ReadingContext>
    </ControlContext>
  );
}

/** The reading of the current screen; null if it does not poll. */
export const useLiveReading = (): LiveReading | null => useContext(ReadingContext);

/** A reading that takes longer has failed. The action itself cannot be cancelled; its answer is dropped. */
const ANSWER_WITHIN_MS = 20_000;

/** A tab that returns to a screen within ten minutes finds it as it was. On the server a timer would keep every rendered page. */
const KEPT_MS = typeof window === 'undefined' ? Infinity : 600_000;

class ReadingError extends Error {
  constructor(
    readonly code: ShownCode | 'unreachable' | 'outdated',
    readonly reference?: string,
  ) {
    super(code);
  }
}

/** What a screen polls; `asOf` is when it was taken, by the server's clock. */
export interface Snapshot {
  asOf: string | null;
}

interface PolledSnapshotOptions<T extends Snapshot> {
  /** Everything the reading depends on: outbox, window, filter. Must be serializable. */
  key: readonly unknown[];
  action: () => Promise<ActionResult<T>>;
  initial: T;
  paused?: boolean;
  /** How often the figures are taken, if less often than polled: they are late only after that. */
  everyMs?: (snapshot: T) => number;
  /** Polled at another interval than usual; undefined for the usual one. */
  pollMs?: (snapshot: T) => number | undefined;
}

/**
 * Polls one action for the current screen, unless the tab is hidden, `paused` or switched off; a failure keeps the last good figures, and
 * stands in `failing`. `refresh` reads now, paused or not.
 */
export function usePolledSnapshot<T extends Snapshot>(options: PolledSnapshotOptions<T>) {
  const { key, action, initial, paused: held = false } = options;
  const { paused: switchedOff, report } = useLiveControl();
  const still = held || switchedOff;

  const query = useQuery({
    queryKey: key,
    queryFn: () => read(action),
    initialData: initial,
    // The page was just rendered with these figures: the next reading is due one interval later.
    staleTime: POLL_INTERVAL_MS,
    refetchInterval: ({ state }) => (still ? false : (options.pollMs?.(state.data ?? initial) ?? POLL_INTERVAL_MS)),
    refetchOnWindowFocus: !still,
    refetchOnReconnect: !still,
    refetchOnMount: !still,
    gcTime: KEPT_MS,
  });

  // After a soft navigation, either the server's figures or the cached ones may be newer.
  const snapshot = newest(initial, query.data);
  const { asOf } = snapshot;
  const since = asOf ?? new Date(query.dataUpdatedAt).toISOString();
  const error = query.error === null || query.error instanceof ReadingError ? query.error : new ReadingError('unreachable');
  const { code, reference } = error ?? {};
  const failing = useMemo(() => (code === undefined || code === 'outdated' ? null : { code, since, reference }), [code, since, reference]);
  const intervalMs = Math.max(POLL_INTERVAL_MS, options.everyMs?.(snapshot) ?? 0);
  const outdated = code === 'outdated';
  useEffect(() => report({ asOf, intervalMs, held, failing, outdated }), [report, asOf, intervalMs, held, failing, outdated]);
  useEffect(() => () => report(null), [report]);

  return { snapshot, everyMs: intervalMs, failing, reading: query.isFetching, refresh: () => query.refetch().then(() => undefined) };
}

const newest = <T extends Snapshot>(initial: T, cached: T = initial): T =>
  initial.asOf !== null && cached.asOf !== null && Date.parse(initial.asOf) > Date.parse(cached.asOf) ? initial : cached;

async function read<T>(action: () => Promise<ActionResult<T>>): Promise<T> {
  const result = await within(action(), ANSWER_WITHIN_MS).catch((error: unknown) => {
    throw new ReadingError(isUnrecognizedActionError(error) ? 'outdated' : 'unreachable');
  });
  if (result === null) throw new ReadingError('timeout');
  if (!result.ok) throw new ReadingError(result.problem.code, result.problem.reference);
  return result.value;
}

/** The live dot: the time of the reading, and the switch that pauses polling. Empty on screens that do not poll. */
export function LiveSwitch() {
  const words = useTranslations('frame');
  const format = useFormat();
  const { paused, setPaused } = useLiveControl();
  const reading = useLiveReading();
  const toggle = () => setPaused(!paused);
  useShortcuts(reading ? [{ keys: 'p', label: words(paused ? 'resume' : 'pause'), run: toggle }] : []);
  const late = useIsStale(reading?.asOf ?? null, reading?.intervalMs ?? 0);
  if (!reading) return <span className={classes.live} />;

  const status = paused ? 'paused' : reading.held ? 'held' : reading.failing ? 'failing' : late ? 'late' : 'live';
  const Icon = status === 'live' ? IconCircleFilled : status === 'failing' || status === 'late' ? IconAlertTriangle : IconPlayerPauseFilled;
  return (
    <Button
      className={classes.live}
      classNames={{ label: classes.liveLabel }}
      data-status={status}
      variant="default"
      size="xs"
      aria-pressed={paused}
      title={words(paused ? 'resume' : status === 'held' ? 'heldBecause' : 'pause')}
      onClick={toggle}
    >
      <Icon size={status === 'live' ? 8 : 14} aria-hidden />
      <span className={classes.liveWord}>{words(`live.${status}`)}</span>
      {reading.asOf !== null && <time dateTime={reading.asOf}>{format.clock(reading.asOf)}</time>}
    </Button>
  );
}
