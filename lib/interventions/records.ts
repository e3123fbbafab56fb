import { type RawBuilder, sql } from 'kysely';
import { type Db, tableRef } from '@/lib/database/description';
import type { Engine } from '@/lib/database/engine';
import { LINE_COUNT, LINE_DEAD, LINE_OUTBOX, recordTables, type LineCount } from '@/lib/outbox/companions';
import type { InterventionRequest, InterventionResult, Outcome, Skipped } from '@/lib/shared/model';
import type { ActorsKey } from './operation';
import { OPERATIONS } from './operations';

export const headersOf = (engine: Engine): RawBuilder<unknown> => tableRef(recordTables(engine).headers);
export const eventTableOf = (engine: Engine): RawBuilder<unknown> => tableRef(recordTables(engine).events);
/** Quoted, because two of the names are keywords in one engine or the other. */
export const named = (names: readonly string[]): RawBuilder<unknown> => sql.join(names.map((name) => sql.id(name)));

const HEADER = ['id', 'outbox', 'actor_id', 'actor_name', 'actor_role', 'key', 'operation', 'reason', 'request_hash'] as const;

export interface RecordHeader extends Record<(typeof HEADER)[number] | 'at', string> {
  /** null only inside its own transaction. */
  outcome: Outcome | null;
}

/** What became of one event; its image is JSON where it comes from the table and goes into the record, and so not parsed. */
export interface RecordEvent<Image = string> {
  event_id: string;
  event_type: string | null;
  aggregate_id: string | null;
  /** null if the event was changed. */
  code: Skipped['code'] | null;
  detail: Skipped['detail'] | null;
  /** Of a changed event: the count of the outbox's table that moved though nothing came or went; left out if none did. */
  counted?: LineCount | undefined;
  /** Of a changed event: whether it was dead before, or came back dead. */
  dead?: boolean;
  /** Columns as texts; null if there is nothing to show. */
  before: Image | null;
  after: Image | null;
}

type NewHeader = ActorsKey & { id: string; requestHash: string; request: InterventionRequest };

/** Claims the key by its unique index; false if it is taken. Waits for a transaction that holds it (DatabaseFailure `locked`). */
export async function insertHeader(engine: Engine, db: Db, header: NewHeader): Promise<boolean> {
  const { fragments, companions } = engine;
  const { outbox, actor, key, request, requestHash } = header;
  const values = [
    fragments.typed(header.id, companions.columns.id),
    ...[outbox, actor.id, actor.name, actor.role, key, request.operation, request.reason, requestHash].map((text) => sql`${text}`),
  ];
  try {
    const { numAffectedRows } = await sql`insert into ${headersOf(engine)} (${named(HEADER)}) values (${sql.join(values)})
      ${fragments.unlessTaken()}`.execute(db);
    return numAffectedRows === 1n;
  } catch (error) {
    // On an engine that fails instead of skipping a taken key, only the statement is undone.
    if (engine.failure(error).code === 'duplicate') return false;
    throw error;
  }
}

/** One line per event, changed or skipped, in one statement of at most BATCH_EVENTS_MAX rows. The lines of changed events name the outbox. */
export async function insertEvents(engine: Engine, db: Db, header: Pick<NewHeader, 'id' | 'outbox'>, events: RecordEvent[]): Promise<void> {
  const { fragments, companions } = engine;
  const { id, number, text, json } = companions.columns;
  const lines = events.map((event, position) => {
    const changed = { [LINE_OUTBOX]: header.outbox, [LINE_COUNT]: event.counted, [LINE_DEAD]: event.dead };
    const { event_id: eventId, event_type: type, aggregate_id: aggregate, code, before, after } = event;
    const texts = [header.id, String(position), eventId, type, aggregate, code];
    const detail = code === null ? changed : event.detail;
    return [...texts, detail ? JSON.stringify(detail) : null, before, after];
  });
  const rows = fragments.rowsOf([id, number, text, text, text, text, json, json, json], lines);
  await sql`insert into ${eventTableOf(engine)} (${named(LINE)}) ${rows}`.execute(db);
}

const LINE = ['intervention_id', 'position', 'event_id', 'event_type', 'aggregate_id', 'code', 'detail', 'before', 'after'];

