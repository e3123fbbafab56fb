import { useCallback, useEffect, useRef, useState } from 'react';
import { batchesOf, joinResults, progressOf, runBatches, type Batch, type Halt, type Progress } from '@/lib/shared/changes/batches';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions, Subject } from './actions';
import { carryOut } from './carry-out';
import { forgetSent, keepSent } from './sent';
import { useKeeper } from './sent-interventions';

/** Where a decision stands. `checking`: a part of it was sent and the answer did not say what became of it. */
export type Run =
  | { phase: 'deciding' }
  | { phase: 'sending'; progress: Progress; several: boolean }
  | { phase: 'checking'; progress: Progress; key: string; checkedAt: number | null }
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
 * several, one after the other. It stops between two of them when told to or when one fails, and goes on from there.
 */
export function useRun(actions: InterventionActions, { id: outbox, name: outboxName }: Subject, key: string) {
  const { account, letGo } = useKeeper();
  const [run, setRun] = useState<Run>({ phase: 'deciding' });
  const work = useRef<Work | null>(null);
  const busy = useRef(false);
  const wantsStop = useRef(false);
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
      letGo();
    };
  }, [letGo]);

  const goOn = useCallback(async () => {
    const { current } = work;
    if (current === null || busy.current) return;
    busy.current = true;
    wantsStop.current = false;
    const { request, batches, results, tried } = current;
    const from = results.length;
    const several = batches.length > 1;
    const show = (): void => setRun({ phase: 'sending', progress: progressOf(batches, results), several });
    show();
    const halt = await runBatches<ProblemInfo>(batches, from, {
      halted: (index) => {
        if (gone.current || (wantsStop.current && index > from)) return { why: 'stopped' };
        return tried !== null && index === 1 && from === 0 ? { why: 'tried' } : null;
      },
      carryOut: async (batch) => {
        const { key: sentKey, events } = batch;
        // Before it is sent: whoever reloads the page meanwhile is told all the same.
        if (account !== null)
          keepSent({ key: sentKey, account, outbox, outboxName, operation: request.operation, count: events.length, sentAt: Date.now() });
        const end = await carryOut(actions, outbox, request, batch, {
          gone: () => gone.current,
          onChecking: (checkedAt) => setRun({ phase: 'checking', progress: progressOf(batches, results), key: sentKey, checkedAt }),
        });
        if (end !== 'gone') forgetSent(sentKey);
        return end;
      },
      onResult: (result) => {
        results.push(result);
        show();
      },
    });
    busy.current = false;
    if (halt === 'gone') return;
    const progress = progressOf(batches, results);
    const [first, ...others] = results;
    if (halt === null) {
      if (first !== undefined) setRun({ phase: 'done', result: joinResults([first, ...others]) });
    } else if (several && first !== undefined) setRun({ phase: 'halted', progress, halt, tried: halt.why === 'tried' ? tried : null });
    else if (halt.why === 'problem') setRun({ phase: 'refused', problem: halt.problem });
    else if (halt.why === 'absent') setRun({ phase: 'absent', key: batches[0]?.key ?? key });
  }, [actions, account, outbox, outboxName, key]);

  const send = useCallback(
    ({ events, ...request }: InterventionRequest, tryOne: boolean) => {
      if (busy.current) return;
      const alone = tryOne && events.length > 1;
      const batches = batchesOf(key, events, alone ? 1 : 0);
      work.current = { request, batches, results: [], tried: alone ? (events[0]?.id ?? null) : null };
      void goOn();
    },
    [goOn, key],
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
