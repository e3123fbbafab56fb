import type { Evidence } from '@/lib/shared/verdicts';
import { flowFigures, isAlive, patienceMs, rhythmOf, standstill, type Rhythm, type Standstill } from '../flow';
import type { VerdictRule } from '../verdict';

/** Events are due, none goes out, and nobody tries: for longer than this relay's own rhythm explains. */
export const relayStoppedVerdict: VerdictRule = {
  verdict: 'relay_stopped',
  figures: flowFigures,
  judge(circumstances) {
    const { now } = circumstances;
    const still = standstill(circumstances);
    if (still === null) return null;
    const usual = rhythmOf(circumstances);
    const patience = patienceMs(usual, still.confirmed);
    // A relay that tries and fails is not stopped: another verdict says what it fails at.
    if (now - still.since <= patience || isAlive(circumstances, patience)) return null;
    return {
      since: new Date(still.since).toISOString(),
      evidence: [
        movement(still),
        { code: 'events_due', values: { count: still.due, oldestAt: still.firstDueAt, ageMs: now - Date.parse(still.firstDueAt) } },
        rhythm(usual, patience),
      ],
    };
  },
};

function movement({ written, lastOutAt, firstDueAt }: Standstill): Evidence {
  if (!written) return { code: 'nothing_moved', values: { sinceAt: lastOutAt ?? firstDueAt } };
  return lastOutAt === null
    ? { code: 'never_published', values: {} }
    : { code: 'nothing_published', values: { lastPublishedAt: lastOutAt } };
}

function rhythm({ p50Ms, published }: Rhythm, patience: number): Evidence {
  if (p50Ms !== null) return { code: 'usual_rhythm', values: { p50Ms, patienceMs: patience } };
  return published > 0
    ? { code: 'usual_pace', values: { count: published, patienceMs: patience } }
    : { code: 'rhythm_unknown', values: { patienceMs: patience } };
}
