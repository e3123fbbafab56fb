import { useCallback, useEffect, useRef, useState } from 'react';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions } from './actions';

/** Where an intervention stands. `checking`: it was sent and the answer did not say what became of it. */
export type Run =
  | { phase: 'deciding' }
  | { phase: 'sending' }
  | { phase: 'checking'; since: number; checkedAt: number | null }
  | { phase: 'absent' }
  | { phase: 'refused'; problem: ProblemInfo }
  | { phase: 'done'; result: InterventionResult };

/** A commit takes 6 s at the very most (5 s statement, 500 ms lock): without a record after this, none will come. */
const NO_RECORD_AFTER_MS = 20_000;
const FIRST_CHECKS_MS = [1_000, 1_000, 2_000, 3_000];
const LATER_CHECKS_MS = 5_000;
const PATIENT_CHECKS_MS = 15_000;
const PATIENT_AFTER_MS = 60_000;

/**
 * Sends one intervention under one key, however often `send` is called, and finds out what became of it:
 * an unknown outcome is looked up until it is known, and never sent again by itself.
 */
export function useRun(actions: InterventionActions, outbox: string, key: string) {
  const [run, setRun] = useState<Run>({ phase: 'deciding' });
  const busy = useRef(false);

  const send = useCallback(
    async (request: InterventionRequest) => {
      if (busy.current) return;
      busy.current = true;
      setRun({ phase: 'sending' });
      setRun(await attempt(actions, outbox, request, key));
      busy.current = false;
    },
    [actions, outbox, key],
  );

  const since = run.phase === 'checking' ? run.since : null;
  useEffect(() => {
    if (since === null) return;
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (count: number) => {
      const answer = await actions.check({ outbox, key }).catch(() => null);
      if (stopped) return;
      const age = Date.now() - since;
      if (answer?.ok && answer.value !== null && answer.value.outcome !== 'unknown') setRun({ phase: 'done', result: answer.value });
      else if (answer?.ok && answer.value === null && age > NO_RECORD_AFTER_MS) setRun({ phase: 'absent' });
      else {
        setRun({ phase: 'checking', since, checkedAt: answer?.ok ? Date.now() : null });
        timer = setTimeout(() => void look(count + 1), pause(count, age));
      }
    };
    timer = setTimeout(() => void look(1), pause(0, 0));
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [since, actions, outbox, key]);

  return { run, send };
}

function pause(count: number, ageMs: number): number {
  if (ageMs > PATIENT_AFTER_MS) return PATIENT_CHECKS_MS;
  return FIRST_CHECKS_MS[count] ?? LATER_CHECKS_MS;
}

async function attempt(actions: InterventionActions, outbox: string, request: InterventionRequest, key: string): Promise<Run> {
  const checking: Run = { phase: 'checking', since: Date.now(), checkedAt: null };
  try {
    const answer = await actions.intervene({ outbox, request, key });
    if (answer.ok) return answer.value.outcome === 'unknown' ? checking : { phase: 'done', result: answer.value };
    return answer.problem.code === 'in_progress' ? checking : { phase: 'refused', problem: answer.problem };
  } catch {
    // The connection to the console broke: it may or may not have arrived.
    return checking;
  }
}
