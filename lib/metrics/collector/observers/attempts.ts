import type { Outbox } from '@/lib/outbox/outbox';
import { traitsOf } from '../../traits';
import type { Look, Observer, Seen } from '../observer';
import {
  attemptsMemory,
  countAttempts,
  GAP_MS,
  type AttemptsMemory,
  type AttemptsReach,
  type AttemptsRow,
  type CounterMeaning,
} from './attempts-count';
import { planOf, readByKey, readFollowed } from './attempts-read';
import { CHEAP_ROWS, SCANNED_ROWS } from './rows';
import { estimateRows } from './table-size';

/** Published rows are read this late, so that those of transactions that were still open are among them. */
const LATE_MS = 10_000;
/** A whole table above CHEAP_ROWS is read this often. */
const DEAR_EVERY_MS = 30_000;

/** Failed attempts, retries and deaths, from the counter that rows carry. */
export const attemptsObserver: Observer = {
  key: 'attempts',
  wants: (outbox) => traitsOf(outbox).attempts,
  everyMs: 5_000,
  look: lookAtAttempts,
};

async function lookAtAttempts({ outbox, db, at, memory: given }: Look): Promise<Seen> {
  const atMs = Date.parse(at);
  const memory = attemptsMemory(given);
  const plan = planOf(outbox);
  let reach: AttemptsReach = 'complete';
  if (plan.scanned.length > 0) {
    const size = await estimateRows(db, outbox.main);
    if (size > CHEAP_ROWS && memory !== null && atMs >= memory.atMs && atMs - memory.atMs < DEAR_EVERY_MS)
      return { additions: new Map(), memory: given, rows: 0 };
    if (size > SCANNED_ROWS) {
      reach = plan.scanned.some((part) => part !== 'published') ? 'unseen' : 'capped';
      plan.scanned = [];
    }
  }
  const fresh = memory === null || atMs - memory.atMs > GAP_MS;
  const since = fresh ? atMs : (memory.publishedToMs ?? atMs);
  // On a table whose published rows cannot be found by their time, those that were followed are found by their key.
  const byTime = plan.published || plan.scanned.includes('published');
  const span = { fromMs: since, toMs: Math.max(since, atMs - LATE_MS) };
  if (reach === 'unseen') {
    const { additions, memory: next } = countAttempts(null, { atMs, reach, rows: [], gone: [], publishedToMs: null }, meaningOf(outbox));
    return { additions, memory: next, rows: 0 };
  }

  const first = await readFollowed(db, outbox, plan, byTime ? span : null);
  const missing = fresh ? [] : missingFrom(memory, first.rows);
  const second = await readByKey(db, outbox, missing);
  const counted = countAttempts(
    memory,
    {
      atMs,
      reach: first.cut && reach === 'complete' ? 'capped' : reach,
      rows: [...first.rows, ...second.rows],
      gone: second.gone,
      publishedToMs: byTime ? span.toMs : null,
    },
    meaningOf(outbox),
  );
  return { ...counted, rows: first.read + second.rows.length };
}

function meaningOf(outbox: Outbox): CounterMeaning {
  const { countsClaims, publishedState } = traitsOf(outbox);
  const { shape, main, parameters } = outbox;
  const { retry } = shape.operations;
  const rule = Array.isArray(retry) ? retry.find((one) => 'version' in one && one.from.includes('dead')) : undefined;
  const value = rule !== undefined && 'version' in rule ? rule.set[main.roles.attempts?.column.name ?? ''] : undefined;
  const putBackAt =
    value !== undefined && 'parameter' in value && parameters.maxAttempts !== null ? parameters.maxAttempts - value.minus : null;
  return { countsClaims, diesUncounted: shape.diesUncounted, putBackAt, goneIsPublished: !publishedState };
}

function missingFrom(memory: AttemptsMemory, rows: AttemptsRow[]): string[] {
  const found = new Set(rows.map(({ id }) => id));
  return memory.rows.filter(([id, , state]) => state !== 'archived' && !found.has(id)).map(([id]) => id);
}
