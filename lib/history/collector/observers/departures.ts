/** The statements of the observers that follow open events: open ones, new ones, and followed ones by their keys. */
import type { Observer, ObserverTick, Observation } from '../observer';
import { CHEAP_ROWS, epochMs, finite, idLots, keyed, SCANNED_ROWS, estimateRows } from './rows';
import { countDepartures, departureMemory, FOLLOWED_ROWS, sinceOf, type DepartureMemory, type DepartureRow } from './departures-count';
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import type { LiveState } from '@/lib/shared/states';
import { fitRange, fitTests, numberedKey } from '@/lib/outbox/indexes/index-fit';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { timeColumn } from '@/lib/outbox/scan/traits';
import { typeOf } from '@/lib/outbox/scan/base-columns';

/** No divisor of the intervals that relays work in. */
const EVERY_MS = 809;
/** A whole table above CHEAP_ROWS is read this often. */
const DEAR_EVERY_MS = 5_000;

/** Events whose rows stay and do not say when they were published: seen open, and then not. */
export const transitionsObserver: Observer = {
  key: 'transitions',
  wants: (_, method) => method === 'observed',
  everyMs: EVERY_MS,
  tick: (input) => observeDepartures(input, false),
};

/** Events whose rows go when they are published: seen open, and then gone. */
export const deletesObserver: Observer = {
  key: 'deletes',
  wants: (_, method) => method === 'deleted',
  everyMs: EVERY_MS,
  tick: (input) => observeDepartures(input, true),
};

async function observeDepartures({ outbox, db, at, memory: given }: ObserverTick, deletes: boolean): Promise<Observation> {
  const began = performance.now();
  const memory = departureMemory(given);
  const ways = await waysOf(db, outbox, deletes);
  const isDear = ways.size > CHEAP_ROWS && (ways.open === 'scan' || ways.recent === 'scan');
  const sinceMs = memory === null ? Infinity : Date.parse(at) - memory.atMs;
  const isEarly = isDear && sinceMs >= 0 && sinceMs < DEAR_EVERY_MS;
  if (ways.open === null || isEarly) return { additions: new Map(), memory: given, rows: 0 };
  // Before the rows: what goes in between would otherwise be counted twice, by the statistics now and by its row later.
  const changes = ways.recent !== null ? null : await outbox.database.engine.changeCounts(db, outbox.main.table);
  // Rows are as of now, not as of when the tick began: a busy server answers late.
  const atMs = Date.parse(at) + performance.now() - began;
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
  return { ...counted, rows: read.rows.length + byKey.rows.length };
}

/** New rows read in one tick, those of the overlap among them. */
const NEW_ROWS = 50_000;
/** Rows looked up by their key in one tick: about four pages each. */
const KEYED_ROWS = 5_000;

const OPEN: readonly LiveState[] = ['pending', 'retrying', 'processing'];

/** How rows are found. `scan`: by reading the whole table. `key`: by keys that grow. */
export interface Ways {
  /** `first`: any open rows, as nearly all rows are open. `known`: those alone that were found new. */
  open: 'index' | 'scan' | 'first' | 'known' | null;
  recent: 'key' | 'index' | 'scan' | null;
  /** About how many rows a scan reads. */
  size: number;
}

/** The cheapest ways to find rows that this table offers; `open` is null where there is none. */
export async function waysOf(db: Db, outbox: Outbox, deletes: boolean): Promise<Ways> {
  const { main } = outbox;
  const created = timeColumn(main, 'createdAt');
  const openByIndex = [['pending', 'retrying'] as const, ['processing'] as const].every(
    (states) => !hasState(outbox, states) || fitTests(main, 'o', created, commonTests(outbox.shape, states)) !== null,
  );
  if (deletes) return { open: openByIndex ? 'index' : 'first', recent: null, size: 0 };
  const byKey = numberedKey(main) !== null;
  const byCreated =
    created !== null && fitRange(main, 'o', created, [...commonTests(outbox.shape, ['published']), notNull(created)]) !== null;
  const size = openByIndex && (byKey || byCreated) ? 0 : await estimateRows(db, outbox, main);
  const small = size <= SCANNED_ROWS;
  return {
    open: openByIndex ? 'index' : small ? 'scan' : byKey ? 'known' : null,
    recent: byKey ? 'key' : byCreated ? 'index' : small && created !== null ? 'scan' : null,
    size,
  };
}

const hasState = (outbox: Outbox, states: readonly LiveState[]): boolean => outbox.shape.states.some((rule) => states.includes(rule.state));

