import type { Evidence } from '@/lib/shared/figures/verdicts';
import { isBlind, type Circumstances, type Failure, type Finding, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'cannot_see';

/** The database answers, but the console does not get to see the outbox: not at all, or not every row of it. */
export const cannotSeeVerdict: VerdictRule = {
  verdict: OWNER,
  figures: ({ hidden }) => ({ hidden }),
  judge({ failure, reading, previous }): Finding | null {
    if (failure !== null && isBlind(failure)) {
      const lastSeen: Evidence =
        reading === null ? { code: 'never_seen', values: {} } : { code: 'last_seen', values: { lastSeenAt: reading.asOf } };
      return { since: failure.since, evidence: [whyBlind(failure), lastSeen] };
    }
    if (reading === null || failure !== null || !isHidden(reading)) return null;
    const seen = previous.findLastIndex((past) => !isHidden(past));
    return {
      since: seen === -1 ? null : (previous[seen + 1] ?? reading).asOf,
      evidence: [
        { code: 'rows_hidden', values: {} },
        { code: 'figures_partial', values: {} },
      ],
    };
  },
};

const isHidden = ({ figures }: NonNullable<Circumstances['reading']> | Circumstances['previous'][number]): boolean =>
  figures[OWNER]?.hidden === true;

function whyBlind({ kind, since }: Failure): Evidence {
  const values = { sinceAt: since };
  if (kind === 'no_privilege') return { code: 'no_privilege', values };
  if (kind === 'no_store') return { code: 'store_away', values };
  if (kind === 'slow') return { code: 'source_slow', values };
  if (kind === 'outdated') return { code: 'server_outdated', values };
  return kind === 'missing' ? { code: 'table_missing', values } : { code: 'source_unusable', values };
}
