import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import type { Evidence } from '@/lib/shared/figures/verdicts';
import type { SummaryFigures } from '@/lib/figures/summarise';
import type { Reading } from '@/lib/live/reading';
import type { Circumstances, VerdictRule } from '../evidence/circumstances';
import { drainOf, waitingOf } from '../evidence/forecast';

/** Fewer waiting events than this need no forecast. */
const BACKLOG_MIN = 100;

/** Nothing else holds; what could not be judged is said. */
export const healthyVerdict: VerdictRule = {
  verdict: 'healthy',
  judge(circumstances) {
    const { reading, figures } = circumstances;
    if (reading === null || figures === null) return null;
    if (figures.slot !== null) return { since: null, evidence: bySlot(figures.slot) };
    return { since: null, evidence: [...backlog(circumstances), lastPublished(figures), latency(figures), ...notJudged(reading, figures)] };
  },
};

/** Rows that tell nothing prove nothing: what the slot says, or that nobody knows. */
function bySlot({ known, why, name, assumed, state, inactiveSince, lagBytes, walStatus }: SlotHealth): Evidence[] {
  if (known === 'unavailable') return [{ code: 'slot_unknown', values: { why: why ?? null } }];
  const told: Record<NonNullable<SlotHealth['state']>, Evidence> = {
    active: { code: 'slot_read', values: { slot: name } },
    inactive: { code: 'slot_unread', values: { slot: name, sinceAt: inactiveSince } },
    lost: { code: 'slot_lost', values: { slot: name, reason: walStatus } },
    missing: { code: 'slot_missing', values: { slot: name } },
  };
  return [
    ...(state === null ? [] : [told[state]]),
    ...(lagBytes === null ? [] : [{ code: 'slot_lag', values: { lagBytes } }]),
    ...(assumed ? [{ code: 'slot_assumed', values: { slot: name } }] : []),
  ];
}

/** A burst that is being worked off: no trouble, and good to know when it will be over. */
function backlog(circumstances: Circumstances): Evidence[] {
  const waiting = circumstances.reading === null ? null : waitingOf(circumstances.reading);
  const drain = (waiting ?? 0) < BACKLOG_MIN ? null : drainOf(circumstances);
  if (drain === null) return [];
  return [{ code: 'drains_in', values: { fromMs: Math.round(drain.fromMs), toMs: Math.round(drain.toMs), count: waiting } }];
}

function lastPublished({ lastPublishedAt, latency: { why, count } }: SummaryFigures): Evidence {
  if (lastPublishedAt !== null) return { code: 'last_published', values: { lastPublishedAt } };
  return why === 'needs_sampling' || why === 'no_published_at' || why === 'too_many_rows' || (count ?? 0) > 0
    ? { code: 'publishing_time_unknown', values: {} }
    : { code: 'never_published', values: {} };
}

function latency({ latency: { p95Ms, count }, depth }: SummaryFigures): Evidence {
  if (p95Ms !== null) return { code: 'usual_latency', values: { p95Ms, count } };
  return { code: 'waiting_now', values: { count: depth.waiting.count } };
}

function notJudged({ traits, reach }: Reading, { depth }: SummaryFigures): Evidence[] {
  const said: Evidence[] = [];
  if ((depth.processing.count ?? 0) > 0 && !traits.claimTime)
    said.push({ code: 'claim_time_unknown', values: { count: depth.processing.count } });
  if (Object.values(reach).includes('cut')) said.push({ code: 'too_many_rows', values: {} });
  return said;
}
