import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import type { InterventionPreview, InterventionRequest, InterventionResult, SeenEvent } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { type InterventionActions, useConsole } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { forgetSent, keepSent, type SentKey } from './sent';
import { useSentNotices } from './sent-notices';

/** One opening of the dialog: its key makes any number of clicks one intervention. */
export interface Opening {
  subject: { id: string; name: string };
  operation: string;
  events: SeenEvent[];
  key: string;
}

export type Open = (subject: Opening['subject'], operation: string, events: Opening['events']) => void;

/** What became of an intervention; `absent`: it was not committed and never will be. */
type Ended = { phase: 'absent' } | { phase: 'refused'; problem: ProblemInfo } | { phase: 'done'; result: InterventionResult };

/** `gone`: no caller waits for it any more. */
export type End = Ended | 'gone';

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
    if (!answer.ok && answer.problem.code !== 'in_progress') return { phase: 'refused', problem: answer.problem };
  } catch {
    // The connection to the console broke: the request may or may not have arrived.
  }
  return null;
}

/** A try that was never committed has no time: it counts as not sent. */
const endOf = (result: InterventionResult): End =>
  result.outcome === 'none' && result.at === null ? { phase: 'absent' } : { phase: 'done', result };

/** Milliseconds since 1970, unaffected by clock changes while this page is open: these must not shorten a wait. */
const monotonicNow = (): number => performance.timeOrigin + performance.now();

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
      return monotonicNow() - sentAt > NO_RECORD_AFTER_MS ? { phase: 'absent' } : null;
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

/** How far a decision is. `checking`: it was sent, and the answer did not say what became of it. */
export type Sending = { phase: 'deciding' | 'sending' } | { phase: 'checking'; sent: SentKey; onKnown: (end: End) => void } | Ended;

/** Carries out one decision under one key, however often `send` is called. */
export function useSending({ subject: { id: outbox, name: outboxName }, key }: Opening) {
  const { account, interventions } = useConsole();
  const { takeOver } = useSentNotices();
  const queries = useQueryClient();
  const [sending, setSending] = useState<Sending>({ phase: 'deciding' });
  const closed = useRef(false);
  const onKnown = useRef<((end: End) => void) | null>(null);
  useEffect(() => {
    closed.current = false;
    return () => {
      closed.current = true;
      onKnown.current?.('gone');
      takeOver();
    };
  }, [takeOver]);

  const { mutate } = useMutation({
    mutationKey: ['send', key],
    mutationFn: async (request: InterventionRequest) => {
      setSending({ phase: 'sending' });
      const { operation, events } = request;
      // Before it is sent, so that a reloaded page can still report what became of it.
      keepSent({ key, account: account.name, outbox, outboxName, operation, count: events.length, sentAt: Date.now() });
      const sentAt = monotonicNow();
      const end =
        (await sendOnce(interventions.intervene, outbox, request, key)) ??
        (await new Promise<End>((resolve) => {
          onKnown.current = resolve;
          if (closed.current) resolve('gone');
          else setSending({ phase: 'checking', sent: { outbox, key, sentAt }, onKnown: resolve });
        }));
      if (end === 'gone') return;
      forgetSent(key);
      setSending(end);
    },
  });
  const send = (request: InterventionRequest) => {
    if (queries.isMutating({ mutationKey: ['send', key] }) === 0) mutate(request);
  };
  return { sending, send };
}

export type Preview = ReturnType<typeof usePreview>;

/**
 * What the operation would do to these events; those without a version (undo) are read as they are. People decide by a preview: it stays
 * until they ask for another.
 */
export function usePreview({ subject, operation, events, key }: Opening) {
  const { preview: ask } = useConsole().interventions;
  const [round, setRound] = useState({ number: 0, seen: events });
  // A refusal is an answer too: it is shown while the next one is read.
  const { data, isFetching } = useQuery({
    staleTime: Infinity,
    queryKey: ['preview', key, round.number],
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<ActionResult<InterventionPreview>> => {
      const read = (seen: SeenEvent[]) =>
        ask({ outbox: subject.id, operation, events: seen }).catch(() => ({ ok: false as const, problem: UNANSWERED }));
      const found = await read(round.seen);
      return found.ok && round.seen.some(({ version }) => version === '') ? read(asSeen(found.value)) : found;
    },
  });
  const preview = data?.ok === true ? data.value : null;
  return {
    preview,
    problem: data?.ok === false ? data.problem : null,
    loading: isFetching,
    /** Reads the rows as they are now; these then count as seen. */
    readAgain: () => setRound(({ number, seen }) => ({ number: number + 1, seen: preview === null ? seen : asSeen(preview) })),
  };
}

const asSeen = (preview: InterventionPreview): SeenEvent[] => preview.rows.map(({ event }) => ({ id: event.id, version: event.version }));
