import { queryOptions, useQuery } from '@tanstack/react-query';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import type { InterventionRequest, InterventionResult, SeenEvent } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import { useConsole, type InterventionActions } from '../frame/console';
import { type SentKey } from './sent';

/** One opening of the dialog: its key makes any number of clicks one intervention. */
export interface Opening {
  subject: { id: string; name: string };
  operation: string;
  events: SeenEvent[];
  key: string;
}

export type Open = (subject: Opening['subject'], operation: string, events: Opening['events']) => void;

type Halt = { why: 'absent' } | { why: 'problem'; problem: ProblemInfo };

/** What became of an intervention; `gone`: no caller waits for it any more. */
export type End = { result: InterventionResult } | { halt: Halt } | 'gone';

/** Sends one intervention once. null: no answer came, or it did not say what became of the intervention. */
export async function sendOnce(
  intervene: InterventionActions['intervene'],
  outbox: string,
  request: InterventionRequest,
  key: string,
): Promise<End | null> {
  try {
    const answer = await intervene({ outbox, request, key });
    if (answer.ok && answer.value.outcome !== 'unknown') return endOf(answer.value);
    if (!answer.ok && answer.problem.code !== 'in_progress') return { halt: { why: 'problem', problem: answer.problem } };
  } catch {
    // The connection to the console broke: the request may or may not have arrived.
  }
  return null;
}

/** A try that was never committed has no time: it counts as not sent. */
const endOf = (result: InterventionResult): End =>
  result.outcome === 'none' && result.at === null ? { halt: { why: 'absent' } } : { result };

/** Milliseconds since 1970, unaffected by clock changes while this page is open: these must not shorten a wait. */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

const FIRST_LOOKS_MS = [1_000, 1_000, 2_000, 3_000];
/** About two minutes. */
const PATIENT_AFTER = 27;

/** How long to wait for the next look at what is under way: ever longer. */
export function lookAfterMs({ dataUpdateCount, errorUpdateCount }: { dataUpdateCount: number; errorUpdateCount: number }): number {
  const looks = dataUpdateCount + errorUpdateCount;
  return FIRST_LOOKS_MS[looks] ?? (looks < PATIENT_AFTER ? 5_000 : 15_000);
}

/** What became of a sent intervention: checked until it is known, ever less often, never sent again. `kept`: it must still be reported. */
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
    refetchInterval: ({ state }) => (state.data != null ? false : lookAfterMs(state)),
    refetchIntervalInBackground: true,
  });
}

/** `checkedAt` in milliseconds since 1970, null before the first answer and after a failed check. */
export function useOutcome(sent: SentKey, kept?: () => boolean): { end: End | null; checkedAt: number | null } {
  const { check } = useConsole().interventions;
  const { data, dataUpdatedAt, isError } = useQuery(outcomeOptions(check, sent, kept));
  return { end: data, checkedAt: isError || dataUpdatedAt === 0 ? null : dataUpdatedAt };
}
