import 'server-only';
import { listAudit } from '@/lib/audit/list';
import { createOnce, type Once } from '@/lib/shared/async/once';
import { byCount } from '@/lib/shared/dead-letter-groups';
import type { FleetEntry } from '@/lib/shared/figures/fleet';
import type { FleetNews } from '@/lib/shared/doctor';
import { recentVerdictSpans } from '@/lib/store/verdict-spans';
import { sumAmounts } from '@/lib/shared/text/money';
import type { Context } from '../context';
import { knownCauses } from './causes';
import { orNothing } from './doctor';

/** Causes are read of so many outboxes, those with most dead events, and each once a minute. */
const OUTBOXES = 20;
const CAUSES_KEPT_MS = 60_000;
const GROUPS = 8;
/** Actions and verdicts together; half of it for either, where both are many. */
const CHANGES = 12;
/** Lines of the audit looked at for them. */
const LINES = 50;
const HOUR_MS = 3_600_000;
const SHARED_MS = 5_000;

/** Causes of deaths over all outboxes, as far as they are known within `waitMs`, and what operators did in the last hour. */
export async function readNews(context: Context, entries: readonly FleetEntry[], waitMs: number): Promise<FleetNews> {
  const deadOf = ({ stale, summary }: FleetEntry): number => (stale === null ? (summary.depth.dead.count ?? 0) : 0);
  const dying = entries
    .filter((entry) => deadOf(entry) > 0)
    .sort((a, b) => deadOf(b) - deadOf(a))
    .slice(0, OUTBOXES);
  const [found, changes] = await Promise.all([
    Promise.all(dying.map(({ outbox }) => knownCauses(context, outbox.id, CAUSES_KEPT_MS, waitMs))),
    orNothing(context.console, { actions: [], verdicts: [] }, () => changesOf(context)),
  ]);
  const causes = found.filter((one) => one !== null);
  const groups = causes.flatMap((one) => one.groups).sort(byCount);
  const known = entries.every(({ stale, unread }) => stale === null && !unread);
  const whole = known && causes.length === dying.length && causes.every(({ searched, more }) => searched.complete && more === 0);
  return {
    groups: groups.slice(0, GROUPS),
    moreGroups: causes.reduce((sum, { more }) => sum + more, Math.max(0, groups.length - GROUPS)),
    atStake: {
      sums: sumAmounts(groups.flatMap(({ sums }) => sums)),
      whole: whole && groups.every(({ count, summed }) => count === summed),
    },
    ...changes,
  };
}

const ofStores = new WeakMap<object, Once>();

/** What was done to outboxes, a line per action, and what began or ended. No values of rows are in it, so that every role sees the same. */
function changesOf({ console: { store, directory } }: Context): Promise<Pick<FleetNews, 'actions' | 'verdicts'>> {
  const once = ofStores.get(store) ?? createOnce();
  ofStores.set(store, once);
  return once([Math.floor(Date.now() / SHARED_MS)], async () => {
    const from = new Date(Date.now() - HOUR_MS).toISOString();
    const [{ entries }, spans] = await Promise.all([
      listAudit(store, { from }, { limit: LINES, by: 'action' }),
      recentVerdictSpans(store.db, from, LINES),
    ]);
    const actions = entries.filter(({ outbox, operation }) => outbox !== null || operation === 'mark');
    const verdicts = spans.filter(({ outbox }) => directory.ids.includes(outbox)).slice(0, Math.max(CHANGES / 2, CHANGES - actions.length));
    return {
      actions: actions
        .slice(0, CHANGES - verdicts.length)
        .map((entry) => ({ ...entry, eventId: null, eventType: null, aggregateId: null, before: null, after: null })),
      verdicts,
    };
  });
}
