import 'server-only';
import { createOnce, type Once } from '@/lib/shared/async/once';
import { byCount } from '@/lib/shared/dead-letter-groups';
import type { FleetEntry } from '@/lib/shared/figures/fleet';
import type { FleetNews } from '@/lib/shared/doctor';
import { selectAuditEntries } from '@/lib/store/audit';
import { recentVerdictSpans } from '@/lib/store/verdict-spans';
import { perObject } from '@/lib/shared/kept';
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
/** Verdicts looked at for them: some may be of outboxes that left the configuration. */
const SPANS = 50;
const HOUR_MS = 3_600_000;
const SHARED_MS = 5_000;

/** Causes of deaths over all outboxes, as far as they are known within `waitMs`, and what operators did in the last hour. */
export async function readNews(context: Context, entries: readonly FleetEntry[], waitMs: number): Promise<FleetNews> {
  // NaN: not known. Of a database that is away, as it answered last.
  const deadOf = ({ summary: { depth } }: FleetEntry): number => (depth.dead.why === 'not_in_schema' ? 0 : (depth.dead.count ?? NaN));
  const dying = entries.filter((entry) => deadOf(entry) > 0).sort((a, b) => deadOf(b) - deadOf(a));
  const ids = dying.slice(0, OUTBOXES).map(({ outbox }) => outbox.id);
  const [found, changes] = await Promise.all([
    Promise.all(ids.map((id) => knownCauses(context, id, CAUSES_KEPT_MS, waitMs))),
    orNothing(context.console, { actions: [], verdicts: [], changes: 'unread' as const }, () => changesOf(context)),
  ]);
  const causes = found.filter((one) => one !== null);
  const groups = causes.flatMap((one) => one.groups).sort(byCount);
  const complete = (entry: FleetEntry): boolean => {
    const own = found[ids.indexOf(entry.outbox.id)];
    return own == null ? entry.stale === null && deadOf(entry) === 0 : own.searched.complete && own.more === 0;
  };
  // Others cannot add to a sum.
  const hasAmounts = (id: string): boolean => context.console.directory.settings(id).amount !== null;
  return {
    groups: groups.slice(0, GROUPS),
    moreGroups: causes.reduce((sum, { more }) => sum + more, Math.max(0, groups.length - GROUPS)),
    causesOf: Object.fromEntries(
      found.flatMap((one, at) =>
        one === null ? [] : [[ids[at], { count: one.groups.length + one.more, atLeast: !one.searched.complete || one.others > 0 }]],
      ),
    ),
    searched: {
      complete: entries.every(complete),
      rows: Math.max(0, ...causes.map(({ searched }) => (searched.complete ? 0 : searched.rows))),
      outboxes: dying.length > OUTBOXES ? OUTBOXES : 0,
      unread: found.length - causes.length,
    },
    atStake: {
      sums: sumAmounts(groups.flatMap(({ sums }) => sums)),
      whole:
        entries.every((entry) => complete(entry) || !hasAmounts(entry.outbox.id)) &&
        groups.every(({ outbox, count, summed }) => count === summed || !hasAmounts(outbox)),
    },
    ...changes,
  };
}

const onceOf = perObject<object, Once>(createOnce);

/** What was done to outboxes, a line per action, and what began or ended. No values of rows are in it, so that every role sees the same. */
function changesOf({ console: { store, directory } }: Context): Promise<Pick<FleetNews, 'actions' | 'verdicts' | 'changes'>> {
  return onceOf(store)([Math.floor(Date.now() / SHARED_MS)], async () => {
    const from = new Date(Date.now() - HOUR_MS).toISOString();
    const [actions, recent] = await Promise.all([
      selectAuditEntries(store.db, { from, on: 'outboxes' }, null, CHANGES + 1, 'action'),
      recentVerdictSpans(store.db, from, SPANS),
    ]);
    const spans = recent.filter(({ outbox }) => directory.ids.includes(outbox));
    const verdicts = spans.slice(0, Math.max(CHANGES / 2, CHANGES - actions.length));
    return {
      actions: actions
        .slice(0, CHANGES - verdicts.length)
        .map((entry) => ({ ...entry, eventId: null, eventType: null, aggregateId: null, before: null, after: null })),
      verdicts,
      changes: recent.length === SPANS || actions.length + spans.length > CHANGES ? 'newest' : 'all',
    };
  });
}
