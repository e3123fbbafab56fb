/** The statements that read published rows by their time of publishing: counts, latencies and attempts. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { statePredicate } from '@/lib/shape/compile';
import type { Outbox } from '@/lib/outbox/outbox';
import { isTouched } from '@/lib/outbox/rows/touched';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import { bucketSql } from '@/lib/rollup/histogram';
import { STATES_OF } from '@/lib/outbox/scan/sources';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { hasTime, traitsOf } from '@/lib/outbox/scan/traits';
import { typeOf } from '@/lib/outbox/scan/base-columns';
import type { Acted } from '@/lib/store/acted';
import { isoOf, MINUTE, microsOf } from './clock';
import { attemptsOf, epochMs, toRow, type ObservedRow } from './observers/observer';
import { publishedByIndex, publishedColumn, type Access } from './method';

/** Rows published in a span: instants in microseconds, `to` exclusive. */
export type Span = Record<'from' | 'to', number>;

/** Events of one type, published in one step, that share a bucket. */
export interface PublishedGroup extends Record<'events' | 'latencySumMs' | 'negative', number> {
  /** Steps since the epoch. */
  published: number;
  type: string | null;
  kind: 'latency' | 'processing';
  /** null where a row lacks one of the two times. */
  bucket: number | null;
  /** Of latencies: the step of creation. */
  created: number | null;
  /** Operators changed the events, which says more of their latencies than the relay does. */
  touched: boolean;
  /** The event itself, alone in its group, if it was tried more than once and `tells` asks for those. */
  tried: ObservedRow | null;
}

type Whole = number | string;
type GroupRow = Record<'published' | 'of_processing' | 'events' | 'negative', Whole> &
  Record<'created' | 'latency_bucket' | 'processing_bucket', Whole | null> &
  Record<'type' | 'tried', string | null> & { latency_ms: number | null; touched?: Whole | null };

/** Only by the index, except where the whole table is read; for rows newer than its statistics the planner would sort, not hash. */
export async function setPlanner(db: Db, outbox: Outbox, access: Access): Promise<void> {
  await outbox.database.engine.byIndex(db, { scans: access === 'whole', blocks: access === 'blocks', hashes: true, memory: true });
}

/**
 * The published rows of a span, counted by step (of so many minutes), type and bucket. Served by the index on the time of publishing,
 * bounded by the span and the statement's timeout; locks nothing. With `tried`, events that were tried more than once are groups of their
 * own, so that the attempts observer need not read the same pages again.
 */
export async function readCells(db: Db, outbox: Outbox, span: Span, stepMinutes: number, acted: Acted | null, tells?: 'tried') {
  const { rows } = await groupsStatement(outbox, span, stepMinutes, { tells, touched: mayBeTouched(outbox, span, acted) }).execute(db);
  return rows.map((row): PublishedGroup => {
    const kind = Number(row.of_processing) === 1 ? 'processing' : 'latency';
    return {
      published: Number(row.published),
      type: row.type,
      kind,
      bucket: numberOf(row[`${kind}_bucket`]),
      created: numberOf(row.created),
      events: Number(row.events),
      latencySumMs: row.latency_ms ?? 0,
      negative: Number(row.negative),
      touched: Number(row.touched ?? 0) === 1 && row.latency_bucket !== null,
      tried: row.tried === null ? null : triedRow(row.type, row.tried),
    };
  });
}

export const eventsIn = (groups: readonly PublishedGroup[]): number =>
  groups.reduce((sum, { kind, events }) => sum + (kind === 'latency' ? events : 0), 0);

const numberOf = (value: Whole | null | undefined): number | null => (value == null ? null : Number(value));

/** For so long after the last action events that were sent again may come out. */
const APART = 1_440 * MINUTE;
/** The clocks of the store and of the observed database differ by less. */
export const CLOCKS = 60 * MINUTE;

/** Whether events published in the span may have been changed by operators: only then are the records searched for each of them. */
function mayBeTouched({ main, records }: Outbox, { from, to }: Span, acted: Acted | null): boolean {
  if (acted === null || records !== 'countable' || !hasTime(main, 'createdAt')) return false;
  return to > microsOf(acted.first) - CLOCKS && from < microsOf(acted.last) + APART;
}

/** What else is told of the events: those tried more than once by themselves, those that operators changed as groups of their own. */
type Told = { tells?: 'tried'; touched?: boolean };

