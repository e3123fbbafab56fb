import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { statePredicate } from '@/lib/outbox/conditions';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql, type PlaceSql } from '@/lib/outbox/row';
import { bucketSql } from '../rollup/bucket-sql';
import { STATES_OF } from '../sources';
import { milliseconds, nullInstant, nullText, sane, steer, stepOf, type Sql } from '../spelling';
import { hasTime, traitsOf } from '../traits';
import { isoOf, MINUTE } from './instants';
import type { AttemptsRow } from './observers/attempts-count';
import { attemptsOf, epochMs, finite } from './observers/rows';
import { publishedColumn, type Access } from './method';

/** Rows published in a span: instants in microseconds, `to` exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** Events of one type, published in one step, that share a bucket. */
export interface Cell {
  /** Steps since the epoch. */
  published: number;
  type: string | null;
  /** Set in cells of latency; null in cells of processing. */
  created: number | null;
  /** null where a row lacks one of its times. */
  latencyBucket: number | null;
  processingBucket: number | null;
  kind: 'latency' | 'processing';
  events: number;
  latencySumMs: number;
  negative: number;
  /** The event itself, alone in its cell, when it was tried more than once and those are asked for. */
  tried: AttemptsRow | null;
}

interface CellRow {
  published: number;
  type: string | null;
  created: number | null;
  latency_bucket: number | null;
  processing_bucket: number | null;
  of_processing: number;
  events: string;
  latency_ms: number | null;
  negative: string;
  tried: string | null;
}

/**
 * Planner settings for finding published rows: the index or nothing, but for a table small enough to read whole. Rows newer
 * than the table's statistics are taken for one: they would be sorted instead of hashed.
 */
export async function steerTo(db: Db, access: Access): Promise<void> {
  await steer(db, { scans: access === 'whole', bitmaps: access === 'blocks' });
  await sql`select set_config('enable_sort', 'off', true)`.execute(db);
}

/**
 * The published rows of a span, counted by step (of so many minutes), type and bucket. Served by the index on the time of
 * publishing, bounded by the span and the statement's timeout; locks nothing. `tells` also names the events that were tried
 * more than once: whoever follows attempts need not read the same pages again.
 */
export async function readCells(
  db: Db,
  outbox: Outbox,
  span: Span,
  stepMinutes: number,
  tells: 'counts' | 'tried' = 'counts',
): Promise<Cell[]> {
  const statement = cellsStatement(outbox, span, stepMinutes, tells);
  const { rows } = await statement.execute(db);
  return rows.map((row) => ({
    published: row.published,
    type: row.type,
    created: row.created,
    latencyBucket: row.latency_bucket,
    processingBucket: row.processing_bucket,
    kind: row.of_processing === 1 ? 'processing' : 'latency',
    events: Number(row.events),
    latencySumMs: row.latency_ms ?? 0,
    negative: Number(row.negative),
    tried: row.tried === null ? null : triedRow(row.type, row.tried),
  }));
}

