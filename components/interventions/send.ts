import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Batch, SeenEvent } from '@/lib/shared/changes/batches';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import { INTERVENTION_EVENTS_MAX, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { useConsole, type InterventionActions } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { type SentKey } from './sent';

/** One opening of the dialog: its key makes any number of clicks one intervention. */
export interface Opening {
  subject: { id: string; name: string };
  operation: string;
  events: SeenEvent[];
  key: string;
}

export type Open = (subject: Opening['subject'], operation: string, events: Opening['events']) => void;

/** The version of an event that is missing: no row has it, so an event that comes back does not count as seen. */
export const NOT_THERE = 'not-there';

/** These events, with their current versions if they have none (undo): changes after this count as not seen. */
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

/** What became of one batch; `gone`: no caller waits for it any more. */
export type End = { result: InterventionResult } | { halt: Halt } | 'gone';

interface Steps {
  send: (batch: Batch) => Promise<End>;
  /** Called before every batch: a reason to stop here, or null. */
  halted: (index: number) => Halt | null;
  onResult: (result: InterventionResult) => void;
}

/** Carries out batches one after the other, each once, from `from` on; returns what stopped it before the last one, or null. */
export async function runBatches(batches: readonly Batch[], from: number, steps: Steps): Promise<Halt | 'gone' | null> {
  for (const [index, batch] of batches.entries()) {
    if (index < from) continue;
    const end = steps.halted(index) ?? (await steps.send(batch));
    if (end === 'gone' || 'why' in end) return end;
    if ('halt' in end) return end.halt;
    steps.onResult(end.result);
  }
  return null;
}

/** Sends one intervention once. null: no answer came, or it did not say what became of the intervention. */
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
