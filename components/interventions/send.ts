import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Batch, SeenEvent } from '@/lib/shared/changes/batches';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import { INTERVENTION_EVENTS_MAX, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { useConsole, type InterventionActions } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { type SentKey } from './sent';

/** One opening of the dialog: its key makes however many clicks one intervention. */
export interface Opening {
  subject: { id: string; name: string };
  operation: string;
  events: SeenEvent[];
  key: string;
}

export type Open = (subject: Opening['subject'], operation: string, events: Opening['events']) => void;

/** Stands for the version of an event that is not there: no row has it, so one that comes back is not taken as seen. */
export const NOT_THERE = 'not-there';

/** These events with the versions they have now where they come without one, as in an undo: what changes afterwards is not what was seen. */
export async function readVersions(
  preview: InterventionActions['preview'],
  { subject: { id: outbox }, operation }: Pick<Opening, 'subject' | 'operation'>,
  events: readonly SeenEvent[],
  signal: AbortSignal,
): Promise<ActionResult<SeenEvent[]>> {
  const unseen = events.filter(({ version }) => version === '');
  const versions = new Map<string, string>();
  for (let at = 0; at < unseen.length && !signal.aborted; at += INTERVENTION_EVENTS_MAX) {
    const some = unseen.slice(at, at + INTERVENTION_EVENTS_MAX);
    const found = await preview({ outbox, operation, events: some }).catch(() => null);
    if (found === null) return { ok: false, problem: UNANSWERED };
    if (!found.ok) return found;
    for (const { event } of found.value.rows) versions.set(event.id, event.version === '' ? NOT_THERE : event.version);
  }
  return {
    ok: true,
    value: events.map(({ id, version }) => ({ id, version: version === '' ? (versions.get(id) ?? NOT_THERE) : version })),
  };
}

export type Halt = { why: 'stopped' } | { why: 'tried' } | { why: 'absent' } | { why: 'problem'; problem: ProblemInfo };

/** What became of one batch; `gone`: nobody waits for it any more. */
export type End = { result: InterventionResult } | { halt: Halt } | 'gone';

interface Steps {
  send: (batch: Batch) => Promise<End>;
  /** Asked before every batch: a reason to end here. */
  halted: (index: number) => Halt | null;
  onResult: (result: InterventionResult) => void;
}

/** Carries out batches one after the other, each once, from `from` on; answers what ended it before the last one. */
export async function runBatches(
  batches: readonly Batch[],
  from: number,
  { send, halted, onResult }: Steps,
): Promise<Halt | 'gone' | null> {
  for (const [index, batch] of batches.entries()) {
    if (index < from) continue;
    const end = halted(index) ?? (await send(batch));
    if (end === 'gone' || 'why' in end) return end;
    if ('halt' in end) return end.halt;
    onResult(end.result);
  }
  return null;
}

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
