import type { Batch, BatchEnd } from '@/lib/shared/changes/batches';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions } from './actions';

const FIRST_CHECKS_MS = [1_000, 1_000, 2_000, 3_000];
const LATER_CHECKS_MS = 5_000;
const PATIENT_CHECKS_MS = 15_000;
const PATIENT_AFTER_MS = 60_000;

export type End = BatchEnd<ProblemInfo>;

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
  const sentAt = now();
  try {
    const answer = await actions.intervene({ outbox, request: { ...request, events: batch.events }, key: batch.key });
    if (answer.ok && answer.value.outcome !== 'unknown') return endOf(answer.value);
    if (!answer.ok && answer.problem.code !== 'in_progress') return { halt: { why: 'problem', problem: answer.problem } };
  } catch {
    // The connection to the console broke: it may or may not have arrived.
  }
  return lookUp(actions.check, { outbox, key: batch.key }, sentAt, waiting);
}

/** One that turned out never to have been committed was answered at no time: as if it had not been sent. */
const endOf = (result: InterventionResult): End =>
  result.outcome === 'none' && result.at === null ? { halt: { why: 'absent' } } : { result };

/** In ms since 1970, and never set while this page is open: a clock that jumps must not shorten a wait. */
const now = (): number => performance.timeOrigin + performance.now();

/** Asks after what was sent at `sentAt`, in ms since 1970, until it is known. */
export async function lookUp(
  check: InterventionActions['check'],
  { outbox, key }: { outbox: string; key: string },
  sentAt: number,
  { onChecking, gone }: Waiting,
): Promise<End> {
  const since = Date.now();
  onChecking(null);
  for (let count = 0; ; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, pause(count, Date.now() - since)));
    if (gone()) return 'gone';
    const answer = await check({ outbox, key }).catch(() => null);
    if (gone()) return 'gone';
    if (answer?.ok && answer.value !== null && answer.value.outcome !== 'unknown') return endOf(answer.value);
    if (answer?.ok && answer.value === null && now() - sentAt > NO_RECORD_AFTER_MS) return { halt: { why: 'absent' } };
    onChecking(answer?.ok ? Date.now() : null);
  }
}

function pause(count: number, ageMs: number): number {
  if (ageMs > PATIENT_AFTER_MS) return PATIENT_CHECKS_MS;
  return FIRST_CHECKS_MS[count] ?? LATER_CHECKS_MS;
}
