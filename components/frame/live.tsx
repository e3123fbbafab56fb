import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { ShownCode } from '@/lib/shared/problems';

/** A reading that failed: what happened, and since when the shown numbers have been standing still. */
export interface FailedReading {
  code: ShownCode | 'unreachable';
  since: string;
  reference?: string;
}

/** What the screen last read, for the live dot and the banners of the frame. */
interface LiveReading {
  /** When the shown numbers were taken, as the server says. */
  asOf: string | null;
  intervalMs: number;
  /** The screen itself holds still, because rows are ticked. */
  held: boolean;
  failing: FailedReading | null;
  /** The console was updated underneath this tab: its actions are unknown to the server. */
  outdated: boolean;
}

interface LiveControl {
  paused: boolean;
  setPaused: (paused: boolean) => void;
  report: (reading: LiveReading | null) => void;
}

const ControlContext = createContext<LiveControl | null>(null);
const ReadingContext = createContext<LiveReading | null>(null);

/** Holds the pause switch and the reading of the screen in view; two contexts, so that a new reading renders only the dot. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [paused, setPaused] = useState(false);
  const [reading, report] = useState<LiveReading | null>(null);
  const control = useMemo(() => ({ paused, setPaused, report }), [paused]);
  return (
    <ControlContext value={control}>
      <ReadingContext value={reading}>{children}</ReadingContext>
    </ControlContext>
  );
}

export function useLiveControl(): LiveControl {
  const control = useContext(ControlContext);
  if (!control) throw new Error('useLiveControl needs a LiveProvider above it');
  return control;
}

/** The reading of the screen in view; null on a screen that does not poll. */
export function useLiveReading(): LiveReading | null {
  return useContext(ReadingContext);
}

/** Tells the frame about this screen's reading, and takes it back when the screen goes. */
export function useReportReading({ asOf, intervalMs, held, failing, outdated }: LiveReading): void {
  const { report } = useLiveControl();
  const code = failing?.code;
  const since = failing?.since;
  const reference = failing?.reference;
  useEffect(() => {
    report({ asOf, intervalMs, held, failing: code && since ? { code, since, reference } : null, outdated });
  }, [report, asOf, intervalMs, held, code, since, reference, outdated]);
  useEffect(() => () => report(null), [report]);
}
