/** The one statement of a reading: its rows, the aggregates over them, and the rows over time. */
import { sql } from 'kysely';
import { actedRows } from '@/lib/outbox/acted';
import type { Outbox } from '@/lib/outbox/outbox';
import { NEWEST_ROWS, SCAN, STATES_OF, sourcesOf, type Ends, type Part, type Source, type Sources } from '@/lib/outbox/scan/sources';
import {
  count,
  isState,
  iso,
  jsonObject,
  jsonRows,
  now,
  nullInstant,
  nullNumber,
  once,
  typed,
  latest,
  milliseconds,
  type Figures,
  type Sql,
} from '@/lib/outbox/scan/sql-terms';
import { traitsOf, type Traits } from '@/lib/outbox/scan/traits';
import { slotsSeen } from '@/lib/outbox/replication-slots/seen';
import { slicesQuery, publishedSlices } from './over-time-sql';

/** A summary has at most this many event types: those with the most waiting and dead events, then those published most. */
export const TYPES_SHOWN = 50;

/** What a reading reads, and what is needed to interpret the result. */
export interface Plan extends Sources {
  traits: Traits;
  /** What operators did of late, as rows of `ActedRow`; null if nothing. */
  acted: Sql | null;
  /** Rows published since then are read; none for null. ISO 8601. */
  foldedTo: string | null;
  aggregates: readonly Aggregates[];
}

/** What the figures are computed from: the sources of a plan, and what was read besides. */
export interface ReadingInput extends Plan {
  /** The time of the reading by the clock of the database that was read. */
  now: Sql;
  /** Whether the database hides rows of the tables from the console's role. */
  hidden: Sql;
  /** The database's replication slots; null if it has none, or nothing depends on them. */
  slots: Sql | null;
  /** The ends of the whole scan if they were read separately; null if all its rows are here. */
  scanEnds: Ends | null;
}

/** JSON as the text the server sent. */
export type ReadingRow = Record<'as_of' | 'rows_read' | 'figures' | 'types' | 'slices' | 'tail', string>;

/** What is known beforehand: of the slots, and whether operators acted of late. */
type Seen = { slots?: Traits['slots']; acted?: boolean };

/** The bounded reads of an outbox; of published rows only those since `foldedTo`. */
export function planOf(outbox: Outbox, foldedTo: string | null, aggregates: readonly Aggregates[], seen: Seen = {}): Plan {
  const { slots = null, acted = false } = seen;
  const traits = traitsOf(outbox, slots, acted);
  return { ...sourcesOf(outbox, traits, foldedTo), acted: acted ? actedRows(outbox) : null, traits, foldedTo, aggregates };
}

/** The whole reading as one statement, for a database that computes its figures itself. */
export function readingStatement(outbox: Outbox, plan: Plan): Sql<ReadingRow> {
  const hidden = outbox.database.engine.fragments.hidesRows(plan.traits.tables);
  const slots = plan.traits.slots?.why === null ? slotsSeen(outbox) : null;
  return figuresStatement({ ...plan, now: now(), hidden, slots, scanEnds: null });
}

