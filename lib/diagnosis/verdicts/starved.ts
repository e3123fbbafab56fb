import { sql } from 'kysely';
import type { Evidence } from '@/lib/shared/figures/verdicts';
import { failingCount, isAlive, silenceLimitMs, POISON_ROWS_MAX, rhythmOf } from '../evidence/flow';
import { due, failing } from '@/lib/live/reading-sql';
import { numberOf, textOf } from '@/lib/live/reading';
import { count, earliest, iso, isState, latest, mostFrequent, typeWithMost } from '@/lib/outbox/scan/sql-terms';
import type { Circumstances, Finding, VerdictRule } from '../evidence/circumstances';

const OWNER = 'starved';

/**
 * Failing rows at the head of the queue fill every batch: the relay works, but events that never failed wait behind
 * them and none of those goes out.
 */
export const starvedVerdict: VerdictRule = {
  verdict: OWNER,
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
  judge(circumstances): Finding | null {
    const { reading, now } = circumstances;
    if (reading === null || !reading.traits.createdAt) return null;
    const ahead = numberOf(reading, OWNER, 'ahead') ?? 0;
    const events = numberOf(reading, 'relay_stopped', 'due') ?? 0;
    const firstDueAt = textOf(reading, 'relay_stopped', 'firstDue');
    if (events === 0 || firstDueAt === null || ahead <= POISON_ROWS_MAX || failingCount(reading) <= POISON_ROWS_MAX) return null;
    const outAt = reading.foldedTo === null ? textOf(reading, 'last-published', 'at') : freshOutAt(circumstances);
    const since = Math.max(Date.parse(firstDueAt), outAt === null ? -Infinity : Date.parse(outAt));
    const confirmed = circumstances.previous.some(
      (past) => now - Date.parse(past.asOf) >= 5_000 && textOf(past, 'relay_stopped', 'firstDue') === firstDueAt,
    );
    const patience = silenceLimitMs(rhythmOf(circumstances), confirmed, true);
    if (now - since <= patience || !isAlive(circumstances, patience)) return null;
    const error = textOf(reading, OWNER, 'error');
    const type = textOf(reading, OWNER, 'type');
    const cause: Evidence[] = error === null && type === null ? [] : [{ code: 'failing_cause', values: { error, type } }];
    return {
      since: new Date(since).toISOString(),
      evidence: [
        { code: 'failing_ahead', values: { count: ahead } },
        { code: 'fresh_behind', values: { count: events, oldestAt: firstDueAt, ageMs: now - Date.parse(firstDueAt) } },
        ...cause,
      ],
    };
  },
};

/** When an event was last published at its first attempt, as far as this reading and those before it have seen, ISO 8601 UTC. */
function freshOutAt({ reading, previous }: Circumstances): string | null {
  const seen = [...previous, ...(reading === null ? [] : [reading])]
    .map((past) => textOf(past, OWNER, 'freshOut'))
    .filter((at) => at !== null);
  return seen.reduce((newest: string | null, at) => (newest === null || at > newest ? at : newest), null);
}
