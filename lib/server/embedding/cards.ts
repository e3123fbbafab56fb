import 'server-only';
import { byCount } from '@/lib/shared/dead-letter-groups';
import type { Card, DeadLettersCard, FateCard, FleetCard, OutboxCard } from '@/lib/shared/embedding/cards';
import { fleetLine, type FleetEntry } from '@/lib/shared/figures/fleet';
import { DEFAULT_WINDOW, type Window } from '@/lib/shared/figures/windows';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import type { Context } from '../context';
import { knownCauses } from '../reads/causes';
import { shownSummary } from '../reads/figures';
import { readFound } from '../reads/find';
import type { CardRequest } from './route';

type Outboxes = CardRequest['outboxes'];

/** Causes are read of so many outboxes, those with most dead events, each at most once in this time for all cards. */
const CAUSES_OF = 20;
const CAUSES_KEPT_MS = 15_000;
/** They say nothing of now. */
const CAUSES_OLD_MS = 60_000;
/** A card is drawn within a second. */
const CAUSES_WAIT_MS = 500;
const GROUPS = 8;

/** What a card shows, as this actor may see it and of no outbox but these. Throws Problem `not_found`, and what `readFound` throws. */
export function readCard(context: Context, { view, key = '', outbox = '', window = DEFAULT_WINDOW, outboxes }: CardRequest): Promise<Card> {
  switch (view) {
    case 'fate':
      return fateCard(context, key, outboxes);
    case 'outbox':
      return outboxCard(context, outbox, window);
    case 'dead-letters':
      return deadLettersCard(context, outbox === '' ? outboxes : [outbox]);
    case 'fleet':
      return fleetCard(context, outboxes);
  }
}

async function fateCard(context: Context, key: string, own: Outboxes): Promise<FateCard> {
  const found = await readFound(context, key, own ?? undefined);
  const names = found.outboxes.map(({ outbox }) => [outbox, context.console.directory.settings(outbox).name]);
  // What is in payloads, such as amounts, no card shows.
  const outboxes = found.outboxes.map(({ events, ...part }) => ({
    ...part,
    events: events.map(({ id, type, state, fate, error, createdAt, publishedAt, lastAttemptAt, diedAt }) => ({
      ...{ id, type, state, fate, error, createdAt, publishedAt, lastAttemptAt, diedAt },
    })),
  }));
  return { view: 'fate', ...found, outboxes, names: Object.fromEntries(names) as FateCard['names'] };
}

async function outboxCard(context: Context, id: string, window: Window): Promise<OutboxCard> {
  const { outbox, summary, stale, asOf, series } = await context.console.snapshots.outbox(id, window);
  const line = { outbox, summary: shownSummary(context, summary), stale, unread: false, sparkline: [], sparklineOf: 'waiting' as const };
  return {
    view: 'outbox',
    ...{ asOf, everyMs: POLL_INTERVAL_MS, window, line: fleetLine(line), stepSeconds: series.stepSeconds },
    points: series.points.map(({ at, waiting, dead, published, gap }) => ({ at, waiting, dead, published, gap })),
  };
}

/** As the fleet's screen has them, without a reading of their own. `asOf`: of the oldest that count as current, or of all where none does. */
async function entriesOf({ console }: Context, outboxes: Outboxes): Promise<{ asOf: string; everyMs: number; entries: FleetEntry[] }> {
  const { asOf, everyMs, entries } = await console.snapshots.fleet(true);
  const own = outboxes === null ? entries : entries.filter(({ outbox }) => outboxes.includes(outbox.id));
  const current = own.filter(({ stale, unread }) => stale === null && !unread);
  const [oldest = asOf] = (current.length > 0 ? current : own).map(({ stale, summary }) => stale?.since ?? summary.asOf).sort();
  return { asOf: oldest, everyMs, entries: own };
}

async function fleetCard(context: Context, outboxes: Outboxes): Promise<FleetCard> {
  const { entries, ...times } = await entriesOf(context, outboxes);
  const lines = entries.map((entry) => fleetLine({ ...entry, summary: shownSummary(context, entry.summary) }));
  return { view: 'fleet', ...times, lines };
}

async function deadLettersCard(context: Context, outboxes: Outboxes): Promise<DeadLettersCard> {
  // Problem `not_found` for an outbox that there is not.
  for (const id of outboxes ?? []) context.console.directory.settings(id);
  const { entries, ...times } = await entriesOf(context, outboxes);
  // Of a database that is away, as it answered last.
  const deadOf = ({ summary: { depth } }: FleetEntry): number => depth.dead.count ?? 0;
  const most = entries.toSorted((a, b) => deadOf(b) - deadOf(a));
  const dying = most.filter((entry) => deadOf(entry) > 0).slice(0, CAUSES_OF);
  const known = await Promise.all(dying.map(({ outbox }) => knownCauses(context, outbox.id, CAUSES_KEPT_MS, CAUSES_WAIT_MS)));
  const found = known.map((one) => (one !== null && Date.now() - Date.parse(one.asOf) < CAUSES_OLD_MS ? one : null));
  const groups = found.flatMap((one) => one?.groups ?? []).sort(byCount);
  return {
    view: 'dead-letters',
    ...times,
    outboxes: most.map((entry, index) => {
      const { outbox, summary, stale } = entry;
      const complete = deadOf(entry) === 0 || (found[index]?.searched.complete === true && found[index]?.more === 0);
      return { id: outbox.id, name: outbox.name, dead: summary.depth.dead, complete, stale };
    }),
    groups: groups
      .slice(0, GROUPS)
      .map(({ outbox, type, error, count, seen, lastSeenAt }) => ({ outbox, type, error, count, seen, lastSeenAt })),
    moreGroups: found.reduce((sum, one) => sum + (one?.more ?? 0), Math.max(0, groups.length - GROUPS)),
  };
}