/** Waiting rows, dead rows, and rows published since `foldedTo`, on one snapshot; bounded by READING_ROWS rows in all, locks nothing. */
export function figuresStatement(input: ReadingInput): Sql<ReadingRow> {
  const { sources, foldedTo, slots } = input;
  const base = baseOf(input);
  const scan = sources.find((source) => source.name === SCAN) ?? null;
  const each = sources.map((source, place) => rowsOf(source, place, foldedTo));
  const rows = each.length === 0 ? rowsFrom('[]') : sql.join(each, sql` union all `);
  const ctes = [
    ...(scan === null ? [] : [sql`scan as materialized (${scan.query})`, sql`scan_edges as materialized (${scanEdges(input.scanEnds)})`]),
    ...(input.newest === null ? [] : [sql`newest as materialized (${input.newest})`]),
    ...sources.flatMap(({ name, counted }) => (counted === null ? [] : [sql`${sql.ref(countedName(name))} as materialized (${counted})`])),
    ...(input.acted === null ? [] : [sql`acted as materialized (${input.acted})`]),
    sql`base as materialized (${input.acted === null ? rows : withTouched(rows)})`,
    sql`head as materialized (${headQuery(base)})`,
    sql`edges as materialized (${edges(input, scan, base)})`,
    sql`types as materialized (${typesQuery(base, input.aggregates)})`,
  ];
  const counts = sources.flatMap(({ name, counted }): [string, Sql][] => [
    [name, name === SCAN ? sql`(select n from scan_edges)` : sql`(select ${sql.ref(readName(name))} from edges)`],
    ...(counted === null ? [] : [[countedName(name), sql`(select n from ${sql.ref(countedName(name))})`] as [string, Sql]]),
  ]);
  const owned: [string, Figures | undefined][] = input.aggregates.map(({ owner, figures }) => [owner, figures(base)]);
  if (slots !== null) owned.push([SLOTS_OWNER, { seen: slots }]);
  if (input.acted !== null) owned.push([ACTED_OWNER, { acts: actsQuery }]);
  return sql<ReadingRow>`with ${sql.join(ctes)}
    select ${iso(input.now)} as as_of, ${jsonObject(Object.fromEntries(counts))} as rows_read,
      (select ${jsonObject(objects(owned))} from base) as figures,
      ${jsonRows(typesShown(base, input.aggregates))} as types,
      ${slicesQuery(input.now, input.absent)} as slices, ${publishedSlices(input.now, input.acted !== null)} as tail`;
}

/** The rows, when an operator last changed them, also when dead, and whether they were sent again then. */
const withTouched = (rows: Sql): Sql =>
  sql`select r.*, t.touched, t.revived, t.resent from (${rows}) as r left join (select id, max(at) as touched, max(at) filter (where dead = 1) as revived,
    bool_or(dead = 1 and operation not in ('archive', 'restore')) as resent from acted group by id) as t on t.id = r.id`;

/** The interventions, newest first. */
const actsQuery = jsonRows(sql`select ${iso(sql.ref('at'))} as at, operation, actor, count(id) as count,
  bool_and(operation in ('archive', 'restore') and dead = 1) as tidies from acted
  group by act, acted.at, operation, actor order by acted.at desc`);

export const BASE_COLUMNS = {
  /** A code: compare with `isState`. */
  state: 'int',
  type: 'text collate "C"',
  created: 'timestamptz',
  published: 'timestamptz',
  /** When the relay last claimed the row. */
  attempted: 'timestamptz',
  /** When a dead row died, as closely as the table records it. */
  died: 'timestamptz',
  /** When a waiting row is due, if it says so. */
  available: 'timestamptz',
  /** Of rows without a creation time a number that grows with every event; and their id, cut short, where it is needed. */
  serial: 'bigint',
  id: 'text collate "C"',
  attempts: 'bigint',
  /** Error of a failed row that is not published, truncated. */
  error: 'text collate "C"',
  /** Aggregate of a row, truncated. */
  key: 'text collate "C"',
  /** Numbers of the transactions that last wrote a waiting row, and last locked it or tried to; NULL if the engine does not show them. */
  written: 'bigint',
  taken: 'bigint',
} as const;
export type BaseColumn = keyof typeof BASE_COLUMNS;
const COLUMNS = Object.fromEntries(Object.keys(BASE_COLUMNS).map((name) => [name, sql.ref(name)])) as Record<BaseColumn, Sql>;

/** Rows of the base from a JSON array of objects, times as ISO 8601 texts; a missing column is NULL. */
export function rowsFrom(json: string): Sql {
  const columns = Object.entries(BASE_COLUMNS).map(([name, type]) => sql`${sql.id(name)} ${sql.raw(type)}`);
  return sql`select * from json_to_recordset(cast(${json} as json)) as r(${sql.join(columns)})`;
}

/** What operators did, from a JSON array of `ActedRow`. */
export const actedFrom = (json: string): Sql =>
  sql`select * from json_to_recordset(cast(${json} as json)) as r(act text, at timestamptz, operation text, actor text, id text collate "C", dead int)`;

export const countedName = (source: string): string => `${source}_counted`;
const readName = (source: string): string => `${source}_read`;

