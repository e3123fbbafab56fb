/** The statements of the observers that follow open events: open rows, new rows, and followed rows by their keys. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { Acted } from '@/lib/store/acted';
import { LINE_COUNT, recordTables } from '@/lib/outbox/companions';
import { fitRange, numberedKey } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { timeColumn } from '@/lib/outbox/scan/traits';
import { statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { CollectionMethod } from '@/lib/shared/figures/collection';
import type { LiveState } from '@/lib/shared/states';
import { CLOCKS } from '../published-sql';
import { countDepartures, departureMemory, FOLLOWED_ROWS, putBack, sinceOf, type DepartureMemory } from './departures-count';
import {
  CHEAP_ROWS,
  estimateRows,
  finite,
  readByKey,
  rowColumns,
  rowsByIndex,
  SCANNED_ROWS,
  toRow,
  type Act,
  type Observation,
  type Observer,
  type ObserverTick,
  type RowAnswer,
} from './observer';

/** Divides no interval that relays poll in, so that ticks are not in step with them. */
const EVERY_MS = 809;
/** A table above CHEAP_ROWS is scanned this often. */
const DEAR_EVERY_MS = 5_000;
/** New rows read per tick, including those of the overlap. */
const NEW_ROWS = 50_000;
/** Rows fetched by key per tick: about four pages each. */
const KEYED_ROWS = 5_000;

function observer(key: string, wanted: CollectionMethod, deletes: boolean): Observer {
  return { key, wants: (_, method) => method === wanted, everyMs: EVERY_MS, tick: (input) => observeDepartures(input, deletes) };
}

/** Events whose rows stay without a time of publishing: seen open, then not. */
export const transitionsObserver = observer('transitions', 'observed', false);
/** Events whose rows are deleted when they are published: seen open, then gone. */
export const deletesObserver = observer('deletes', 'deleted', true);

async function observeDepartures({ outbox, db, at, memory: given, acted }: ObserverTick, deletes: boolean): Promise<Observation> {
  const began = performance.now();
  const memory = departureMemory(given);
  const ways = await waysOf(db, outbox, deletes);
  const isDear = ways.size > CHEAP_ROWS && (ways.open === 'scan' || ways.recent === 'scan');
  const sinceMs = memory === null ? Infinity : Date.parse(at) - memory.atMs;
  const isEarly = isDear && sinceMs >= 0 && sinceMs < DEAR_EVERY_MS;
  if (ways.open === null || isEarly) return { additions: new Map(), memory: given, rows: 0 };
  // Before the rows: an event that leaves in between would be counted twice, by the statistics now and by its row later.
  const changes = ways.recent !== null ? null : await outbox.database.engine.changeCounts(db, outbox.main.table);
  // Rows are as of now, not as of when the tick began: a busy server answers late.
  const atMs = Date.parse(at) + performance.now() - began;
  const { rows, isCut, recent } = await readOpenAndNew(db, outbox, ways, memory, atMs);
  const there = new Set(rows.map(({ id }) => id));
  // After the rows: what was done to them is known.
  const acts = await actsOf(db, outbox, acted);
  // The rows read longest ago are last in the memory: they are read first.
  const followed = [...(memory?.open ?? []).map(([id]) => id), ...putBack(memory, acts)];
  const missing = followed.filter((id) => !there.has(id)).reverse();
  const byKey = await readByKey(db, outbox, missing, { most: KEYED_ROWS, isClosed: deletes && !isCut, columns: rowColumns });
  const counted = countDepartures(memory, {
    atMs,
    // Open rows that are found by key only are followed while there is room.
    capped: isCut || (ways.open === 'known' && (memory?.open.length ?? 0) >= FOLLOWED_ROWS),
    rows: [...rows, ...byKey.rows],
    gone: byKey.gone,
    deletes,
    deadStay: outbox.dead === null,
    acts,
    recent,
    counts: changes === null ? null : { ...changes, depth: isCut || ways.open === 'known' ? null : rows.length },
  });
  return { ...counted, rows: rows.length + byKey.rows.length };
}

/** Our transactions, and the gaps that an observer bridges, are shorter. */
const ACTS_SECONDS = 180;

