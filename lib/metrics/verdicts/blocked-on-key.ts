import { sql } from 'kysely';
import type { Evidence } from '@/lib/shared/verdicts';
import { failing } from '../flow';
import { textOf, type Past } from '../reading';
import { iso, isState, jsonObject } from '../spelling';
import type { Finding, VerdictRule } from '../verdict';

const OWNER = 'blocked_on_key';
/** Fewer waiting events of one key are no block, unless the relay is known to keep its order. */
const EVENTS_MIN = 5;
const EVENTS_MIN_ORDERED = 2;
/** The share of all waiting events that makes one key the reason. */
const SHARE_MIN = 0.5;
/** The first event of the key has to wait this long; without an earlier reading that saw it, longer. */
const PATIENCE_MS = 15_000;
const PATIENCE_ONCE_MS = 60_000;
const CONFIRMED_AFTER_MS = 8_000;

interface Key {
  key: string;
  count: number;
  waiting: number;
  first: string;
  /** The first event was tried and failed, or is being processed. */
  failing: boolean;
  type: string | null;
  error: string | null;
  attempts: number | null;
}

/** Most of what waits belongs to one key, and its first event neither goes out nor lets the others pass. */
export const blockedOnKeyVerdict: VerdictRule = {
  verdict: OWNER,
  figures(base) {
    const { state, key, created, type, error, attempts } = base;
    const open = sql`(${isState(state, 'pending', 'retrying', 'processing')} and ${key} is not null and ${created} is not null)`;
    const first = jsonObject({
      first: iso(created),
      failing: sql`(${failing(base)} or ${isState(state, 'processing')})`,
      type,
      error,
      attempts,
    });
    return {
      key: sql`(select json_build_object('key', k.key, 'count', k.n, 'waiting', k.total, 'head', (select ${first} from base where ${open} and ${key} = k.key order by ${created} limit 1))
        from (select ${key} as key, count(*) as n, sum(count(*)) over () as total from base where ${open} group by ${key} order by 2 desc, min(${created}) limit 1) as k)`,
    };
  },
  judge({ reading, previous, now }): Finding | null {
    const key = reading === null ? null : keyOf(reading);
    if (reading === null || key === null) return null;
    const ordered = reading.traits.keepsOrder;
    if (key.count < (ordered ? EVENTS_MIN_ORDERED : EVENTS_MIN) || (!ordered && key.count < key.waiting * SHARE_MIN)) return null;
    const frontierAt = textOf(reading, 'relay_stopped', 'frontier');
    // Others have to pass: where nothing goes out, the key is not the reason.
    if (frontierAt === null || frontierAt <= key.first) return null;
    const seen = previous.filter((past) => now - Date.parse(past.asOf) >= CONFIRMED_AFTER_MS).at(-1);
    const before = seen === undefined ? null : keyOf(seen);
    const stands = before?.key === key.key && before.first === key.first && key.count >= before.count;
    const agedMs = now - Date.parse(key.first);
    if (stands ? agedMs <= PATIENCE_MS : !(seen === undefined && key.failing && agedMs > PATIENCE_ONCE_MS)) return null;
    return {
      since: key.first,
      evidence: [
        { code: 'key_behind', values: { key: key.key, count: key.count - 1, waiting: key.waiting } },
        { code: 'key_first', values: { firstAt: key.first, ageMs: agedMs, type: key.type, attempts: key.attempts } },
        ...errorOf(key),
      ],
    };
  },
};

function keyOf(past: Past): Key | null {
  const found = past.figures[OWNER]?.key as
    (Pick<Key, 'key' | 'count' | 'waiting'> & { head: Omit<Key, 'key' | 'count' | 'waiting'> | null }) | null | undefined;
  if (found?.head == null) return null;
  const { head, ...rest } = found;
  return { ...rest, ...head };
}

const errorOf = ({ error }: Key): Evidence[] => (error === null ? [] : [{ code: 'row_error', values: { error } }]);