const isCounted = ({ counted }: Source): boolean => counted !== null;

function deadCount(sources: Source[]): Sql {
  const dead = sourcesFor('dead', sources);
  const counts = [
    ...dead.filter(isCounted).map(({ name }) => sql`(select n from ${sql.ref(countedName(name))})`),
    ...(dead.every(isCounted) ? [] : [sql`(select dead_read from edges)`]),
  ];
  return counts.length === 0 ? sql.lit(0) : sql`(${sql.join(counts, sql` + `)})`;
}

/** The rows of a source that belong to the base, each with the source's place in the plan. */
function rowsOf(source: Source, place: number, foldedTo: string | null): Sql {
  const all = sql`select ${sql.lit(place)} as source, r.*`;
  if (source.name !== SCAN) return sql`${all} from (${source.query}) as r`;
  const open = source.parts.flatMap((part) => (part === 'published' ? [] : STATES_OF[part]));
  const tests = [
    ...(open.length > 0 ? [isState(sql.ref('state'), ...open)] : []),
    ...(source.parts.includes('published') ? [sql`(${isState(sql.ref('state'), 'published')} and ${unfolded(source, foldedTo)})`] : []),
  ];
  return sql`${all} from scan as r where ${sql.join(tests, sql` or `)}`;
}

/** Published since the last fold. A scan that was cut short in no order has none: some may be missing. */
function unfolded(scan: Source, foldedTo: string | null): Sql {
  if (foldedTo === null) return sql`false`;
  const since = sql`cast(${foldedTo} as timestamptz)`;
  return scan.ordered
    ? sql`published >= ${once(since)}`
    : sql`published >= ${once(sql`case when (select n from scan_edges) < ${sql.lit(scan.limit)} then ${since} else 'infinity' end`)}`;
}

/** Facts of the whole scan beyond its rows in the base, in one pass. */
function scanEdges(ends: Ends | null): Sql {
  if (ends !== null) return endsOf(ends);
  const published = isState(sql.ref('state'), 'published');
  return sql`select count(*) as n, ${count(published)} as published_rows, max(created) filter (where ${published}) as newest_created,
    max(published) filter (where ${published}) as last_published, max(serial) filter (where ${published}) as newest_serial from scan`;
}

/** Ends that were read elsewhere. */
export const endsOf = ({ n, published_rows: rows, newest_created: created, last_published: published, newest_serial: serial }: Ends): Sql =>
  sql`select ${sql.lit(Number(n))}::bigint as n, ${sql.lit(Number(rows))}::bigint as published_rows, ${instant(created)} as newest_created, ${instant(published)} as last_published,
    cast(${serial} as bigint) as newest_serial`;

export const instant = (iso: string | number | null): Sql => sql`cast(${iso} as timestamptz)`;

/** The newest times in the table, by index if there is one, else from the scan; and values that several figures compare with. */
function edges({ sources, newest }: Sources, scan: Source | null, base: Base): Sql {
  const { touch, headTouch } = touches(base);
  const uncut = scan === null ? sql`false` : sql`(select n from scan_edges) < ${sql.lit(scan.limit)}`;
  // A scan that was cut short shows what was published last only if it began with the newest rows.
  const scanned = (column: string): Sql => {
    if (scan === null) return column === 'newest_serial' ? nullNumber : nullInstant;
    const value = sql`(select ${sql.ref(column)} from scan_edges)`;
    return scan.ordered ? value : sql`case when ${uncut} then ${value} end`;
  };
  const newestOf = (column: string): Sql =>
    newest === null ? scanned(column) : sql`coalesce((select ${sql.ref(column)} from newest), ${scanned(column)})`;
  const furthest = (column: BaseColumn, newest: string): Sql =>
    sql`greatest(${latest(sql.ref(column), isState(sql.ref('state'), 'published'))}, ${newestOf(newest)})`;
  const scannedNone = scan === null ? sql`false` : sql`(${uncut} and (select published_rows from scan_edges) = 0)`;
  const nothingOut = newest === null ? scannedNone : sql`(select n < ${sql.lit(NEWEST_ROWS)} and published_rows = 0 from newest)`;
  const from = (wanted: Source[]): Sql => sql`source in (${sql.join(wanted.map((source) => sql.lit(sources.indexOf(source))))})`;
  const uncounted = sourcesFor('dead', sources).filter((source) => !isCounted(source));
  const read = [
    ...sources.filter((source) => source !== scan).map((source) => sql`, ${count(from([source]))} as ${sql.ref(readName(source.name))}`),
    ...(uncounted.length === 0 ? [] : [sql`, ${count(sql`${from(uncounted)} and ${isState(sql.ref('state'), 'dead')}`)} as dead_read`]),
  ];
  return sql`select ${newestOf('last_published')} as last_published, ${nothingOut} as nothing_out,
    ${furthest('created', 'newest_created')} as frontier, ${furthest('serial', 'newest_serial')} as lead,
    ${touch} as touch, ${headTouch} as head_touch${sql.join(read, sql``)} from base`;
}

