import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import type { Evidence } from '@/lib/shared/figures/verdicts';
import type { SummaryFigures } from '@/lib/figures/summarise';
import { figuresIn, type Reading } from '@/lib/live/reading';
import { fact, factIfKnown, isoOf, type Circumstances, type VerdictRule } from '../evidence/circumstances';
import { unknownStandstill } from '../evidence/flow';
import { drainOf, QUEUE } from '../evidence/forecast';

/** Fewer waiting events than this need no forecast. */
const BACKLOG_MIN = 100;
/** A share of failed attempts that somebody who sees it asks about. */
const FAILING_MIN = 0.2;
/** Fewer tries than this tell no share. */
const TRIES_MIN = 20;

/** Nothing else holds; what could not be judged is named. */
export const healthyVerdict: VerdictRule = {
  verdict: 'healthy',
  judge(circumstances) {
    const { reading, figures } = circumstances;
    if (reading === null || figures === null) return null;
    if (figures.slot !== null) return { since: null, evidence: bySlot(figures.slot) };
    const flow = [...backlog(circumstances, reading), lastPublished(figures), latency(figures)];
    return { since: null, evidence: [...flow, ...failing(circumstances), ...notJudged(circumstances, reading, figures)] };
  },
};

/** Rows do not show publishing here: the slot's state, or that it is not known. */
function bySlot({ known, why, name: slot, assumed, state, inactiveSince, lagBytes, walStatus }: SlotHealth): Evidence[] {
  if (known === 'unavailable') return [fact('slot_unknown', { why: why ?? null })];
  const byState: Record<NonNullable<SlotHealth['state']>, Evidence> = {
    active: fact('slot_read', { slot }),
    inactive: fact('slot_unread', { slot, sinceAt: inactiveSince }),
    lost: fact('slot_lost', { slot, reason: walStatus }),
    missing: fact('slot_missing', { slot }),
  };
  const read = state === null ? [] : [byState[state]];
  return [...read, ...factIfKnown('slot_lag', { lagBytes }), ...(assumed ? [fact('slot_assumed', { slot })] : [])];
}

/** A burst that is being worked off: no problem, but it helps to know when it will be over. */
function backlog(circumstances: Circumstances, reading: Reading): Evidence[] {
  const { waiting: count = 0 } = figuresIn(reading, QUEUE);
  const drain = count < BACKLOG_MIN ? null : drainOf(circumstances);
  return drain === null ? [] : [fact('drains_in', { fromMs: drain.fromMs, toMs: drain.toMs, count })];
}

function lastPublished({ lastPublishedAt, lastPublishedWhy, latency }: SummaryFigures): Evidence {
  if (lastPublishedAt !== null) return fact('last_published', { lastPublishedAt });
  const never = lastPublishedWhy === 'no_events' && (latency.count ?? 0) === 0;
  return fact(never ? 'never_published' : 'publishing_time_unknown');
}

const latency = ({ latency: { p95Ms, count }, depth }: SummaryFigures): Evidence =>
  p95Ms !== null ? fact('usual_latency', { p95Ms, count }) : fact('waiting_now', { count: depth.waiting.count });

/** No problem by itself where events go out on a later attempt. */
function failing({ reading, history }: Circumstances): Evidence[] {
  const sum = (figure: 'failures' | 'published') => (history?.minutes ?? []).reduce((all, minute) => all + minute[figure], 0);
  const [failures, tries] = [sum('failures'), sum('failures') + sum('published')];
  const share = failures / tries;
  return reading?.traits.attempts === true && tries >= TRIES_MIN && share >= FAILING_MIN ? [fact('attempts_fail', { share })] : [];
}

function notJudged(circumstances: Circumstances, { traits, reach }: Reading, { depth: { processing } }: SummaryFigures): Evidence[] {
  const left = unknownStandstill(circumstances);
  return [
    ...(left === null ? [] : [fact('standstill_unknown', { count: left.due, sinceAt: isoOf(left.since) })]),
    ...((processing.count ?? 0) > 0 && !traits.claimTime ? [fact('claim_time_unknown', { count: processing.count })] : []),
    ...(Object.values(reach).includes('cut') ? [fact('too_many_rows')] : []),
  ];
}
