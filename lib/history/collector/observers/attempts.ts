import type { Outbox } from '@/lib/outbox/outbox';
import { traitsOf } from '@/lib/outbox/scan/traits';
import type { Look, Observer, Seen, Tried } from '../observer';
import {
  attemptsMemory,
  countAttempts,
  GAP_MS,
  type AttemptsMemory,
  type AttemptsReach,
  type AttemptsRow,
  type CounterMeaning,
} from './attempts-count';
import { planOf, readByKey, readFollowed, type Span } from './attempts-read';
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
  takesTried: true,
  look: lookAtAttempts,
};

async function lookAtAttempts({ outbox, db, at, memory: given, tried }: Look): Promise<Seen> {
  const atMs = Date.parse(at);
  const memory = attemptsMemory(given);
  const plan = planOf(outbox);
  if (tried !== null) plan.scanned = plan.scanned.filter((part) => part !== 'published');
  let reach: AttemptsReach = 'complete';
  if (plan.scanned.length > 0) {
    const size = await estimateRows(db, outbox, outbox.main);
    if (size > CHEAP_ROWS && memory !== null && atMs >= memory.atMs && atMs - memory.atMs < DEAR_EVERY_MS)
      return { additions: new Map(), memory: given, rows: 0 };
    if (size > SCANNED_ROWS) {
      reach = plan.scanned.some((part) => part !== 'published') ? 'unseen' : 'capped';
      plan.scanned = [];
    }
  }
  const fresh = memory === null || atMs - memory.atMs > GAP_MS;
  // On a table whose published rows cannot be found by their time, those that were followed are found by their key.
  const byTime = tried !== null || plan.published || plan.scanned.includes('published');
  const { span, told, publishedToMs } = publishedSince(fresh ? null : memory.publishedToMs, atMs, tried);
  if (reach === 'unseen') {
    const { additions, memory: next } = countAttempts(null, { atMs, reach, rows: [], gone: [], publishedToMs: null }, meaningOf(outbox));
    return { additions, memory: next, rows: 0 };
  }

  const first = await readFollowed(db, outbox, plan, byTime ? span : null);
  const rows = [...first.rows, ...told];
  const missing = fresh ? [] : missingFrom(memory, rows);
  const second = await readByKey(db, outbox, missing);
  const counted = countAttempts(
    memory,
    {
      atMs,
      reach: first.cut && reach === 'complete' ? 'capped' : reach,
      rows: [...rows, ...second.rows],
      gone: second.gone,
      publishedToMs: byTime ? publishedToMs : null,
    },
    meaningOf(outbox),
  );
  return { ...counted, rows: first.read + second.rows.length };
}

/**
 * Which published rows are still to be read, which the fold has told, and up to when none is missing then. Nothing is read
 * twice; what the fold read before a process ended, and did not tell, is read once more.
 */
function publishedSince(
  knownToMs: number | null,
  atMs: number,
  tried: Tried | null,
): { span: Span | null; told: AttemptsRow[]; publishedToMs: number } {
  if (tried === null) {
    const fromMs = knownToMs ?? atMs;
    const toMs = Math.max(fromMs, atMs - LATE_MS);
    return { span: { fromMs, toMs }, told: [], publishedToMs: toMs };
  }
  const [fromMs, toMs] = [tried.from / 1_000, tried.to / 1_000];
  const sinceMs = knownToMs ?? fromMs;
  return {
    span: sinceMs < fromMs ? { fromMs: sinceMs, toMs: fromMs } : null,
    told: tried.rows.filter(({ publishedMs }) => publishedMs !== null && publishedMs >= sinceMs),
    publishedToMs: Math.max(sinceMs, toMs),
  };
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