export interface Read {
  rows: DepartureRow[];
  /** More rows wait than were read. */
  cut: boolean;
  /** The greatest key; null where rows are not found by it. */
  newestKey: string | null;
  newestMs: number | null;
  /** New rows were read from this creation on; null where they are found by their key, or not at all. */
  fromMs: number | null;
}

interface Answer {
  id: string;
  type: string | null;
  state: DepartureRow['state'];
  created: number | null;
  published: number | null;
  /** The key that grows, as text. */
  grown: string | null;
}

/**
 * Open rows, oldest first where an index or a scan gives that order, and rows that are new since `memory` was made. Bounded by
 * FOLLOWED_ROWS and NEW_ROWS where an index serves, by SCANNED_ROWS where none does; locks nothing.
 */
export async function readOpenAndNew(db: Db, outbox: Outbox, ways: Ways, memory: DepartureMemory | null, atMs: number): Promise<Read> {
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const created = timeColumn(outbox.main, 'createdAt');
  const open = statePredicate(outbox.shape, OPEN, at.alias, outbox.scope) ?? sql`false`;
  const sinceMs =
    memory?.recent?.sinceMs ?? (ways.recent === 'index' || ways.recent === 'scan' ? await firstSince(db, outbox, at, atMs) : null);
  const recent = ways.recent === null ? null : newRows(outbox, at, ways, { sinceMs, sinceKey: memory?.recent?.sinceKey ?? null });
  const followed = sql` limit ${sql.lit(FOLLOWED_ROWS + 1)}`;
  const queries: Sql[] = [];
  if (ways.open === 'index') {
    for (const states of [['pending', 'retrying'] as const, ['processing'] as const]) {
      const predicate = statePredicate(outbox.shape, states, at.alias, outbox.scope);
      const fit = fitTests(outbox.main, at.alias, created, commonTests(outbox.shape, states));
      const order = fit?.order == null ? sql`` : sql` order by ${fit.order}`;
      const from = fragments.from(outbox.main.table, at.alias, fit?.index);
      if (predicate !== null) queries.push(sql`select ${columns(outbox, at, null)} from ${from} where ${predicate}${order}${followed}`);
    }
  } else if (ways.open === 'first') {
    queries.push(sql`select ${columns(outbox, at, null)} from ${at.from} where ${open}${followed}`);
  } else if (ways.open === 'scan') {
    // One reading finds both: the oldest open ones come first.
    const where = ways.recent === 'scan' && recent !== null ? sql`(${open} or ${recent.where})` : open;
    const order = sql`${open} desc, ${created === null ? at.id.text : at.column(created)}`;
    queries.push(
      sql`select ${columns(outbox, at, null)} from ${at.from} where ${where} order by ${order} limit ${sql.lit(FOLLOWED_ROWS + NEW_ROWS)}`,
    );
  }
  if (recent !== null && !(ways.open === 'scan' && ways.recent === 'scan')) {
    queries.push(sql`select ${columns(outbox, at, recent.key)} from ${recent.from} where ${recent.where}${recent.order}`);
  }
  const members = queries.map((query) => sql`(${query})`);
  // A shape may have no open state at all, where something else than its table tells how far the relay has come.
  const rows = members.length === 0 ? [] : (await sql<Answer>`${sql.join(members, sql` union all `)}`.execute(db)).rows;
  const opened = rows.filter(({ state, grown }) => grown === null && OPEN.some((one) => one === state)).length;
  const keys = rows.flatMap(({ grown }) => (grown === null ? [] : [BigInt(grown)]));
  const times = rows.flatMap((row) => finite(row.created) ?? []);
  const knownKey = memory?.recent?.keys.at(-1)?.[1] ?? memory?.recent?.sinceKey ?? null;
  const newestKey = keys.length === 0 ? (knownKey ?? '0') : String(keys.reduce((a, b) => (a > b ? a : b)));
  return {
    rows: rows.map(toRow),
    cut: opened > FOLLOWED_ROWS,
    newestKey: ways.recent === 'key' ? newestKey : null,
    fromMs: sinceMs,
    newestMs: times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b)),
  };
}

/** From when on published rows are remembered the first time: shortly before the newest, by the clock that wrote it. One row of an index, or one reading. */
async function firstSince(db: Db, outbox: Outbox, at: PlaceSql, atMs: number): Promise<number> {
  const { fragments } = outbox.database.engine;
  const published = statePredicate(outbox.shape, ['published'], at.alias, outbox.scope) ?? sql`false`;
  const name = timeColumn(outbox.main, 'createdAt') ?? '';
  const created = at.column(name);
  const description = outbox.main.description.columns.get(name);
  if (description === undefined) return sinceOf(atMs, null);
  // Rather than max(): not every server walks an index backwards for that.
  const newest = sql`select ${created} as created from ${createdFrom(outbox, at, name)} where ${published} and ${created} is not null order by ${created} desc limit 1`;
  const instant = fragments.instant(sql.ref('n.created'), description, outbox.parameters.timeZone);
  const { rows } = await sql<{ newest: number | null }>`select ${fragments.epochMs(instant)} as newest from (${newest}) as n`.execute(db);
  return sinceOf(atMs, finite(rows[0]?.newest ?? null));
}

