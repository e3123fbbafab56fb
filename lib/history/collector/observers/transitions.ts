import type { Observer, Look, Seen } from '../observer';
import { CHEAP_ROWS } from './rows';
import { countSojourns, FOLLOWED_ROWS, GAP_MS, sojournMemory, type SojournMemory, type SojournReach } from './sojourns';
import { readFollowedByKey, readOpenAndNew, waysOf, type Read, type Ways } from './sojourns-read';

/**
 * Between two looks, in milliseconds. No round number: a relay that works every half second would be met at the same
 * place of its round again and again, and what waits then would pass for what waits on average.
 */
const EVERY_MS = 809;
/** A whole table above CHEAP_ROWS is read this often. */
const DEAR_EVERY_MS = 5_000;

/** Events whose rows stay and do not say when they were published: seen open, and then not. */
export const transitionsObserver: Observer = {
  key: 'transitions',
  wants: (_, method) => method === 'observed',
  everyMs: EVERY_MS,
  look: (input) => lookAtSojourns(input, false),
};

/** Events whose rows go when they are published: seen open, and then gone. */
export const deletesObserver: Observer = {
  key: 'deletes',
  wants: (_, method) => method === 'deleted',
  everyMs: EVERY_MS,
  look: (input) => lookAtSojourns(input, true),
};

async function lookAtSojourns({ outbox, db, at, memory: given }: Look, deletes: boolean): Promise<Seen> {
  const atMs = Date.parse(at);
  const kept = sojournMemory(given);
  const memory = kept !== null && atMs > kept.atMs && atMs - kept.atMs <= GAP_MS ? kept : null;
  const ways = await waysOf(db, outbox, deletes);
  if (ways.open === null) {
    const unseen = countSojourns(null, { atMs, reach: 'unseen', full: true, rows: [], gone: [], deletes, recent: null, counts: null });
    return { additions: unseen.additions, memory: kept?.reach === 'unseen' ? given : unseen.memory, rows: 0 };
  }
  const isDear = ways.size > CHEAP_ROWS && (ways.open === 'scan' || ways.recent === 'scan');
  const full = memory === null || !isDear || atMs - memory.fullMs >= DEAR_EVERY_MS;
  const isRecent = ways.recent !== null;
  // Before the rows: what goes in between would otherwise be counted twice, by the statistics now and by its row later.
  const changes = isRecent || !full ? null : await outbox.database.engine.changeCounts(db, outbox.main.table);
  const read: Read = full
    ? await readOpenAndNew(db, outbox, ways, memory, atMs)
    : { rows: [], cut: false, newestKey: null, newestMs: null, fromMs: null };
  const byKey = await readFollowedByKey(db, outbox, missingFrom(memory, read), deletes && full && !read.cut);
  const depth = full && !read.cut && ways.open !== 'known' ? read.rows.length : null;
  const counted = countSojourns(memory, {
    atMs,
    reach: reachOf(ways, read, memory),
    full,
    rows: [...read.rows, ...byKey.rows],
    gone: byKey.gone,
    deletes,
    recent: isRecent && full ? { fromMs: read.fromMs, newestMs: read.newestMs, newestKey: read.newestKey } : null,
    counts: changes === null ? null : { ...changes, depth },
  });
  return { ...counted, rows: read.rows.length + byKey.rows.length };
}

/** Of open rows that are read by their key alone, as many are followed as there is room for. */
const reachOf = (ways: Ways, read: Read, memory: SojournMemory | null): SojournReach =>
  read.cut || (ways.open === 'known' && (memory?.open.length ?? 0) >= FOLLOWED_ROWS) ? 'capped' : 'complete';

function missingFrom(memory: SojournMemory | null, { rows }: Read): string[] {
  const found = new Set(rows.map(({ id }) => id));
  return (memory?.open ?? [])
    .filter(([id]) => !found.has(id))
    .sort(([, , , a], [, , , b]) => a - b)
    .map(([id]) => id);
}