export function groupsStatement(outbox: Outbox, span: Span, stepMinutes: number, { tells, touched = false }: Told = {}): Sql<GroupRow> {
  const { fragments, features } = outbox.database.engine;
  const { epochSteps, millisecondsBetween, nothing } = fragments;
  const at = placeSql(outbox, outbox.main);
  const seconds = stepMinutes * 60;
  const instant = (role: 'createdAt' | 'attemptedAt'): Sql =>
    !hasTime(outbox.main, role) ? nothing('instant') : fragments.sane(at.roleInstant(role) ?? nothing('instant'));
  const claims = traitsOf(outbox).claimTime;
  const type = typeOf(outbox, at);
  const created = sql`${instant('createdAt')} as created`;
  const attempted = sql`${instant('attemptedAt')} as attempted`;
  const tried = sql`${tells === 'tried' ? triedText(outbox, at) : nothing('text')} as tried`;
  const [mark, apart] = touched ? [[sql`case when ${isTouched(outbox, at.id.text)} then 1 end as touched`], sql`, touched`] : [[], sql``];
  // `workedOut` evaluates values once instead of wherever they are used: that is a third of the CPU time.
  const published = at.roleInstant('publishedAt') ?? nothing('instant');
  const rows = (columns: Sql[]): Sql =>
    sql`select ${fragments.bytewise(type)} as type, ${published} as published, ${sql.join(columns)}
    from ${publishedRows(outbox, span)} ${fragments.workedOut()}`;
  const latency = sql`${epochSteps(sql.ref('created'), seconds)} as created, ${millisecondsBetween(sql.ref('created'), sql.ref('published'))} as latency, tried${apart}`;
  const processing = sql`case when attempted < published then ${millisecondsBetween(sql.ref('attempted'), sql.ref('published'))} end as processing`;
  const timed = (columns: Sql[], values: Sql[]): Sql =>
    sql`select type, ${epochSteps(sql.ref('published'), seconds)} as published, ${sql.join(values)} from (${rows(columns)}) as r ${fragments.workedOut()}`;
  const inBuckets = (of: ('latency' | 'processing')[], from: Sql): Sql =>
    sql`select t.*, ${sql.join(of.map((name) => sql`${bucketSql(sql.ref(name), fragments)} as ${sql.ref(`${name}_bucket`)}`))} from (${from}) as t`;
  // A latency bucket is narrow: its rows are rarely created in more than two different minutes.
  const byLatency = sql`published, type, created, latency_bucket, tried${apart}`;
  const byProcessing = sql`published, type, processing_bucket`;
  const sums = sql`count(*) as events, sum(greatest(0, latency)) as latency_ms, count(case when latency < 0 then 1 end) as negative`;
  if (claims && features.groupingSets)
    return sql<GroupRow>`select ${byLatency}, processing_bucket, grouping(latency_bucket) as of_processing, ${sums}
      from (${inBuckets(['latency', 'processing'], timed([created, attempted, tried, ...mark], [latency, processing]))}) as b
      group by grouping sets ((${byLatency}), (${byProcessing}))`;
  const none = nothing('integer');
  const groups = sql<GroupRow>`select ${byLatency}, ${none} as processing_bucket, 0 as of_processing, ${sums}
    from (${inBuckets(['latency'], timed([created, tried, ...mark], [latency]))}) as b group by ${byLatency}`;
  if (!claims) return groups;
  // Reads the rows twice: grouped by both buckets, nearly every event would be a group of its own.
  return sql<GroupRow>`${groups} union all select published, type, ${none}, ${none}, ${nothing('text')}${touched ? sql`, ${none}` : sql``}, processing_bucket, 1, count(*), 0, 0
    from (${inBuckets(['processing'], timed([attempted], [processing]))}) as b where processing is not null group by ${byProcessing}`;
}

/** What the attempts observer needs of a row that took more than one attempt, as JSON; NULL for others. */
function triedText(outbox: Outbox, at: PlaceSql): Sql {
  const { fragments } = outbox.database.engine;
  const traits = traitsOf(outbox);
  if (!traits.attempts) return fragments.nothing('text');
  const attempts = attemptsOf(outbox, at);
  const facts = fragments.rowAsJson([
    { name: 'id', column: at.id.text },
    { name: 'attempts', column: attempts },
    { name: 'created', column: epochMs(outbox, at, 'createdAt') },
    { name: 'published', column: epochMs(outbox, at, 'publishedAt') },
  ]);
  return sql`case when ${attempts} > ${sql.lit(traits.countsClaims ? 1 : 0)} then ${facts} end`;
}

function triedRow(type: string | null, facts: string): ObservedRow {
  const { id, attempts, created, published } = JSON.parse(facts) as Record<string, string | null>;
  const [tries, createdMs, publishedMs] = [attempts, created, published].map(numberOf);
  return toRow({ id: id ?? '', type, state: 'published', attempts: tries, created: createdMs ?? null, published: publishedMs ?? null });
}

