import type { Batch, BatchEnd } from '@/lib/shared/batches';
import type { InterventionRequest } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions } from './actions';

/** A commit takes 6 s at the very most (5 s statement, 500 ms lock): without a record after this, none will come. */
const NO_RECORD_AFTER_MS = 20_000;
const FIRST_CHECKS_MS = [1_000, 1_000, 2_000, 3_000];
const LATER_CHECKS_MS = 5_000;
const PATIENT_CHECKS_MS = 15_000;
const PATIENT_AFTER_MS = 60_000;

type End = BatchEnd<ProblemInfo>;

interface Waiting {
  /** It was sent and the answer did not say what became of it; `checkedAt` in ms since 1970, null before the first look. */
  onChecking: (checkedAt: number | null) => void;
  /** Nobody waits any more. */
  gone: () => boolean;
}

/** Sends one intervention, and finds out what became of it: an unknown outcome is looked up until it is known, and never sent again by itself. */
export async function carryOut(
  actions: InterventionActions,
  outbox: string,
  request: Omit<InterventionRequest, 'events'>,
  batch: Batch,
  waiting: Waiting,
): Promise<End> {
  try {
    const answer = await actions.intervene({ outbox, request: { ...request, events: batch.events }, key: batch.key });
    if (answer.ok && answer.value.outcome !== 'unknown') return { result: answer.value };
    if (!answer.ok && answer.problem.code !== 'in_progress') return { halt: { why: 'problem', problem: answer.problem } };
  } catch {
    // The connection to the console broke: it may or may not have arrived.
  }
  return lookUp(actions, outbox, batch.key, waiting);
}

async function lookUp(actions: InterventionActions, outbox: string, key: string, { onChecking, gone }: Waiting): Promise<End> {
  const since = Date.now();
  onChecking(null);
  for (let count = 0; ; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, pause(count, Date.now() - since)));
    if (gone()) return 'gone';
    const answer = await actions.check({ outbox, key }).catch(() => null);
    if (gone()) return 'gone';
    if (answer?.ok && answer.value !== null && answer.value.outcome !== 'unknown') return { result: answer.value };
    if (answer?.ok && answer.value === null && Date.now() - since > NO_RECORD_AFTER_MS) return { halt: { why: 'absent' } };
    onChecking(answer?.ok ? Date.now() : null);
  }
}

function pause(count: number, ageMs: number): number {
  if (ageMs > PATIENT_AFTER_MS) return PATIENT_CHECKS_MS;
  return FIRST_CHECKS_MS[count] ?? LATER_CHECKS_MS;
}