/** One object per owner: a function takes a hundred arguments at most. */
const objects = (owned: [string, Figures | undefined][]): Figures =>
  Object.fromEntries(owned.flatMap(([owner, values]) => (values === undefined ? [] : [[owner, jsonObject(values)]])));

function typesQuery(base: Base, aggregates: readonly Aggregates[]): Sql {
  const columns = aggregates.flatMap(({ owner, perType }) =>
    Object.entries(perType?.(base) ?? {}).map(([name, value]) => sql`${value} as ${typed(owner, name)}`),
  );
  return sql`select type, ${count(isState(base.state, 'pending', 'retrying', 'dead'))} as urgent, ${count(isState(base.state, 'published'))} as published,
    ${sql.join(columns)} from base where type is not null group by type`;
}

function typesShown(base: Base, aggregates: readonly Aggregates[]): Sql {
  const columns = (owner: string, values: Figures | undefined): Figures | undefined =>
    values && Object.fromEntries(Object.keys(values).map((name) => [name, typed(owner, name)]));
  const shown = aggregates.filter(({ showsTypes }) => showsTypes);
  const figures = objects(shown.map(({ owner, perType }) => [owner, columns(owner, perType?.(base))]));
  return sql`select type, ${jsonObject(figures)} as figures from
    (select * from types order by urgent desc, published desc, type limit ${sql.lit(TYPES_SHOWN)}) as shown order by urgent desc, published desc, type`;
}

export const sourcesFor = (part: Part, sources: Source[]): Source[] => sources.filter((source) => source.parts.includes(part));

/** Aggregates over the base for one owner: a metric or a verdict's rule. `Answer`: what the statement returns for each. */
export interface Aggregates<Answer extends object = Record<string, unknown>, OfType extends object = Record<string, unknown>> {
  owner: string;
  /** Undefined where this outbox has none. */
  figures(base: Base): Columns<Answer> | undefined;
  /** What is kept of the figures: readings are remembered, so lists are made short here. */
  digest?(told: Record<string, unknown>): Record<string, unknown>;
  /** The same for each event type: columns of `types`, named by `typed`. */
  perType?(base: Base): Columns<OfType> | undefined;
  /** Values of each type are returned too, and not only used by other figures. */
  showsTypes?: boolean;
}

type Columns<Answer extends object> = { [Name in keyof Answer]: Sql };

export const SLOTS_OWNER = 'replication-slot';
export const ACTED_OWNER = 'acted';

/** What every current figure is an aggregate over: open and dead rows, and those published since the collector's last fold. */
export type Base = ReturnType<typeof baseOf>;
const baseOf = ({ traits, now, hidden, sources, acted }: ReadingInput) => ({
  ...COLUMNS,
  /** When an operator last changed the row; null if none did anything of late. */
  touched: acted && sql.ref('touched'),
  /** The same, but only if it was dead before, or came back dead. */
  revived: acted && sql.ref('revived'),
  traits,
  now,
  hidden,
  publishedLately: isState(COLUMNS.state, 'published'),
  /** How many events are dead: only the newest of their rows are in the base. */
  deadCount: deadCount(sources),
  lastPublished: sql`(select last_published from edges)`,
  /** Every published row was looked for, and there is none. */
  nothingOut: sql`(select nothing_out from edges)`,
  /** The newest creation among all published events: how far the relay has come. */
  frontier: sql`(select frontier from edges)`,
  /** The highest number among all published events: the same by the key, where rows have no creation time. */
  lead: sql`(select lead from edges)`,
  /** The newest transaction that tried any waiting event, and the one that last touched the first of them (`touches`). */
  touch: sql`(select touch from edges)`,
  headTouch: sql`(select head_touch from edges)`,
});

