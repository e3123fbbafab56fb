import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type Batch, batchesOf, joinResults, type Progress, progressOf, type SeenEvent } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview, type InterventionRequest, type InterventionResult } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { useConsole } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { type End, type Halt, monotonicNow, type Opening, readVersions, runBatches, sendBatch } from './send';
import { forgetSent, keepSent, type SentKey } from './sent';
import { useSentNotices } from './sent-notices';

/** The state of a run. `checking`: a part of it was sent, and the answer did not say what became of it. */
export type Run =
  | { phase: 'deciding' }
  | { phase: 'sending'; progress: Progress; several: boolean; trying: boolean }
  | { phase: 'checking'; sent: SentKey; onKnown: (end: End) => void }
  | { phase: 'absent'; key: string }
  | { phase: 'refused'; problem: ProblemInfo }
  /** Stopped between two batches; the rest can be continued. */
  | { phase: 'halted'; progress: Progress; halt: Halt; results: readonly InterventionResult[] }
  | { phase: 'done'; result: InterventionResult; results: readonly InterventionResult[] };

interface Work {
  request: Omit<InterventionRequest, 'events'>;
  batches: Batch[];
  results: InterventionResult[];
  /** One event goes first and alone. */
  tryOne: boolean;
}

/** Carries out one decision under one key, however often `send` is called; in several interventions if it is too large for one. */
export function useRun({ subject: { id: outbox, name: outboxName }, key }: Opening) {
  const { account, interventions } = useConsole();
  const { takeOver } = useSentNotices();
  const queries = useQueryClient();
  const [run, setRun] = useState<Run>({ phase: 'deciding' });
  const work = useRef<Work | null>(null);
  const wantsStop = useRef(false);
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

  /** The result of the batches so far; null before the first answer. */
  const soFar = (): InterventionResult | null => {
    const [first, ...others] = work.current?.results ?? [];
    return first === undefined ? null : joinResults([first, ...others]);
  };

  const { mutate } = useMutation({
    mutationKey: ['run', key],
    mutationFn: async ({ request, batches, results, tryOne }: Work) => {
      wantsStop.current = false;
      const from = results.length;
      const several = batches.length > 1;
      const show = (): void => {
        const trying = tryOne && results.length === 0;
        setRun({ phase: 'sending', progress: progressOf(batches, results), several, trying });
      };
      show();
      const halt = await runBatches(batches, from, {
        halted: (index) => {
          if (closed.current || (wantsStop.current && index > from)) return { why: 'stopped' };
          return tryOne && index === 1 && from === 0 ? { why: 'tried' } : null;
        },
        send: async (batch) => {
          const { key: sentKey, events } = batch;
          // Before it is sent, so that a reloaded page can still report what became of it.
          const sent = { key: sentKey, account: account.name, outbox, outboxName, operation: request.operation, count: events.length };
          keepSent({ ...sent, sentAt: Date.now() });
          const sentAt = monotonicNow();
          const end =
            (await sendBatch(interventions.intervene, outbox, request, batch)) ??
            (await new Promise<End>((resolve) => {
              onKnown.current = resolve;
              if (closed.current) resolve('gone');
              else setRun({ phase: 'checking', sent: { outbox, key: sentKey, sentAt }, onKnown: resolve });
            }));
          if (end !== 'gone') forgetSent(sentKey);
          return end;
        },
        onResult: (result) => {
          results.push(result);
          show();
        },
      });
      if (halt === 'gone') return;
      const result = soFar();
      if (halt === null) {
        if (result !== null) setRun({ phase: 'done', result, results });
      } else if (several && result !== null) {
        setRun({ phase: 'halted', progress: progressOf(batches, results), halt, results });
      } else if (halt.why === 'problem') setRun({ phase: 'refused', problem: halt.problem });
      else if (halt.why === 'absent') setRun({ phase: 'absent', key: batches[0]?.key ?? key });
    },
  });

  const goOn = () => {
    if (work.current !== null && queries.isMutating({ mutationKey: ['run', key] }) === 0) mutate(work.current);
  };
  /** With `tryOne`, one event goes first and the others wait for a confirmation. */
  const send = ({ events, ...request }: InterventionRequest, tryOne: boolean) => {
    if (queries.isMutating({ mutationKey: ['run', key] }) > 0) return;
    const alone = tryOne && events.length > 1;
    const batches = batchesOf(key, events, alone ? 1 : 0);
    work.current = { request, batches, results: [], tryOne: alone };
    goOn();
  };
  const stop = () => {
    wantsStop.current = true;
  };
  return { run, send, goOn, stop, soFar };
}

export interface Preview {
  preview: InterventionPreview | null;
  /** The events after those shown, as seen; for an undo, as read when the dialog opened. Complete once `loading` is false. */
  beyond: SeenEvent[];
  problem: ProblemInfo | null;
  loading: boolean;
  /** Reads the rows as they are now; these then count as seen. */
  readAgain: () => void;
}

/**
 * What the operation would do to the first of these events. Events without a version (undo) are all read when the dialog opens. People
 * decide by a preview: it stays until they ask for another.
 */
export function usePreview(opening: Opening): Preview {
  const { subject, operation, events, key } = opening;
  const { preview: ask } = useConsole().interventions;
  const [round, setRound] = useState({
    number: 0,
    seen: events.slice(0, INTERVENTION_EVENTS_MAX),
    beyond: events.slice(INTERVENTION_EVENTS_MAX),
  });
  // A refusal is an answer too: it is shown while the next one is read.
  const shown = useQuery({
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
  const readable = shown.data?.ok === true && !shown.isPlaceholderData;
  const versions = useQuery({
    staleTime: Infinity,
    queryKey: ['versions', key, round.number],
    enabled: readable && round.beyond.length > 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readVersions(ask, opening, round.beyond, signal),
  });
  // The first events are shown before the others are read.
  const failed = shown.data?.ok === false ? shown.data : versions.data?.ok === false ? versions.data : null;
  const preview = failed === null && shown.data?.ok === true ? shown.data.value : null;
  const beyond = versions.data?.ok === true ? versions.data.value : round.beyond;
  return {
    preview,
    beyond,
    problem: failed?.problem ?? null,
    loading: shown.isFetching || (readable && round.beyond.length > 0 && (versions.isPending || versions.isPlaceholderData)),
    readAgain: () => setRound(({ number, seen }) => ({ number: number + 1, seen: preview === null ? seen : asSeen(preview), beyond })),
  };
}

const asSeen = (preview: InterventionPreview): SeenEvent[] => preview.rows.map(({ event }) => ({ id: event.id, version: event.version }));
