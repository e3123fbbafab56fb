import type { Observer, Look, Seen } from '../observer';
import { CHEAP_ROWS } from './rows';
import { countDepartures, departureMemory, FOLLOWED_ROWS } from './departures';
import { readFollowedByKey, readOpenAndNew, waysOf } from './departures-read';

/** The more ticks, the nearer the mean: while events flow there are three in a second. */
const EVERY_MS = 307;
/** A whole table above CHEAP_ROWS is read this often. */
const DEAR_EVERY_MS = 5_000;

/** Events whose rows stay and do not say when they were published: seen open, and then not. */
export const transitionsObserver: Observer = {
  key: 'transitions',
  wants: (_, method) => method === 'observed',
  everyMs: EVERY_MS,
  look: (input) => observeDepartures(input, false),
};

/** Events whose rows go when they are published: seen open, and then gone. */
export const deletesObserver: Observer = {
  key: 'deletes',
  wants: (_, method) => method === 'deleted',
  everyMs: EVERY_MS,
  look: (input) => observeDepartures(input, true),
};

async function observeDepartures({ outbox, db, at, memory: given }: Look, deletes: boolean): Promise<Seen> {
  const atMs = Date.parse(at);
  const memory = departureMemory(given);
  const ways = await waysOf(db, outbox, deletes);
  const isDear = ways.size > CHEAP_ROWS && (ways.open === 'scan' || ways.recent === 'scan');
  const isEarly = isDear && memory !== null && atMs >= memory.atMs && atMs - memory.atMs < DEAR_EVERY_MS;
  if (ways.open === null || isEarly) return { additions: new Map(), memory: given, rows: 0 };
  // Before the rows: what goes in between would otherwise be counted twice, by the statistics now and by its row later.
  const changes = ways.recent !== null ? null : await outbox.database.engine.changeCounts(db, outbox.main.table);
  const read = await readOpenAndNew(db, outbox, ways, memory, atMs);
  const there = new Set(read.rows.map(({ id }) => id));
  // Those that were read longest ago come last in the memory.
  const missing = (memory?.open ?? []).flatMap(([id]) => (there.has(id) ? [] : [id])).reverse();
  const byKey = await readFollowedByKey(db, outbox, missing, deletes && !read.cut);
  const counted = countDepartures(memory, {
    atMs,
    // Of open rows that are read by their key alone, as many are followed as there is room for.
    capped: read.cut || (ways.open === 'known' && (memory?.open.length ?? 0) >= FOLLOWED_ROWS),
    rows: [...read.rows, ...byKey.rows],
    gone: byKey.gone,
    deletes,
    recent: ways.recent === null ? null : { fromMs: read.fromMs, newestMs: read.newestMs, newestKey: read.newestKey },
    counts: changes === null ? null : { ...changes, depth: read.cut || ways.open === 'known' ? null : read.rows.length },
  });
  const quiet = counted.additions.size === 0 && counted.memory.open.length === 0;
  return { ...counted, rows: read.rows.length + byKey.rows.length, quiet };
}
