import { sql } from 'kysely';
import { failing, fresh } from '@/lib/live/reading-sql';
import { figuresIn, type Aggregates, type Past } from '@/lib/live/reading';
import { iso, isState, jsonObject } from '@/lib/outbox/scan/sql-terms';
import { FLOW } from '../evidence/flow';
import { ageMs, fact, factIfKnown, type Finding, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'blocked_on_key';
/** Fewer waiting events of one key are no block, unless the relay is known to keep its order. */
const EVENTS_MIN = 5;
const EVENTS_MIN_ORDERED = 2;
/** The share of all waiting events that makes one key the reason. */
const SHARE_MIN = 0.5;
/** The first event of the key has to wait this long; without an earlier reading that saw it, longer. */
const PATIENCE_MS = 15_000;
const PATIENCE_ONCE_MS = 60_000;
const CONFIRMED_AFTER_MS = 12_000;
/** If fresh events of other keys wait longer than this, there is a queue: being in it is no block. */
const OTHERS_MAX_MS = 10_000;

type Counted = 'key' | 'count' | 'waiting' | 'others' | 'out';

interface Key {
  key: string;
  count: number;
  first: string;
  /** Of all keys; both counts are of events that were overtaken by later ones, or that failed. */
  waiting: number;
  /** Creation of the oldest event of another key that was never tried. */
  others: string | null;
  /** When an event of the key was last published, as far as the rows read show. */
  out: string | null;
  /** The first event was tried and failed, or is being processed. */
  failing: boolean;
  type: string | null;
  error: string | null;
  attempts: number | null;
}

const KEY: Aggregates<{ key: (Pick<Key, Counted> & { head: Omit<Key, Counted> | null }) | null }> = {
  owner: OWNER,
  figures(base) {
    const { state, key, created, type, error, attempts, frontier, published } = base;
    // Overtaken by later events of other keys: a burst of one key that waits for its turn is no block.
    const isPassed = sql`(${isState(state, 'pending', 'retrying', 'processing')} and ${key} is not null and (${created} < ${frontier} or ${failing(base)}))`;
    const first = jsonObject({ first: iso(created), failing: sql.ref('failing'), type, error, attempts });
    return {
      key: sql`(with passed as materialized (select ${key}, ${created}, ${type}, ${error}, ${attempts}, (${failing(base)} or ${isState(state, 'processing')}) as failing from base where ${isPassed})
        select json_build_object('key', k.key, 'count', k.n, 'waiting', k.total,
          'head', (select ${first} from (select * from passed where ${key} = k.key order by ${created} limit 1) as h),
          'others', (select ${iso(sql`min(${created})`)} from base where ${fresh(base)} and ${key} is distinct from k.key),
          'out', (select ${iso(sql`max(${published})`)} from base where ${isState(state, 'published')} and ${key} = k.key))
        from (select ${key} as key, count(*) as n, sum(count(*)) over () as total from passed group by ${key} order by 2 desc, min(${created}) limit 1) as k)`,
    };
  },
};

/** Most of what waits has one key, and its first event is neither published nor lets the others pass. */
export const blockedOnKeyVerdict: VerdictRule = {
  verdict: OWNER,
  live: KEY,
  judge({ reading, previous, now }): Finding | null {
    const key = reading === null ? null : keyOf(reading);
    if (reading === null || key === null) return null;
    const ordered = reading.traits.keepsOrder;
    if (key.count < (ordered ? EVENTS_MIN_ORDERED : EVENTS_MIN) || (!ordered && key.count < key.waiting * SHARE_MIN)) return null;
    const frontierAt = figuresIn(reading, FLOW).frontier ?? null;
    // Events of other keys have to pass: if nothing is published, the key is not the reason.
    if (frontierAt === null || frontierAt <= key.first) return null;
    if (key.others !== null && ageMs(key.others, now) > OTHERS_MAX_MS) return null;
    const seen = previous.findLastIndex((past) => ageMs(past.asOf, now) >= CONFIRMED_AFTER_MS);
    const stands = seen !== -1 && previous.slice(seen).every((past) => isSame(keyOf(past), key));
    const passes = [...previous.slice(Math.max(0, seen)), reading].some((past) => goesOut(keyOf(past), key, now));
    if (passes) return null;
    const agedMs = ageMs(key.first, now);
    if (stands ? agedMs <= PATIENCE_MS : !(seen === -1 && key.failing && agedMs > PATIENCE_ONCE_MS)) return null;
    const behind = fact('key_behind', { key: key.key, count: key.count - 1, waiting: key.waiting });
    const first = fact('key_first', { firstAt: key.first, ageMs: agedMs, type: key.type, attempts: key.attempts });
    return { since: key.first, evidence: [behind, first, ...factIfKnown('row_error', { error: key.error })] };
  },
};

function keyOf(past: Past): Key | null {
  const found = figuresIn(past, KEY).key;
  if (found?.head == null) return null;
  const { head, ...rest } = found;
  return { ...rest, ...head };
}

/** Whether an event of the key was published lately: then others of the key pass, and the problem is the first one's own. */
const goesOut = (past: Key | null, { key }: Key, now: number): boolean =>
  past?.key === key && past.out !== null && ageMs(past.out, now) < PATIENCE_MS;

/** Whether it is the same row as far as is known: rows of one transaction have the same time of creation. */
const isSame = (before: Key | null, now: Key): boolean =>
  before?.key === now.key && before.first === now.first && before.count <= now.count && (before.attempts ?? 0) <= (now.attempts ?? 0);
