import { sql } from 'kysely';
import { fresh } from '@/lib/live/reading-sql';
import { textOf } from '@/lib/live/reading';
import { count, earliest, iso, jsonObject, typed } from '@/lib/outbox/scan/sql-terms';
import type { Finding, VerdictRule } from '../evidence/circumstances';

const OWNER = 'no_handler';
/** Types looked at: those whose first event waits longest. */
const TYPES_MAX = 20;
/** A new type is given this long. */
const PATIENCE_MS = 15_000;
/** An event of a known type that was overtaken so long ago is left over for another reason: it is no sign of a queue. */
const LEFT_OVER_MS = 60_000;

/** An event type of which nothing was ever published waits, untried, while later events of other types go out. */
export const noHandlerVerdict: VerdictRule = {
  verdict: OWNER,
  figures(base) {
    return {
      types: sql`(select json_agg(${jsonObject({ type: base.type, count: typed(OWNER, 'count'), first: iso(typed(OWNER, 'first')) })})
        from (select * from types where ${typed(OWNER, 'count')} > 0 order by ${typed(OWNER, 'first')} limit ${sql.lit(TYPES_MAX)}) as t)`,
    };
  },
  perType: (base) => ({ count: count(fresh(base)), first: earliest(base.created, fresh(base)) }),
  judge({ reading, history, now }): Finding | null {
    // Only the history knows what was published long ago.
    if (reading === null || history === null || history.typesPublished.size === 0) return null;
    const frontierAt = textOf(reading, 'relay_stopped', 'frontier');
    const types = (reading.figures[OWNER]?.types ?? []) as { type: string; count: number; first: string | null }[];
    const frontier = frontierAt === null ? -Infinity : Date.parse(frontierAt);
    const found: { type: string; count: number; first: string }[] = [];
    for (const { type, count, first } of types) {
      if (first === null) continue;
      const at = Date.parse(first);
      if (!history.typesPublished.has(type)) {
        if (at < frontier && now - at > PATIENCE_MS) found.push({ type, count, first });
        // In a queue that is worked off from its head, what waits behind another event has not had its turn.
      } else if (frontier - at < LEFT_OVER_MS) break;
    }
    const worst = [...found].sort((a, b) => b.count - a.count)[0];
    const oldest = found[0];
    if (worst === undefined || oldest === undefined) return null;
    const others = found.length - 1;
    return {
      since: oldest.first,
      evidence: [
        {
          code: 'type_never_out',
          values: { type: worst.type, count: worst.count, firstAt: worst.first, ageMs: now - Date.parse(worst.first) },
        },
        { code: 'others_go_out', values: { frontierAt } },
        ...(others === 0 ? [] : [{ code: 'more_types', values: { count: others } }]),
      ],
    };
  },
};
