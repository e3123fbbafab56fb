import type { Evidence } from '@/lib/shared/figures/verdicts';
import { flowFigures, isAlive, silenceLimitMs, rhythmOf, standstill, type Rhythm, type Standstill } from '../evidence/flow';
import { stopOf } from '@/lib/outbox/replication-slots/progress';
import { slotHistory, type Circumstances, type Finding, type VerdictRule } from '../evidence/circumstances';

/**
 * Events are due, none goes out, and nobody tries: for longer than this relay's own rhythm explains. Where no row tells, the
 * replication slot does: nobody reads it, nothing of it is confirmed, or it cannot be read any more.
 */
export const relayStoppedVerdict: VerdictRule = {
  verdict: 'relay_stopped',
  figures: flowFigures,
  judge: (circumstances) => byRows(circumstances) ?? bySlot(circumstances),
};

function byRows(circumstances: Circumstances): Finding | null {
  const { now } = circumstances;
  const still = standstill(circumstances);
  if (still === null) return null;
  const usual = rhythmOf(circumstances);
  const patience = silenceLimitMs(usual, still.confirmed);
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
}

function bySlot(circumstances: Circumstances): Finding | null {
  const stop = stopOf(slotHistory(circumstances));
  if (stop === null) return null;
  const { since, slot, lagBytes, heldBytes } = stop;
  const sinceAt = since === null ? null : new Date(since).toISOString();
  if (stop.how === 'lost') return { since: sinceAt, evidence: [{ code: 'slot_lost', values: { slot, reason: stop.reason } }] };
  if (stop.how === 'missing') return { since: sinceAt, evidence: [{ code: 'slot_missing', values: { slot } }] };
  const silent = stop.how === 'silent';
  return {
    since: sinceAt,
    evidence: [
      ...(silent ? [{ code: 'slot_silent', values: { slot, sinceAt } }] : []),
      ...(stop.events === null ? [] : [{ code: 'slot_events', values: { count: stop.events } }]),
      ...(lagBytes === null ? [] : [{ code: 'slot_lag', values: { lagBytes } }]),
      ...(heldBytes === null ? [] : [{ code: 'slot_held', values: { heldBytes } }]),
      // The verdict's own sentence says as much: what it is about comes first.
      ...(silent ? [] : [{ code: 'slot_unread', values: { slot, sinceAt } }]),
    ],
  };
}

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