/** What operators changed in the last minutes; by the index of the records on outbox and time, then by their key; locks nothing. */
async function actsOf(db: Db, { id, records, database: { engine } }: Outbox, acted: Acted | null): Promise<Act[]> {
  if (acted === null || Date.now() - Date.parse(acted.last) > CLOCKS / 1_000 || records === 'absent' || records === 'unreadable') return [];
  const { fragments: f, companions } = engine;
  const { headers, events } = recordTables(engine);
  const { columns } = companions;
  const acts = sql<Act>`select ${f.asText(sql.ref('i.id'), columns.id)} as record, e.event_id as id,
      ${f.jsonText(sql.ref('e.detail'), [LINE_COUNT], columns.json)} as counted
    from ${f.from(headers, 'i')} join ${f.from(events, 'e')} on e.intervention_id = i.id and e.code is null
    where ${f.isLiteral(sql.ref('i.outbox'), [id], columns.name)} and i.at >= ${f.secondsBefore(f.now(), ACTS_SECONDS)}`;
  return (await acts.execute(db)).rows;
}

const OPEN: readonly LiveState[] = ['pending', 'retrying', 'processing'];
/** Each is found by an index of its own. */
const OPEN_PARTS: readonly LiveState[][] = [['pending', 'retrying'], ['processing']];

/** How rows are found. `scan`: by reading the whole table. `key`: by keys that increase. */
interface Ways {
  /** `first`: any open rows, as nearly all rows are open. `known`: only those that were found when new. null: not at all. */
  open: 'index' | 'scan' | 'first' | 'known' | null;
  recent: 'key' | 'index' | 'scan' | null;
  /** About how many rows a scan reads. */
  size: number;
}

/** The cheapest ways to find rows that this table offers. */
async function waysOf(db: Db, outbox: Outbox, deletes: boolean): Promise<Ways> {
  const { main } = outbox;
  const at = placeSql(outbox, main);
  const openByIndex = OPEN_PARTS.every((states) => rowsByIndex(outbox, at, states)?.rows !== null);
  if (deletes) return { open: openByIndex ? 'index' : 'first', recent: null, size: 0 };
  const byKey = numberedKey(main) !== null;
  const created = timeColumn(main, 'createdAt');
  const byCreated = created !== null && createdIndex(outbox, created) !== null;
  const size = openByIndex && (byKey || byCreated) ? 0 : await estimateRows(db, outbox, main);
  const small = size <= SCANNED_ROWS;
  return {
    open: openByIndex ? 'index' : small ? 'scan' : byKey ? 'known' : null,
    recent: byKey ? 'key' : byCreated ? 'index' : small && created !== null ? 'scan' : null,
    size,
  };
}

const createdIndex = ({ main, shape }: Outbox, created: string): string | null =>
  fitRange(main, 'o', created, [...commonTests(shape, ['published']), notNull(created)])?.index ?? null;

