import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { InterventionPreview, InterventionRequest, InterventionResult, SeenEvent } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { useConsole } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { type End, monotonicNow, type Opening, sendOnce } from './send';
import { forgetSent, keepSent, type SentKey } from './sent';
import { useSentNotices } from './sent-notices';

/** How far a decision is. `checking`: it was sent, and the answer did not say what became of it. */
export type Sending =
  | { phase: 'deciding' }
  | { phase: 'sending' }
  | { phase: 'checking'; sent: SentKey; onKnown: (end: End) => void }
  | { phase: 'absent'; key: string }
  | { phase: 'refused'; problem: ProblemInfo }
  | { phase: 'done'; result: InterventionResult };

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
      if ('result' in end) setSending({ phase: 'done', result: end.result });
      else setSending(end.halt.why === 'absent' ? { phase: 'absent', key } : { phase: 'refused', problem: end.halt.problem });
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
