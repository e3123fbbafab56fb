import { sql } from 'kysely';
import { lastPublishedAt } from '@/lib/figures/throughput';
import { due, failing } from '@/lib/live/reading-sql';
import { figuresIn, type Aggregates } from '@/lib/live/reading';
import { count, earliest, iso, isState, latest, mostFrequent, typeWithMost } from '@/lib/outbox/scan/sql-terms';
import { FLOW, isAlive, silenceLimitMs, POISON_ROWS_MAX, rhythmOf, type Flow } from '../evidence/flow';
import { ageMs, fact, isoOf, laterOf, seenBefore, type Circumstances, type Finding, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'starved';
const CONFIRMED_MS = { fromMs: 5_000 };

interface Starved extends Record<'since' | 'type' | 'error', string | null> {
  ahead: number;
  /** When an event was last published at its first attempt. */
  freshOut: string | null;
}

const STARVED: Aggregates<Starved> = {
  owner: OWNER,
  figures(base) {
    const { traits, state, created, published, attempts, error } = base;
    const isFailing = failing(base);
    const firstDue = sql`(select min(${created}) from base where ${due(base)})`;
    const firstTry = traits.attempts ? sql`coalesce(${attempts}, 0) <= ${sql.lit(traits.countsClaims ? 1 : 0)}` : sql`true`;
    return {
      ahead: count(sql`(${isFailing} and ${created} <= ${firstDue})`),
      since: iso(earliest(created, isFailing)),
      freshOut: iso(latest(published, sql`(${isState(state, 'published')} and ${firstTry})`)),
      type: typeWithMost(OWNER, 'failing'),
      error: sql`left(${mostFrequent(error, sql`${isFailing} and ${error} is not null`)}, 200)`,
    };
  },
  perType: (base) => ({ failing: count(failing(base)) }),
};

/** Failing rows fill every batch: the relay works, but events that never failed wait behind them and none of those is published. */
export const starvedVerdict: VerdictRule = {
  verdict: OWNER,
  live: STARVED,
  judge(circumstances): Finding | null {
    const { reading, now } = circumstances;
    if (reading === null || !reading.traits.createdAt) return null;
    const { ahead = 0, error = null, type = null } = figuresIn(reading, STARVED);
    const { due: events = 0, firstDue = null, failing: failed = 0 } = figuresIn(reading, FLOW);
    if (events === 0 || firstDue === null || ahead <= POISON_ROWS_MAX || failed <= POISON_ROWS_MAX) return null;
    const since = laterOf(firstDue, reading.foldedTo === null ? lastPublishedAt(reading) : freshOutAt(circumstances));
    const confirmed = seenBefore(circumstances, CONFIRMED_MS, (past) => figuresIn(past, FLOW).firstDue === firstDue);
    const patience = silenceLimitMs(rhythmOf(circumstances), confirmed, true);
    // After a pause the relay works off what waits, the oldest first.
    const before = { fromMs: 0, toMs: patience };
    const isBefore = ({ due: were = 0, firstDue: first }: Partial<Flow>): boolean => were > events || (first ?? firstDue) < firstDue;
    const moves = seenBefore(circumstances, before, (past) => isBefore(figuresIn(past, FLOW)));
    if (moves || now - since <= patience || !isAlive(circumstances, patience)) return null;
    const cause = error === null && type === null ? [] : [fact('failing_cause', { error, type })];
    const behind = fact('fresh_behind', { count: events, oldestAt: firstDue, ageMs: ageMs(firstDue, now) });
    return { since: isoOf(since), evidence: [fact('failing_ahead', { count: ahead }), behind, ...cause] };
  },
};

/** When an event was last published at its first attempt, as far as readings show, ISO 8601 UTC. */
function freshOutAt({ reading, previous }: Circumstances): string | null {
  const seen = [...previous, ...(reading === null ? [] : [reading])].flatMap((past) => figuresIn(past, STARVED).freshOut ?? []);
  return seen.sort().at(-1) ?? null;
}