/** Closes the header inside its own transaction and returns it; from then on a trigger refuses changes. */
export async function closeHeader(engine: Engine, db: Db, id: string, outcome: Outcome): Promise<RecordHeader | null> {
  const closing = sql`update ${headersOf(engine)} set ${sql.id('outcome')} = ${outcome} where ${hasId(engine, 'id', [id])}`;
  if (engine.features.returning)
    return (await sql<RecordHeader>`${closing} returning ${headerColumns(engine)}`.execute(db)).rows[0] ?? null;
  await closing.execute(db);
  return headerOf(engine, db, { id });
}

export const hasId = ({ fragments, companions }: Engine, column: string, ids: string[]): RawBuilder<boolean> =>
  fragments.isOneOf(sql.id(column), ids, companions.columns.id);

export function headerColumns({ fragments, companions }: Engine): RawBuilder<unknown> {
  return sql`${named([...HEADER, 'outcome'])},
    ${fragments.isoTime(sql.id('at'), companions.columns.time, 'UTC')} as ${sql.id('at')}`;
}

/** A header by id, or by outbox, actor and key. Served by the primary key, or the unique index on (outbox, actor_id, key). */
export async function headerOf(engine: Engine, db: Db, by: { id: string } | ActorsKey): Promise<RecordHeader | null> {
  const where =
    'key' in by
      ? sql`${sql.id('outbox')} = ${by.outbox} and ${sql.id('actor_id')} = ${by.actor.id} and ${sql.id('key')} = ${by.key}`
      : hasId(engine, 'id', [by.id]);
  const { rows } = await sql<RecordHeader>`select ${headerColumns(engine)} from ${headersOf(engine)} where ${where}`.execute(db);
  return rows[0] ?? null;
}

export type RecordLine = RecordEvent<Record<string, string | null>> & { position: number };

type StoredLine = Omit<RecordLine, 'detail' | 'before' | 'after'> &
  Record<'detail' | 'before' | 'after', string | null> & { intervention_id: string };

/** The lines of these interventions, in the order of the request. Served by the primary key. */
export async function eventsOf(engine: Engine, db: Db, ids: string[]): Promise<Map<string, RecordLine[]>> {
  const byHeader = new Map<string, RecordLine[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return byHeader;
  const { rows } = await sql<StoredLine>`select ${named(LINE)} from ${eventTableOf(engine)}
    where ${hasId(engine, 'intervention_id', ids)} order by ${named(['intervention_id', 'position'])}`.execute(db);
  for (const { intervention_id, ...row } of rows) {
    // The detail of a changed event only serves counting.
    const detail = row.code === null ? null : parsed<Skipped['detail'] & object>(row.detail);
    byHeader.get(intervention_id)?.push({ ...row, detail, before: parsed(row.before), after: parsed(row.after) });
  }
  return byHeader;
}

const parsed = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));

/** The result of an intervention, built from its record: the same for every repeat. */
export const recordedResult = async (engine: Engine, db: Db, header: RecordHeader): Promise<InterventionResult> =>
  resultOf(header, (await eventsOf(engine, db, [header.id])).get(header.id) ?? []);

export function resultOf(header: RecordHeader, events: RecordEvent<unknown>[]): InterventionResult {
  const changed = events.filter((event) => event.code === null).map((event) => event.event_id);
  return {
    interventionId: header.id,
    outbox: header.outbox,
    operation: header.operation,
    reason: header.reason,
    actor: header.actor_name,
    at: header.at,
    outcome: header.outcome ?? 'unknown',
    changed,
    skipped: events.flatMap((event) =>
      event.code === null ? [] : [{ id: event.event_id, code: event.code, ...(event.detail === null ? {} : { detail: event.detail }) }],
    ),
    undo: changed.length > 0 ? (OPERATIONS.find(({ key }) => key === header.operation)?.undo ?? null) : null,
  };
}

export function outcomeOf(events: RecordEvent[]): Outcome {
  const changed = events.filter((event) => event.code === null).length;
  if (changed === 0) return 'none';
  return changed === events.length ? 'applied' : 'partly';
}

/** The id and size of a record: enough to know whether the audit has all of it. */
export interface RecordSize {
  id: string;
  /** null for a record of an outbox that was not asked for. */
  lines: number | null;
}

/** For how long a record is found by its time, in seconds: our transactions are shorter. */
export const RECENT_SECONDS = 180;

/** Ids after `after` up to and including `upTo`; null: without that bound. */
export type IdRange = Record<'after' | 'upTo', string | null>;

export interface Newest {
  records: RecordSize[];
  /** How many records each range holds, in the order of the ranges, over all outboxes. */
  counts: number[];
}

