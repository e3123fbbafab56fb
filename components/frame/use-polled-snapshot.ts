import { unstable_isUnrecognizedActionError as isUnrecognizedActionError } from 'next/navigation';
import { useQuery } from '@tanstack/react-query';
import { within } from '@/lib/shared/async/within';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { ActionResult, ShownCode } from '@/lib/shared/problems';
import { useLiveControl, useReportReading, type FailedReading } from './live';

/** Past this a reading counts as failed. The action itself cannot be called back; its answer is dropped. */
const ANSWER_WITHIN_MS = 20_000;

/** A tab that comes back to a screen within ten minutes finds it as it was. On the server it would keep every page that was rendered. */
const KEPT_MS = typeof window === 'undefined' ? Infinity : 600_000;

class ReadingError extends Error {
  constructor(
    readonly code: ShownCode | 'unreachable' | 'outdated',
    readonly reference?: string,
  ) {
    super(code);
    this.name = 'ReadingError';
  }
}

interface PolledSnapshotOptions<T extends object> {
  /** Everything the reading depends on: outbox, window, filter. Must be serializable. */
  key: readonly unknown[];
  action: () => Promise<ActionResult<T>>;
  /** What the server rendered the page with. */
  initial: T;
  /** The screen holds still, for instance while rows are ticked. */
  paused?: boolean;
  /** How often the numbers are taken where that is less often than they are asked for: for them to be late takes longer then. */
  everyMs?: (snapshot: T) => number;
}

export interface PolledSnapshot<T> {
  snapshot: T;
  /** When the shown numbers were taken. */
  asOf: string | null;
  /** Milliseconds between two takings of them. */
  everyMs: number;
  /** Set while the last reading failed; the snapshot is then the last good one. */
  failing: FailedReading | null;
  /** True while a reading is under way. */
  reading: boolean;
  /** Takes a new reading now, paused or not: after an intervention, say. */
  refresh: () => Promise<void>;
}

/**
 * Polls one snapshot action for the screen in view and tells the frame about it. Pauses while the tab is hidden, while
 * `paused`, or by the switch in the top bar. A failed reading keeps the last good numbers.
 */
export function usePolledSnapshot<T extends object>(options: PolledSnapshotOptions<T>): PolledSnapshot<T> {
  const { key, action, initial, paused: held = false } = options;
  const { paused: switchedOff } = useLiveControl();
  const still = held || switchedOff;

  const query = useQuery({
    queryKey: key,
    queryFn: () => read(action),
    initialData: initial,
    // The page has just been rendered with these numbers: the next reading is due one interval later.
    staleTime: POLL_INTERVAL_MS,
    refetchInterval: still ? false : POLL_INTERVAL_MS,
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: !still,
    refetchOnReconnect: !still,
    refetchOnMount: !still,
    retry: false,
    networkMode: 'always',
    gcTime: KEPT_MS,
  });

  // A soft navigation may bring newer numbers from the server than the cache holds, or the other way round.
  const snapshot = newest(initial, query.data);
  const asOf = asOfOf(snapshot);
  const error = query.error instanceof ReadingError ? query.error : null;
  const outdated = error?.code === 'outdated';
  const failing: FailedReading | null =
    query.error === null || error?.code === 'outdated'
      ? null
      : { code: error?.code ?? 'unreachable', since: asOf ?? new Date(query.dataUpdatedAt).toISOString(), reference: error?.reference };

  const everyMs = Math.max(POLL_INTERVAL_MS, options.everyMs?.(snapshot) ?? 0);
  useReportReading({ asOf, intervalMs: everyMs, held, failing, outdated });

  return {
    snapshot,
    asOf,
    everyMs,
    failing,
    reading: query.isFetching,
    refresh: async () => {
      await query.refetch();
    },
  };
}

function asOfOf(snapshot: unknown): string | null {
  if (typeof snapshot !== 'object' || snapshot === null || !('asOf' in snapshot)) return null;
  return typeof snapshot.asOf === 'string' ? snapshot.asOf : null;
}

function newest<T>(initial: T, cached: T): T {
  const [first, second] = [asOfOf(initial), asOfOf(cached)];
  return first !== null && second !== null && Date.parse(first) > Date.parse(second) ? initial : cached;
}

async function read<T>(action: () => Promise<ActionResult<T>>): Promise<T> {
  const result = await within(action(), ANSWER_WITHIN_MS).catch((error: unknown) => {
    throw new ReadingError(isUnrecognizedActionError(error) ? 'outdated' : 'unreachable');
  });
  if (result === null) throw new ReadingError('timeout');
  if (!result.ok) throw new ReadingError(result.problem.code, result.problem.reference);
  return result.value;
}
