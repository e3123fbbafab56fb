import type { Evidence } from '@/lib/shared/figures/verdicts';
import { FLOW, isAlive, silenceLimitMs, rhythmOf, standstill, type Rhythm, type Standstill } from '../evidence/flow';
import { drainBy } from '../evidence/forecast';
import { stopOf } from '@/lib/outbox/replication-slots/progress';
import { ageMs, fact, factIfKnown, isoOf, nothingOut, slotHistory, type Judge, type VerdictRule } from '../evidence/circumstances';

/** Events are due, none is published and none is tried, for longer than the rhythm explains; without rows that show it, by its slot. */
export const relayStoppedVerdict: VerdictRule = {
  verdict: 'relay_stopped',
  live: FLOW,
  judge: (circumstances) => byRows(circumstances) ?? bySlot(circumstances),
};

const byRows: Judge = (circumstances) => {
  const { reading, now } = circumstances;
  const still = standstill(circumstances);
  if (reading === null || still === null) return null;
  const usual = rhythmOf(circumstances);
  const patience = silenceLimitMs(usual, still.confirmed);
  // A relay that tries and fails is not stopped: other verdicts cover that.
  if (now - still.since <= patience || isAlive(circumstances, patience)) return null;
  const unmoved = still.how === 'created' || still.how === 'again' ? [fact('nothing_moved', { sinceAt: isoOf(still.since) })] : [];
  const first = still.written ? [nothingOut(reading)] : unmoved;
  const evidence = [...first, ...forecast(circumstances, still.due), waiting(still, now), rhythm(usual, patience)];
  return { since: isoOf(still.since), evidence };
};

/** How many wait, and how it is known that they do. */
function waiting({ how, due: count, firstDueAt, since }: Standstill, now: number): Evidence {
  const age = firstDueAt === null ? null : ageMs(firstDueAt, now);
  if (how === 'created') return fact('events_due', { count, oldestAt: firstDueAt, ageMs: age });
  if (how === 'again') return fact('due_again', { count, dueAt: firstDueAt, ageMs: age });
  if (how === 'due_time') return fact('events_overdue', { count, dueAt: firstDueAt, ageMs: age });
  return fact(how === 'key' ? 'waits_by_key' : 'waits_by_looks', { count, sinceAt: isoOf(since) });
}

/** How long it needs once it is back, at the pace it had; nothing where that, or how many wait, is not known. */
function forecast({ reading, history }: Parameters<Judge>[0], due: number): Evidence[] {
  const paces = (history?.minutes ?? []).flatMap(({ published }) => (published > 0 ? published / 60_000 : []));
  // Of such minutes the first and the last may be cut off.
  const known = reading?.reach.waiting === 'complete' && paces.length > 2;
  const { fromMs, toMs } = drainBy(due, known ? paces : []);
  return factIfKnown('back_needs', { fromMs, toMs });
}

const bySlot: Judge = (circumstances) => {
  const stop = stopOf(slotHistory(circumstances));
  if (stop === null) return null;
  const { slot, lagBytes, heldBytes } = stop;
  const since = isoOf(stop.since);
  if (stop.how === 'lost') return { since, evidence: [fact('slot_lost', { slot, reason: stop.reason })] };
  if (stop.how === 'missing') return { since, evidence: [fact('slot_missing', { slot })] };
  const sizes = [...factIfKnown('slot_lag', { lagBytes }), ...factIfKnown('slot_held', { heldBytes })];
  const facts = [...factIfKnown('slot_events', { count: stop.events }), ...sizes];
  const values = { slot, sinceAt: since };
  // If the slot has no reader, the verdict's own sentence says so: the other facts come first.
  return { since, evidence: stop.how === 'silent' ? [fact('slot_silent', values), ...facts] : [...facts, fact('slot_unread', values)] };
};

function rhythm({ p50Ms, published: count }: Rhythm, patience: number): Evidence {
  if (p50Ms !== null) return fact('usual_rhythm', { p50Ms, patienceMs: patience });
  return count > 0 ? fact('usual_pace', { count, patienceMs: patience }) : fact('rhythm_unknown', { patienceMs: patience });
}
