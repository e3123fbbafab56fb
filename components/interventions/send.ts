import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Batch, BatchEnd } from '@/lib/shared/changes/batches';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import { useConsole } from '../frame/console';
import type { InterventionActions } from './actions';

export type End = BatchEnd<ProblemInfo>;

/** Sends one intervention once. null: the answer did not come, or did not say what became of it. */
export async function sendBatch(
  intervene: InterventionActions['intervene'],
  outbox: string,
  request: Omit<InterventionRequest, 'events'>,
  { key, events }: Batch,
): Promise<End | null> {
  try {
    const answer = await intervene({ outbox, request: { ...request, events }, key });
    if (answer.ok && answer.value.outcome !== 'unknown') return endOf(answer.value);
    if (!answer.ok && answer.problem.code !== 'in_progress') return { halt: { why: 'problem', problem: answer.problem } };
  } catch {
    // The connection to the console broke: it may or may not have arrived.
  }
  return null;
}

/** One that turned out never to have been committed was answered at no time: as if it had not been sent. */
const endOf = (result: InterventionResult): End =>
  result.outcome === 'none' && result.at === null ? { halt: { why: 'absent' } } : { result };

/** In ms since 1970, and never set while this page is open: a clock that jumps must not shorten a wait. */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

const FIRST_CHECKS_MS = [1_000, 1_000, 2_000, 3_000];
const LATER_CHECKS_MS = 5_000;
/** After about a minute of checks there is no hurry any more. */
const PATIENT_AFTER = 15;
const PATIENT_CHECKS_MS = 15_000;

export interface SentKey {
  outbox: string;
  key: string;
  /** In ms since 1970. */
  sentAt: number;
}

/** What became of what was sent: asked until it is known, ever less often, and never sent again. `kept`: whether somebody still has to be told. */
export function outcomeOptions(check: InterventionActions['check'], { outbox, key, sentAt }: SentKey, kept = () => true) {
  return queryOptions({
    queryKey: ['outcome', outbox, key],
    queryFn: async (): Promise<End | null> => {
      if (!kept()) return 'gone';
      const answer = await check({ outbox, key });
      if (!kept()) return 'gone';
      if (!answer.ok) throw new Error(answer.problem.code);
      if (answer.value !== null) return answer.value.outcome === 'unknown' ? null : endOf(answer.value);
      return monotonicNow() - sentAt > NO_RECORD_AFTER_MS ? { halt: { why: 'absent' } } : null;
    },
    initialData: null,
    initialDataUpdatedAt: 0,
    staleTime: Infinity,
    refetchInterval: ({ state: { data, dataUpdateCount, errorUpdateCount } }) => {
      if (data != null) return false;
      const checks = dataUpdateCount + errorUpdateCount;
      return FIRST_CHECKS_MS[checks] ?? (checks < PATIENT_AFTER ? LATER_CHECKS_MS : PATIENT_CHECKS_MS);
    },
    refetchIntervalInBackground: true,
    retry: false,
    networkMode: 'always',
  });
}

/** `checkedAt` in ms since 1970, null before the first answer and after one that did not come. */
export function useOutcome(sent: SentKey, kept?: () => boolean): { end: End | null; checkedAt: number | null } {
  const { check } = useConsole().interventions;
  const { data, dataUpdatedAt, isError } = useQuery(outcomeOptions(check, sent, kept));
  return { end: data, checkedAt: isError || dataUpdatedAt === 0 ? null : dataUpdatedAt };
}