/** A row claimed this long after its creation that waits again was tried. Default values of one statement are closer together. */
const TRIED_AFTER_MS = 100;

/** A waiting event that was tried and failed, by its counter or, without one, by the time of its last claim. */
export function failing({ traits, state, attempted, created }: Base): Sql {
  const counted = isState(state, 'retrying');
  if (traits.attempts || !traits.claimTime) return counted;
  return sql`coalesce(${counted} or ${isState(state, 'pending')} and ${milliseconds(created, attempted)} > ${sql.lit(TRIED_AFTER_MS)}, false)`;
}

/** Whether a waiting event may be taken now. */
export const mayGo = ({ traits, available, now }: Base): Sql =>
  traits.dueTime ? sql`coalesce(${available} <= ${once(now)}, true)` : sql`true`;

/** A waiting event that may be taken now and was never tried, as far as the table shows. */
export const fresh = (base: Base): Sql => sql`(${isState(base.state, 'pending')} and not ${failing(base)} and ${mayGo(base)})`;

/** Since when a relay may take a row: one that an operator put back, since then. NULL if neither its creation nor its due time is known. */
export function ready({ traits, created, available, touched }: Base): Sql {
  if (!traits.createdAt && !traits.dueTime) return created;
  return sql`greatest(${sql.join([created, ...(traits.dueTime ? [available] : []), ...(touched === null ? [] : [touched])])})`;
}

/** A fresh event behind all that was published: the relay has not reached it yet. An overtaken one waits for another reason. */
export function due(base: Base): Sql {
  const { traits, serial, lead, frontier } = base;
  const ahead = traits.createdAt ? sql`${ready(base)} > coalesce(${frontier}, '-infinity')` : sql`coalesce(${serial} > ${lead}, true)`;
  return sql`(${fresh(base)} and ${ahead})`;
}

/** From when on a failed event is to be tried again: it is due, or has waited as long again as it did, an hour at most. NULL if nothing tells. */
export function retryDue(base: Base): Sql {
  const { traits, attempted } = base;
  const told = traits.dueTime || traits.attempts ? mayGo(base) : sql`${attempted} is not null`;
  const waited = sql`${attempted} + least(${attempted} - ${ready(base)}, interval '1 hour')`;
  return sql`case when ${failing(base)} and ${told} then greatest(${ready(base)}, ${waited}) end`;
}

/** The row that waits longest: `head`, one row at the most. */
const headQuery = ({ state, created }: Base): Sql =>
  sql`select * from base where ${isState(state, 'pending', 'retrying')} and ${created} is not null order by ${created} limit 1`;

/** Whether what a row shows is the relay's doing: no operator changed it since, as far as its clock is fine enough to tell. */
export const isOwn = ({ traits: { resolutionMs }, touched, attempted }: Base): Sql =>
  touched ? sql`coalesce(${milliseconds(touched, attempted)} > ${sql.lit(-resolutionMs.attempted)}, ${touched} is null)` : sql`true`;

/** Whether a failure or a death is not one of an event that had died before and was put back by an operator. */
export const isFirst = ({ revived }: Base): Sql => (revived === null ? sql`true` : sql`${revived} is null`);

/** Signs that a relay tries: locks and attempts leave their transaction's number on the row, even if all was rolled back. */
export function touches(base: Base): { touch: Sql; headTouch: Sql } {
  const { state, written, taken } = base;
  const number = sql`greatest(${taken}, case when ${failing(base)} then ${written} end)`;
  const touch = latest(number, sql`(${isState(state, 'pending', 'retrying')} and ${isOwn(base)})`);
  return { touch, headTouch: sql`(select greatest(${taken}, ${written}) from head where ${isOwn(base)})` };
}
