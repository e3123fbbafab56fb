import { sql } from 'kysely';
import { due, failing } from '@/lib/live/reading-sql';
import { actsIn, figuresIn, type Aggregates, type Past } from '@/lib/live/reading';
import { count, earliest, iso, isState, jsonObject, nullInstant, secondsBefore } from '@/lib/outbox/scan/sql-terms';
import { FLOW, POISON_ROWS_MAX, grew, isAlive, rhythmOf, signOf, silenceLimitMs, standstill } from '../evidence/flow';
import { QUEUE } from '../evidence/forecast';
import { ageMs, fact, factIfKnown, isoOf, seenBefore, type Circumstances, type Finding, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'poison_row';
/** A row fails endlessly from this many attempts on, if no other row has more than a fifth of them. */
const ENDLESS_ATTEMPTS = 20;
const ENDLESS_FACTOR = 5;
/** Without a counter, an earlier reading has to show the same. */
const ENDLESS_SEEN_MS = { fromMs: 9_000, toMs: 60_000 };
const QUEUE_MS = 5_000;

interface QuotedRow extends Record<'at' | 'type' | 'error', string | null> {
  attempts: number | null;
}

interface FailingRows {
  /** The row that waits longest; whether it is due, and how many rows of its type were created with it, itself among them. */
  head: (QuotedRow & { due?: boolean; twins?: number }) | null;
  /** The two rows with most attempts; null without a counter. */
  most: QuotedRow[] | null;
  /** Without a counter: rows that are still claimed long after their creation. */
  endless: number;
  endlessFirst: string | null;
}

/** Without a counter: claimed at least this long after its creation, and at most this long ago. */
const ENDLESS_SECONDS = 10;
const TAKEN_LATELY_SECONDS = 15;

const FAILING_ROWS: Aggregates<FailingRows> = {
  owner: OWNER,
  figures(base) {
    const { traits, now, state, created, attempted, attempts, type, error } = base;
    const waiting = isState(state, 'pending', 'retrying');
    const endless = sql`(${failing(base)} and ${attempted} > ${created} + make_interval(secs => ${sql.lit(ENDLESS_SECONDS)}) and ${attempted} > ${secondsBefore(now, TAKEN_LATELY_SECONDS)})`;
    const describe = jsonObject({ at: iso(created), type, error, attempts });
    // JSON is made for the two rows only: beside the ORDER BY it would be made for all rows that are sorted.
    const most = sql`(select json_agg(${describe}) from (select * from base where ${waiting} and ${attempts} > 0 order by ${attempts} desc, ${created} limit 2) as m)`;
    const twins = sql`(select count(*) from base as twin where twin.created = head.created and twin.type is not distinct from head.type and ${isState(sql.ref('twin.state'), 'pending', 'retrying')})`;
    return {
      head: sql`(select ${jsonObject({ at: iso(created), type, error, attempts, due: due(base), twins })} from head)`,
      most: traits.attempts ? most : sql`null::json`,
      endless: traits.attempts ? sql`0` : count(endless),
      endlessFirst: traits.attempts ? nullInstant : iso(earliest(created, endless)),
    };
  },
};

/** One row fails again and again: it blocks all events that are due, or it is tried endlessly while others are published. */
export const poisonRowVerdict: VerdictRule = {
  verdict: OWNER,
  live: FAILING_ROWS,
  judge: (circumstances) => blocking(circumstances) ?? counted(circumstances) ?? retaken(circumstances),
};

function blocking(circumstances: Circumstances): Finding | null {
  const { reading, now } = circumstances;
  const still = standstill(circumstances);
  if (reading === null || still === null || (figuresIn(reading, FLOW).failing ?? 0) > POISON_ROWS_MAX) return null;
  const patience = silenceLimitMs(rhythmOf(circumstances), still.confirmed, true);
  // A failure may have been the last act of a relay that has stopped: it has to try on.
  if (now - still.since <= patience || !isAlive(circumstances, patience, still.since + patience)) return null;
  const { head } = figuresIn(reading, FAILING_ROWS);
  const { at: headAt = null, type = null, due = false, twins } = head ?? {};
  // Of rows created together nobody knows which one it is.
  const others = twins === 1 ? still.due - Number(due) : null;
  const atLeast = reading.reach.waiting === 'complete' ? 'no' : 'yes';
  const first = headAt === null ? [] : [fact('blocking_row', { headAt, ageMs: ageMs(headAt, now), type, others, atLeast })];
  const taken = factIfKnown('taken_again', { takenAt: isoOf(headTakenAt(circumstances)) });
  const behind = [fact('events_behind', { count: still.due }), ...taken, ...factIfKnown('row_error', { error: head?.error })];
  return { since: isoOf(still.since), evidence: [...first, ...behind] };
}

/** Tried endlessly, by its counter. */
function counted({ reading, previous, now }: Circumstances): Finding | null {
  const mostOf = (past: Past) => figuresIn(past, FAILING_ROWS).most ?? [];
  const [worst, next] = reading === null ? [] : mostOf(reading);
  if (worst?.attempts == null || worst.attempts < ENDLESS_ATTEMPTS || worst.attempts < ENDLESS_FACTOR * (next?.attempts ?? 0)) return null;
  const before = previous.map((past) => mostOf(past)[0]).find((row) => row?.at === worst.at);
  // A row that is not tried any more does not count, nor one that an operator may just have put back.
  if (before?.attempts === worst.attempts || (before === undefined && reading !== null && actsIn(reading).length > 0)) return null;
  const facts = [fact('row_attempts', { count: worst.attempts }), ...factIfKnown('row_error', { error: worst.error })];
  return { since: worst.at, evidence: [endless(1, worst.at, now), ...facts] };
}

/** Tried endlessly, by the time of its last claim. */
function retaken(circumstances: Circumstances): Finding | null {
  const { reading, now } = circumstances;
  if (reading === null) return null;
  const { endless: rows = 0, endlessFirst: firstAt = null } = figuresIn(reading, FAILING_ROWS);
  // In a backlog first attempts come late too: the other events have to be published as they come, now and then.
  if (rows === 0 || firstAt === null || isQueue(reading)) return null;
  const same = (past: Past): boolean => !isQueue(past) && figuresIn(past, FAILING_ROWS).endlessFirst === firstAt;
  return seenBefore(circumstances, ENDLESS_SEEN_MS, same) ? { since: firstAt, evidence: [endless(rows, firstAt, now)] } : null;
}

/** The newest sign that the oldest waiting event was claimed, in milliseconds since the epoch; null if the table shows none. */
const headTakenAt = (circumstances: Circumstances): number | null =>
  signOf(circumstances, ['headTouchedAfter'], (before, after) => {
    const touched = grew(before, after, 'headTouch') && figuresIn(before, FLOW).oldest === figuresIn(after, FLOW).oldest;
    return touched || headTriedAgain(figuresIn(before, FAILING_ROWS).head, figuresIn(after, FAILING_ROWS).head);
  });

const headTriedAgain = (before?: QuotedRow | null, after?: QuotedRow | null): boolean =>
  before?.at != null && before.at === after?.at && (after.attempts ?? 0) > (before.attempts ?? 0);

/** Whether events that were never tried wait longer than they usually would. */
function isQueue(past: Past): boolean {
  const { oldestFresh } = figuresIn(past, QUEUE);
  return oldestFresh != null && ageMs(oldestFresh, Date.parse(past.asOf)) > QUEUE_MS;
}

const endless = (count: number, firstAt: string | null, now: number) =>
  fact('endless_rows', { count, firstAt, ageMs: firstAt === null ? null : ageMs(firstAt, now) });