/** Open rows, the oldest first if an index or a scan gives that, and rows new since `memory`; bounded (`isCut`: more wait). */
async function readOpenAndNew(db: Db, outbox: Outbox, ways: Ways, memory: DepartureMemory | null, atMs: number) {
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const [key] = ways.recent === 'key' ? at.id.columns : [];
  const created = key === undefined && ways.recent !== null ? timeColumn(outbox.main, 'createdAt') : null;
  const sinceMs = created === null ? null : (memory?.recent?.sinceMs ?? (await firstSince(db, outbox, at, created, atMs)));
  const isNew = created === null || sinceMs === null ? sql`false` : createdSince(outbox, at, created, sinceMs);
  const select = (rest: Sql, limit: number, grown: Sql = fragments.nothing('text')): Sql =>
    sql`(select ${rowColumns(outbox, at)}, ${grown} as grown from ${rest} limit ${sql.lit(limit)})`;

  const open = statePredicate(outbox.shape, OPEN, at.alias, outbox.scope) ?? sql`false`;
  const queries: Sql[] = [];
  if (ways.open === 'index') {
    for (const states of OPEN_PARTS) {
      const found = rowsByIndex(outbox, at, states)?.rows;
      if (found != null) queries.push(select(found, FOLLOWED_ROWS + 1));
    }
  } else if (ways.open === 'first') {
    queries.push(select(sql`${at.from} where ${open}`, FOLLOWED_ROWS + 1));
  } else if (ways.open === 'scan') {
    // One scan finds both: the oldest open rows come first.
    const where = ways.recent === 'scan' ? sql`(${open} or ${isNew})` : open;
    const order = timeColumn(outbox.main, 'createdAt');
    const byTime = order === null ? at.id.text : at.column(order);
    queries.push(select(sql`${at.from} where ${where} order by ${open} desc, ${byTime}`, FOLLOWED_ROWS + NEW_ROWS));
  }
  if (key !== undefined) {
    // The first time: the newest rows, open or not.
    const since = memory?.recent?.sinceKey ?? null;
    const grown = fragments.asText(key.sql);
    const later = since === null ? null : sql`${key.sql} > ${fragments.typed(since, key.description)}`;
    if (later === null) queries.push(select(sql`${at.from} order by ${key.sql} desc`, FOLLOWED_ROWS, grown));
    else queries.push(select(sql`${at.from} where ${later} order by ${key.sql}`, NEW_ROWS, grown));
  } else if (created !== null && !(ways.open === 'scan' && ways.recent === 'scan')) {
    queries.push(select(sql`${createdFrom(outbox, at, created)} where ${isNew}`, NEW_ROWS));
  }
  // A shape may have no open state, if the relay's position is kept outside its table.
  const rows =
    queries.length === 0 ? [] : (await sql<RowAnswer<{ grown: string | null }>>`${sql.join(queries, sql` union all `)}`.execute(db)).rows;
  const newestKey = rows.reduce(
    (newest, { grown }) => (grown !== null && (newest === null || BigInt(grown) > BigInt(newest)) ? grown : newest),
    memory?.recent?.keys.at(-1)?.[1] ?? memory?.recent?.sinceKey ?? null,
  );
  const newestMs = rows.reduce((newest, row) => Math.max(newest, finite(row.created) ?? -Infinity), -Infinity);
  return {
    rows: rows.map(toRow),
    isCut: rows.filter(({ state, grown }) => grown === null && OPEN.some((one) => one === state)).length > FOLLOWED_ROWS,
    recent: ways.recent && { fromMs: sinceMs, newestMs: finite(newestMs), newestKey: key === undefined ? null : (newestKey ?? '0') },
  };
}

/** The first time, rows are read from shortly before the newest one (ms, by its clock). Reads one row of an index, or scans once. */
async function firstSince(db: Db, outbox: Outbox, at: PlaceSql, created: string, atMs: number): Promise<number> {
  const { fragments } = outbox.database.engine;
  const description = outbox.main.description.columns.get(created);
  if (description === undefined) return sinceOf(atMs, null);
  // Not max(): not every server reads an index backwards for that.
  const newest = sql`select ${at.column(created)} as created from ${createdFrom(outbox, at, created)}
    where ${published(outbox, at)} and ${at.column(created)} is not null order by ${at.column(created)} desc limit 1`;
  const instant = fragments.instant(sql.ref('n.created'), description, outbox.parameters.timeZone);
  const { rows } = await sql<{ newest: number | null }>`select ${fragments.epochMs(instant)} as newest from (${newest}) as n`.execute(db);
  return sinceOf(atMs, finite(rows[0]?.newest));
}

const published = ({ shape, scope }: Outbox, { alias }: PlaceSql): Sql => statePredicate(shape, ['published'], alias, scope) ?? sql`false`;

const createdFrom = (outbox: Outbox, at: PlaceSql, created: string): Sql =>
  outbox.database.engine.fragments.from(outbox.main.table, at.alias, createdIndex(outbox, created) ?? undefined);

function createdSince(outbox: Outbox, at: PlaceSql, created: string, sinceMs: number): Sql {
  const description = outbox.main.description.columns.get(created);
  if (description === undefined) return sql`false`;
  const since = outbox.database.engine.fragments.instantValue(new Date(sinceMs).toISOString(), description, outbox.parameters.timeZone);
  return sql`(${published(outbox, at)} and ${at.column(created)} >= ${since})`;
}