/** The newest by id and by time, at most `limit` of each, and each range's count, of one moment. By primary key and (outbox, at, id). */
export async function newestRecords(engine: Engine, db: Db, outboxes: readonly string[], limit: number, ranges: readonly IdRange[]) {
  const { fragments } = engine;
  const found = sql`select ${named(['id', 'outbox'])} from ${headersOf(engine)}`;
  const at = sql.id('at');
  const first = sql`limit ${sql.lit(limit)}`;
  const ours = isOf(engine, outboxes);
  const counted = ranges.map(
    (range, place) =>
      sql`union all select null, (select count(*) from ${headersOf(engine)} where ${isWithin(engine, range)}), ${sql.lit(place)}`,
  );
  await engine.byIndex(db);
  const { rows } = await sql<StoredSize & { place: number | null }>`select ${sizeColumns(engine, outboxes)}, null as ${sql.id('place')}
    from ((${found} order by ${sql.id('id')} desc ${first}) union
      (${found} where ${ours} and ${at} >= ${fragments.secondsBefore(fragments.now(), RECENT_SECONDS)} and ${at} <= ${fragments.now()} order by ${at} desc ${first})) as ${sql.id(PAGE)}
    ${sql.join(counted, sql` `)}`.execute(db);
  const counts = ranges.map(() => 0);
  for (const { place, lines } of rows) if (place !== null) counts[place] = Number(lines);
  return { records: rows.filter(({ place }) => place === null).map(sizeOf), counts };
}

/** The first records of a range by id, at most `limit`. Served by the primary key. */
export async function recordsWithin(engine: Engine, db: Db, outboxes: readonly string[], range: IdRange, limit: number) {
  await engine.byIndex(db);
  const { rows } = await sql<StoredSize>`select ${sizeColumns(engine, outboxes)}
    from (select ${named(['id', 'outbox'])} from ${headersOf(engine)} where ${isWithin(engine, range)}
      order by ${sql.id('id')} limit ${sql.lit(limit)}) as ${sql.id(PAGE)}
    order by ${sql.id('id')}`.execute(db);
  return rows.map(sizeOf);
}

const isOf = ({ fragments, companions }: Engine, outboxes: readonly string[]): RawBuilder<boolean> =>
  fragments.isLiteral(sql.id('outbox'), [...outboxes], companions.columns.name);

/** As literals: some servers take parameters only by a prepared statement, which is a second round trip. */
function isWithin({ quote }: Engine, { after, upTo }: IdRange): RawBuilder<unknown> {
  const bounds = [
    ...(after === null ? [] : [sql`${sql.id('id')} > ${sql.raw(quote.literal(after))}`]),
    ...(upTo === null ? [] : [sql`${sql.id('id')} <= ${sql.raw(quote.literal(upTo))}`]),
  ];
  return bounds.length === 0 ? sql`1 = 1` : sql.join(bounds, sql` and `);
}

const PAGE = 'page';

type StoredSize = Pick<RecordSize, 'id'> & { lines: string | number | null };

const sizeOf = ({ id, lines }: StoredSize): RecordSize => ({ id, lines: lines === null ? null : Number(lines) });

const sizeColumns = (engine: Engine, outboxes: readonly string[]): RawBuilder<unknown> =>
  sql`${sql.id('id')}, case when ${isOf(engine, outboxes)} then ${lineCount(engine)} end as ${sql.id('lines')}`;

const lineCount = (engine: Engine): RawBuilder<unknown> =>
  sql`(select count(*) from ${eventTableOf(engine)} as ${sql.id('line')} where ${sql.id('line', 'intervention_id')} = ${sql.id(PAGE, 'id')})`;

/** A record as stored in the observed database, each line with its position. */
export interface StoredRecord {
  header: Omit<RecordHeader, 'at'> & {
    /** null for an invalid date. */
    at: string | null;
  };
  lines: RecordLine[];
}

/** Whole records, ordered by id. Served by the primary keys. */
export async function wholeRecords(engine: Engine, db: Db, ids: string[]): Promise<StoredRecord[]> {
  const { rows } = await sql<StoredRecord['header']>`select ${headerColumns(engine)} from ${headersOf(engine)}
    where ${hasId(engine, 'id', ids)} order by ${sql.id('id')}`.execute(db);
  const lines = await eventsOf(engine, db, ids);
  return rows.map((header) => ({ header, lines: lines.get(header.id) ?? [] }));
}