/** The statement of `readCells`. */
export function cellsStatement(outbox: Outbox, span: Span, stepMinutes: number, tells: 'counts' | 'tried' = 'counts'): Sql<CellRow> {
  const at = placeSql(outbox, outbox.main);
  const seconds = stepMinutes * 60;
  const instant = (role: 'createdAt' | 'attemptedAt'): Sql =>
    !hasTime(outbox.main, role) ? nullInstant : sane(at.roleInstant(role) ?? nullInstant);
  const claims = traitsOf(outbox).claimTime;
  const type = outbox.main.roles.type === undefined ? nullText : sql`left(${at.roleText('type')}, 200)`;
  // OFFSET 0 keeps what is worked out once from being worked out wherever it is used: a third of the processor's time.
  const rows = sql`select ${type} collate "C" as type, ${at.roleInstant('publishedAt') ?? nullInstant} as published, ${instant('createdAt')} as created,
    ${claims ? instant('attemptedAt') : nullInstant} as attempted, ${tells === 'tried' ? triedText(outbox, at) : nullText} as tried from ${at.from} where ${publishedIn(outbox, span)} offset 0`;
  const timed = sql`select type, ${stepOf(sql.ref('published'), seconds)} as published, ${stepOf(sql.ref('created'), seconds)} as created,
    ${milliseconds(sql.ref('created'), sql.ref('published'))} as latency, tried,
    case when attempted < published then ${milliseconds(sql.ref('attempted'), sql.ref('published'))} end as processing from (${rows}) as r offset 0`;
  const buckets = sql`select t.*, ${bucketSql(sql.ref('latency'))} as latency_bucket, ${bucketSql(sql.ref('processing'))} as processing_bucket from (${timed}) as t`;
  // A bucket of latencies is narrow: hardly ever do its rows come from more than two minutes.
  const byLatency = sql`(published, type, created, latency_bucket, tried)`;
  const sets = claims ? sql`grouping sets (${byLatency}, (published, type, processing_bucket))` : byLatency;
  const ofProcessing = claims ? sql`grouping(latency_bucket)` : sql`0`;
  const processing = claims ? sql`processing_bucket` : sql`null::int as processing_bucket`;
  return sql<CellRow>`select published, type, created, latency_bucket, tried, ${processing}, ${ofProcessing} as of_processing,
    count(*) as events, sum(greatest(0, latency)) as latency_ms, count(*) filter (where latency < 0) as negative from (${buckets}) as b group by ${sets}`;
}

/** What the observer of attempts reads of a row, where there is more to it than one attempt; NULL for the others. */
function triedText(outbox: Outbox, at: PlaceSql): Sql {
  const traits = traitsOf(outbox);
  if (!traits.attempts) return nullText;
  const attempts = attemptsOf(at);
  const facts = sql`json_build_array(${at.id.text}, ${attempts}, ${epochMs(at, 'createdAt')}, ${epochMs(at, 'publishedAt')})::text`;
  return sql`case when ${attempts} > ${sql.lit(traits.countsClaims ? 1 : 0)} then ${facts} end`;
}

function triedRow(type: string | null, facts: string): AttemptsRow {
  const [id, attempts, created, published] = JSON.parse(facts) as [string, number | null, number | null, number | null];
  return {
    id,
    type,
    state: 'published',
    attempts: finite(attempts) ?? 0,
    createdMs: finite(created),
    publishedMs: finite(published),
    diedMs: null,
  };
}

/** How many rows were published in each minute of a span, by minute since the epoch; served and bounded like the cells. */
export async function countByMinute(db: Db, outbox: Outbox, span: Span): Promise<Map<number, number>> {
  const at = placeSql(outbox, outbox.main);
  const minute = stepOf(at.roleInstant('publishedAt') ?? nullInstant, MINUTE / 1_000_000);
  const { rows } = await sql<{ minute: number; events: string }>`select ${minute} as minute, count(*) as events from ${at.from}
    where ${publishedIn(outbox, span)} group by 1`.execute(db);
  return new Map(rows.map((row) => [row.minute, Number(row.events)]));
}

/** The rows published in a span, said so that an index on the column serves it. */
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
  if (description.kind === 'instant' || timeZone === 'UTC')
    return sql`${predicate} and ${time} >= ${value(from)} and ${time} < ${value(to)}`;
  // Where clocks are put back an hour is on them twice: what the column's time is read as decides, the column only narrows.
  const instant = fragments.instant(time, description, timeZone);
  const width = sql`make_interval(secs => ${sql.lit((to - from) / 1_000_000)})`;
  return sql`${predicate} and ${time} >= least(${value(from)}, ${value(to)} - ${width}) and ${time} < greatest(${value(to)}, ${value(from)} + ${width})
    and ${instant} >= ${sql`cast(${isoOf(from)} as timestamptz)`} and ${instant} < ${sql`cast(${isoOf(to)} as timestamptz)`}`;
}
