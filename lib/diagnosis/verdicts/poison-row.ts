import { sql } from 'kysely';
import type { Evidence } from '@/lib/shared/figures/verdicts';
import { failingCount, POISON_ROWS_MAX, headTakenAt, isAlive, silenceLimitMs, rhythmOf, standstill } from '../evidence/flow';
import { failing } from '@/lib/live/reading-sql';
import { numberOf, textOf, type Past } from '@/lib/live/reading';
import { count, earliest, iso, isState, jsonObject, nullInstant, secondsBefore } from '@/lib/outbox/scan/sql-terms';
import type { Circumstances, Finding, VerdictRule } from '../evidence/circumstances';

const OWNER = 'poison_row';
/** Attempts of a row that fails for ever, and how far it is ahead of any other. */
const ENDLESS_ATTEMPTS = 20;
const ENDLESS_FACTOR = 5;
/** Where attempts are not counted: taken so long after it was created, and a moment ago, and the same some time ago. */
const ENDLESS_SECONDS = 10;
const ENDLESS_SEEN_MS = { from: 9_000, to: 60_000 };
const TAKEN_LATELY_SECONDS = 15;
const QUEUE_MS = 5_000;

/**
 * One row fails again and again. Either nothing gets past it: events are due, the relay tries, nothing goes out. Or it
 * is tried for ever while the others go out.
 */
export const poisonRowVerdict: VerdictRule = {
  verdict: OWNER,
  figures(base) {
    const { traits, now, state, created, attempted, attempts, type, error } = base;
    const waiting = isState(state, 'pending', 'retrying');
    const endless = sql`(${failing(base)} and ${attempted} > ${created} + make_interval(secs => ${sql.lit(ENDLESS_SECONDS)}) and ${attempted} > ${secondsBefore(now, TAKEN_LATELY_SECONDS)})`;
    const describe = jsonObject({ at: iso(created), type, error, attempts });
    // What is said of a row is put together for those rows alone: beside an order it would be for all that are sorted.
    const most = sql`(select json_agg(${describe}) from (select * from base where ${waiting} and ${attempts} > 0 order by ${attempts} desc, ${created} limit 2) as m)`;
    return {
      head: sql`(select ${describe} from head)`,
      most: traits.attempts ? most : sql`null::json`,
      endless: traits.attempts ? sql`0` : count(endless),
      endlessFirst: traits.attempts ? nullInstant : iso(earliest(created, endless)),
    };
  },
  judge: (circumstances) => blocking(circumstances) ?? counted(circumstances) ?? retaken(circumstances),
};

interface Row {
  at: string | null;
  type: string | null;
  error: string | null;
  attempts: number | null;
}

/** Nothing gets past it. */
function blocking(circumstances: Circumstances): Finding | null {
  const { reading, now } = circumstances;
  const still = standstill(circumstances);
  if (reading === null || still === null || failingCount(reading) > POISON_ROWS_MAX) return null;
  const patience = silenceLimitMs(rhythmOf(circumstances), still.confirmed, true);
  if (now - still.since <= patience || !isAlive(circumstances, patience)) return null;
  const head = reading.figures[OWNER]?.head as Row | null | undefined;
  const takenAt = headTakenAt(circumstances);
  return {
    since: new Date(still.since).toISOString(),
    evidence: [
      ...(head?.at == null
        ? []
        : [{ code: 'blocking_row', values: { headAt: head.at, ageMs: now - Date.parse(head.at), type: head.type } }]),
      { code: 'events_behind', values: { count: still.due } },
      ...(takenAt === null ? [] : [{ code: 'taken_again', values: { takenAt: new Date(takenAt).toISOString() } }]),
      ...(head?.error == null ? [] : [{ code: 'row_error', values: { error: head.error } }]),
    ],
  };
}

/** Its counter says so. */
function counted({ reading, previous, now }: Circumstances): Finding | null {
  const [worst, next] = (reading?.figures[OWNER]?.most ?? []) as Row[];
  if (worst?.attempts == null || worst.attempts < ENDLESS_ATTEMPTS || worst.attempts < ENDLESS_FACTOR * (next?.attempts ?? 0)) return null;
  const before = previous.map((past) => ((past.figures[OWNER]?.most ?? []) as Row[])[0]).find((row) => row?.at === worst.at);
  // A row nobody tries any more is an old story.
  if (before?.attempts === worst.attempts) return null;
  return {
    since: worst.at,
    evidence: [endless(1, worst.at, now), { code: 'row_attempts', values: { count: worst.attempts } }, ...errorOf(worst)],
  };
}

/** No counter is kept, but the time it was last taken. */
function retaken({ reading, previous, now }: Circumstances): Finding | null {
  if (reading === null) return null;
  const rows = numberOf(reading, OWNER, 'endless') ?? 0;
  const firstAt = textOf(reading, OWNER, 'endlessFirst');
  if (rows === 0 || firstAt === null) return null;
  // In a backlog the first attempt comes late as well: the others have to go out as they come, now and then.
  if (isQueue(reading)) return null;
  const seen = previous.some((past) => {
    const agoMs = now - Date.parse(past.asOf);
    return (
      agoMs >= ENDLESS_SEEN_MS.from && agoMs <= ENDLESS_SEEN_MS.to && !isQueue(past) && textOf(past, OWNER, 'endlessFirst') === firstAt
    );
  });
  return seen ? { since: firstAt, evidence: [endless(rows, firstAt, now)] } : null;
}

/** Whether events that were never tried wait longer than they usually would. */
function isQueue(past: Past): boolean {
  const oldest = textOf(past, 'falling_behind', 'oldestFresh');
  return oldest !== null && Date.parse(past.asOf) - Date.parse(oldest) > QUEUE_MS;
}

const endless = (rows: number, at: string | null, now: number): Evidence => ({
  code: 'endless_rows',
  values: { count: rows, firstAt: at, ageMs: at === null ? null : now - Date.parse(at) },
});
const errorOf = ({ error }: Row): Evidence[] => (error === null ? [] : [{ code: 'row_error', values: { error } }]);
