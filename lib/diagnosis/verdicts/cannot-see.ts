import { figuresIn, type Aggregates, type Past } from '@/lib/live/reading';
import { fact, inARow, isBlind, lastSeen, type Failure, type Finding, type VerdictRule } from '../evidence/circumstances';

const SIGHT: Aggregates<{ hidden: boolean }> = { owner: 'cannot_see', figures: ({ hidden }) => ({ hidden }) };

/** The fact of each failure in which the database answers; the others have source_down. */
const WHY: Record<Failure['kind'], string> = {
  timeout: 'source_unusable',
  unavailable: 'source_unusable',
  unusable: 'source_unusable',
  no_privilege: 'no_privilege',
  no_store: 'store_away',
  slow: 'source_slow',
  outdated: 'server_outdated',
  missing: 'table_missing',
};

/** The database answers, but the console cannot see the outbox: not at all, or not every row of it. */
export const cannotSeeVerdict: VerdictRule = {
  verdict: 'cannot_see',
  live: SIGHT,
  judge(circumstances): Finding | null {
    const { failure, reading, previous } = circumstances;
    if (failure !== null && isBlind(failure)) {
      const { kind, since } = failure;
      return { since, evidence: [fact(WHY[kind], { sinceAt: since }), lastSeen(circumstances)] };
    }
    if (reading === null || failure !== null || !isHidden(reading)) return null;
    const hidden = inARow<Past>(reading, previous, isHidden);
    const since = hidden.length > previous.length ? null : (hidden[0]?.asOf ?? null);
    return { since, evidence: [fact('rows_hidden'), fact('figures_partial')] };
  },
};

const isHidden = (past: Past): boolean => figuresIn(past, SIGHT).hidden === true;
