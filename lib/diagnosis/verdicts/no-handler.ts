import { sql } from 'kysely';
import { fresh } from '@/lib/live/reading-sql';
import { figuresIn, type Aggregates } from '@/lib/live/reading';
import { count, earliest, iso, jsonObject, typed } from '@/lib/outbox/scan/sql-terms';
import { FLOW } from '../evidence/flow';
import { ageMs, fact, type Finding, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'no_handler';
/** Types checked: those whose first event waits longest. */
const TYPES_MAX = 20;
/** A new type may wait this long. */
const PATIENCE_MS = 15_000;
/** An event of a known type that was overtaken this long ago is left over for another reason: it is no sign of a queue. */
const LEFT_OVER_MS = 60_000;

const UNTRIED: Aggregates<{ types: { type: string; count: number; first: string | null }[] | null }> = {
  owner: OWNER,
  figures: ({ type }) => ({
    types: sql`(select json_agg(${jsonObject({ type, count: typed(OWNER, 'count'), first: iso(typed(OWNER, 'first')) })})
      from (select * from types where ${typed(OWNER, 'count')} > 0 order by ${typed(OWNER, 'first')} limit ${sql.lit(TYPES_MAX)}) as t)`,
  }),
  perType: (base) => ({ count: count(fresh(base)), first: earliest(base.created, fresh(base)) }),
};

/** An event type of which nothing was ever published waits, untried, while later events of other types are published. */
export const noHandlerVerdict: VerdictRule = {
  verdict: OWNER,
  live: UNTRIED,
  judge({ reading, history, now }): Finding | null {
    // Only the history knows what was published long ago.
    if (reading === null || history === null || history.typesPublished.size === 0) return null;
    const { frontier: frontierAt = null } = figuresIn(reading, FLOW);
    const frontier = frontierAt === null ? -Infinity : Date.parse(frontierAt);
    const found: { type: string; count: number; firstAt: string }[] = [];
    for (const { type, count, first: firstAt } of figuresIn(reading, UNTRIED).types ?? []) {
      if (firstAt === null) continue;
      const at = Date.parse(firstAt);
      if (!history.typesPublished.has(type)) {
        if (at < frontier && now - at > PATIENCE_MS) found.push({ type, count, firstAt });
        // In a queue that is worked off in order, what waits behind another event has not had its turn.
      } else if (frontier - at < LEFT_OVER_MS) break;
    }
    const [oldest, ...others] = found;
    const [worst] = [...found].sort((a, b) => b.count - a.count);
    if (worst === undefined || oldest === undefined) return null;
    const { type, count, firstAt } = worst;
    const waiting = fact('type_never_out', { type, count, firstAt, ageMs: ageMs(firstAt, now) });
    const more = others.length === 0 ? [] : [fact('more_types', { count: others.length })];
    return { since: oldest.firstAt, evidence: [waiting, fact('others_go_out', { frontierAt }), ...more] };
  },
};