/** The table, by the index on its times of creation where that finds published rows. */
function createdFrom(outbox: Outbox, at: PlaceSql, created: string): Sql {
  const fit = fitRange(outbox.main, at.alias, created, [...commonTests(outbox.shape, ['published']), notNull(created)]);
  return outbox.database.engine.fragments.from(outbox.main.table, at.alias, fit?.index);
}

interface NewRows {
  from: Sql;
  where: Sql;
  order: Sql;
  key: string | null;
}

/** Rows given out since the last tick and its overlap; by their key the first time the newest ones, open or not. */
function newRows(
  outbox: Outbox,
  at: PlaceSql,
  ways: Ways,
  { sinceMs, sinceKey }: { sinceMs: number | null; sinceKey: string | null },
): NewRows {
  const { fragments } = outbox.database.engine;
  const key = ways.recent === 'key' ? numberedKey(outbox.main) : null;
  const keyed = key === null ? undefined : outbox.main.description.columns.get(key);
  if (key !== null && keyed !== undefined) {
    const value = at.column(key);
    return sinceKey === null
      ? { from: at.from, where: sql`true`, order: sql` order by ${value} desc limit ${sql.lit(FOLLOWED_ROWS)}`, key }
      : {
          from: at.from,
          where: sql`${value} > ${fragments.typed(sinceKey, keyed)}`,
          order: sql` order by ${value} limit ${sql.lit(NEW_ROWS)}`,
          key,
        };
  }
  const published = statePredicate(outbox.shape, ['published'], at.alias, outbox.scope) ?? sql`false`;
  const created = timeColumn(outbox.main, 'createdAt') ?? '';
  const timed = outbox.main.description.columns.get(created);
  const limit = sql` limit ${sql.lit(NEW_ROWS)}`;
  if (timed === undefined || sinceMs === null) return { from: at.from, where: sql`false`, order: limit, key: null };
  const since = fragments.instantValue(new Date(sinceMs).toISOString(), timed, outbox.parameters.timeZone);
  const where = sql`(${published} and ${at.column(created)} >= ${since})`;
  return { from: createdFrom(outbox, at, created), where, order: limit, key: null };
}

function columns(outbox: Outbox, at: PlaceSql, key: string | null): Sql {
  const { fragments } = outbox.database.engine;
  return sql`${at.id.text} as id, ${typeOf(outbox, at)} as type, ${at.state} as state, ${epochMs(outbox, at, 'createdAt')} as created,
    ${epochMs(outbox, at, 'publishedAt')} as published, ${key === null ? fragments.nothing('text') : fragments.asText(at.column(key))} as grown`;
}

const toRow = ({ id, type, state, created, published }: Answer): DepartureRow => ({
  id,
  type,
  state,
  createdMs: finite(created),
  publishedMs: finite(published),
});

/**
 * Followed rows that were not among those read, by the key of each table: those that were not read for longest first, up to
 * KEYED_ROWS. `gone` are in no table. `isClosed`: what was not read is not open, so that rows which cannot be looked for are gone
 * as well; otherwise they stay followed.
 */
export async function readFollowedByKey(
  db: Db,
  outbox: Outbox,
  missing: string[],
  isClosed: boolean,
): Promise<{ rows: DepartureRow[]; gone: string[] }> {
  let left = missing.slice(0, KEYED_ROWS);
  const rows: DepartureRow[] = [];
  for (const place of [outbox.main, outbox.dead, outbox.archive]) {
    if (place === null || left.length === 0 || !place.description.privileges.select) continue;
    if (!keyed(place) && (await estimateRows(db, outbox, place)) > CHEAP_ROWS) {
      if (isClosed) continue;
      return { rows, gone: [] };
    }
    const at = placeSql(outbox, place);
    const found = new Set<string>();
    for (const lot of idLots(outbox, at, left)) {
      const answer = await sql<Answer>`select ${columns(outbox, at, null)} from ${at.from} where ${lot}`.execute(db);
      rows.push(...answer.rows.map(toRow));
      for (const { id } of answer.rows) found.add(id);
    }
    left = left.filter((id) => !found.has(id));
  }
  return { rows, gone: isClosed ? [...left, ...missing.slice(KEYED_ROWS)] : left };
}