/** How many rows were published in each minute of a span, by minute since the epoch; served and bounded like `readCells`. */
export async function countByMinute(db: Db, outbox: Outbox, span: Span): Promise<Map<number, number>> {
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const minute = fragments.epochSteps(at.roleInstant('publishedAt') ?? fragments.nothing('instant'), MINUTE / 1_000_000);
  const { rows } = await sql<{ minute: number | string; events: string }>`select ${minute} as minute, count(*) as events
    from ${publishedRows(outbox, span)} group by 1`.execute(db);
  return new Map(rows.map((row) => [Number(row.minute), Number(row.events)]));
}

/** FROM and WHERE for the rows published in a span, with `placeSql`'s alias and the index on the time of publishing if there is one. */
export const publishedRows = (outbox: Outbox, span: Span): Sql =>
  sql`${outbox.database.engine.fragments.from(outbox.main.table, 'o', publishedByIndex(outbox)?.index)} where ${publishedIn(outbox, span)}`;

/** The condition for rows published in a span, written so that an index on the column serves it. */
export function publishedIn(outbox: Outbox, { from, to }: Span): Sql {
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const column = publishedColumn(outbox);
  const description = column === null ? undefined : outbox.main.description.columns.get(column);
  const predicate = statePredicate(outbox.shape, STATES_OF.published, at.alias, outbox.scope);
  if (column === null || description === undefined || predicate === null) return sql`false`;
  const { timeZone } = outbox.parameters;
  const value = (micros: number): Sql => fragments.instantValue(isoOf(micros), description, timeZone);
  const time = at.column(column);
  if (description.kind !== 'wall_clock' || description.time !== undefined || timeZone === 'UTC')
    return sql`${predicate} and ${time} >= ${value(from)} and ${time} < ${value(to)}`;
  // A wall clock that is put back shows an hour twice: the instant decides, the column's range only narrows the search.
  const instant = fragments.instant(time, description, timeZone);
  const width = (to - from) / 1_000_000;
  const [before, after] = [fragments.secondsBefore(value(to), width), fragments.secondsBefore(value(from), -width)];
  return sql`${predicate} and ${time} >= least(${value(from)}, ${before}) and ${time} < greatest(${value(to)}, ${after})
    and ${instant} >= ${fragments.instantOf(isoOf(from))} and ${instant} < ${fragments.instantOf(isoOf(to))}`;
}

/** In a block index the oldest row is found to within this. */
const NEAR = 60 * MINUTE;

/** When the oldest row was published, in microseconds (up to NEAR too early by a block index); null for none. */
export async function oldestPublished(db: Db, outbox: Outbox, access: Access, span: Span): Promise<number | null> {
  const at = placeSql(outbox, outbox.main);
  const column = publishedColumn(outbox);
  const instant = at.roleInstant('publishedAt');
  if (column === null || instant === null) return null;
  if (access !== 'blocks') {
    const oldest = sql<{ at: string }>`
      select ${outbox.database.engine.fragments.instantText(instant)} as at from ${publishedRows(outbox, span)}
      order by ${at.column(column)} limit 1`;
    const [row] = (await oldest.execute(db)).rows;
    return row === undefined ? null : microsOf(row.at);
  }
  const anyBefore = async (to: number): Promise<boolean> => {
    const { rows } = await sql`select 1 from ${publishedRows(outbox, { from: span.from, to })} limit 1`.execute(db);
    return rows.length > 0;
  };
  if (!(await anyBefore(span.to))) return null;
  let [none, some] = [span.from, span.to];
  while (some - none > NEAR) {
    const middle = Math.floor((none + some) / 2);
    if (await anyBefore(middle)) some = middle;
    else none = middle;
  }
  return none;
}

/** Failed attempts by step of publishing and type, of rows created from `createdFrom` (microseconds) on; bounded like `readCells`. */
export async function readPastAttempts(db: Db, outbox: Outbox, span: Span, stepMinutes: number, createdFrom: number | null = null) {
  const { attempts: counted, countsClaims } = traitsOf(outbox);
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const attempts = at.role('attempts');
  const created = hasTime(outbox.main, 'createdAt') ? at.roleInstant('createdAt') : null;
  if (!counted || attempts === null || (createdFrom !== null && created === null)) return [];
  const isNew = createdFrom === null ? sql`true` : sql`${created} >= ${fragments.instantOf(isoOf(createdFrom))}`;
  // A counter that rises with the claim has counted the attempt that succeeded too.
  const failed = sql`${fragments.integer(attempts.sql)} - ${sql.lit(countsClaims ? 1 : 0)}`;
  const type = typeOf(outbox, at);
  const step = fragments.epochSteps(at.roleInstant('publishedAt') ?? fragments.nothing('instant'), stepMinutes * 60);
  const { rows } = await sql<{ step: number | string; type: string | null; failed: string }>`
    select ${step} as step, ${fragments.bytewise(type)} as type, sum(${failed}) as failed
    from ${publishedRows(outbox, span)} and ${failed} > 0 and ${isNew} group by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, step: Number(row.step), failed: Number(row.failed) }));
}
