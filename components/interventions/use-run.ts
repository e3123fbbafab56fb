import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { batchesOf, joinResults, progressOf, runBatches, type Batch, type Halt, type Progress } from '@/lib/shared/changes/batches';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import { useConsole } from '../frame/console';
import type { Opening } from './actions';
import { sendBatch, monotonicNow, type End, type SentKey } from './send';
import { forgetSent, keepSent } from './sent';
import { useSentNotices } from './sent-notices';

/** Where a decision stands. `checking`: a part of it was sent and the answer did not say what became of it. */
export type Run =
  | { phase: 'deciding' }
  | { phase: 'sending'; progress: Progress; several: boolean }
  | { phase: 'checking'; sent: SentKey; onKnown: (end: End) => void }
  | { phase: 'absent'; key: string }
  | { phase: 'refused'; problem: ProblemInfo }
  /** Ended between two batches; what is left can be gone on with. */
  | { phase: 'halted'; progress: Progress; halt: Halt<ProblemInfo>; tried: string | null }
  | { phase: 'done'; result: InterventionResult };

interface Work {
  request: Omit<InterventionRequest, 'events'>;
  batches: Batch[];
  results: InterventionResult[];
  /** The event that goes first and alone; null where none does. */
  tried: string | null;
}

/**
 * Carries out one decision under one key, however often `send` is called: in one intervention where it fits, otherwise in
 * several, one after the other. It stops between two of them when asked to or when one fails, and goes on from there.
 */
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

  const { mutate } = useMutation({
    mutationKey: ['run', key],
    networkMode: 'always',
    mutationFn: async ({ request, batches, results, tried }: Work) => {
      wantsStop.current = false;
      const from = results.length;
      const several = batches.length > 1;
      const show = (): void => setRun({ phase: 'sending', progress: progressOf(batches, results), several });
      show();
      const halt = await runBatches<ProblemInfo>(batches, from, {
        halted: (index) => {
          if (closed.current || (wantsStop.current && index > from)) return { why: 'stopped' };
          return tried !== null && index === 1 && from === 0 ? { why: 'tried' } : null;
        },
        send: async (batch) => {
          const { key: sentKey, events } = batch;
          // Before it is sent: a page that is loaded again meanwhile says what became of it all the same.
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
      const [first, ...others] = results;
      if (halt === null) {
        if (first !== undefined) setRun({ phase: 'done', result: joinResults([first, ...others]) });
      } else if (several && first !== undefined) {
        setRun({ phase: 'halted', progress: progressOf(batches, results), halt, tried: halt.why === 'tried' ? tried : null });
      } else if (halt.why === 'problem') setRun({ phase: 'refused', problem: halt.problem });
      else if (halt.why === 'absent') setRun({ phase: 'absent', key: batches[0]?.key ?? key });
    },
  });

  const goOn = useCallback(() => {
    if (work.current !== null && queries.isMutating({ mutationKey: ['run', key] }) === 0) mutate(work.current);
  }, [mutate, queries, key]);
  /** With `tryOne`, one event goes first and the others wait for a word. */
  const send = useCallback(
    ({ events, ...request }: InterventionRequest, tryOne: boolean) => {
      if (queries.isMutating({ mutationKey: ['run', key] }) > 0) return;
      const alone = tryOne && events.length > 1;
      const batches = batchesOf(key, events, alone ? 1 : 0);
      work.current = { request, batches, results: [], tried: alone ? (events[0]?.id ?? null) : null };
      goOn();
    },
    [goOn, queries, key],
  );
  const stop = useCallback(() => {
    wantsStop.current = true;
  }, []);
  /** What the batches did so far; null before the first was answered. */
  const soFar = useCallback((): InterventionResult | null => {
    const [first, ...others] = work.current?.results ?? [];
    return first === undefined ? null : joinResults([first, ...others]);
  }, []);
  return { run, send, goOn, stop, soFar };
}
