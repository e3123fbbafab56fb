import { sql, type RawBuilder } from 'kysely';
import type { Engine } from '@/lib/database/engine';
import { type Db, tableRef } from '@/lib/database/description';
import { LINE_OUTBOX, recordTables } from '@/lib/outbox/companions';
import type { InterventionRequest, InterventionResult, Outcome, Skipped } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { OPERATIONS } from './operations';

export const headersOf = (engine: Engine): RawBuilder<unknown> => tableRef(recordTables(engine).headers);
export const eventTableOf = (engine: Engine): RawBuilder<unknown> => tableRef(recordTables(engine).events);
/** Names are quoted: two of them are words of SQL in one engine or the other. */
export const named = (names: readonly string[]): RawBuilder<unknown> => sql.join(names.map((name) => sql.id(name)));

/** The header of an intervention as it stands in the observed database. */
export interface RecordHeader {
  id: string;
  outbox: string;
  actor_id: string;
  actor_name: string;
  actor_role: string;
  operation: string;
  reason: string;
  request_hash: string;
  /** null only inside its own transaction. */
  outcome: Outcome | null;
  at: string;
}

export interface RecordEvent {
  event_id: string;
  event_type: string | null;
  aggregate_id: string | null;
  /** null when the event was changed. */
  code: Skipped['code'] | null;
  detail: Skipped['detail'] | null;
  /** Columns as text; null where there is nothing to show. */
  before: Record<string, string | null> | null;
  after: Record<string, string | null> | null;
}

export interface NewHeader {
  id: string;
  outbox: string;
  actor: Actor;
  key: string;
  requestHash: string;
  request: InterventionRequest;
}

/**
 * Claims the idempotency key: true when the header is ours, false when somebody was first. Waits on a running
 * transaction with the same key, up to the lock timeout (DatabaseFailure `locked`). Served by the unique index on
 * (outbox, actor_id, key).
 */
export async function insertHeader(engine: Engine, db: Db, header: NewHeader): Promise<boolean> {
  const { fragments, companions } = engine;
  const names = ['id', 'outbox', 'actor_id', 'actor_name', 'actor_role', 'key', 'request_hash', 'operation', 'reason'];
  const texts = [header.outbox, header.actor.id, header.actor.name, header.actor.role, header.key, header.requestHash];
  const values = [
    fragments.typed(header.id, companions.columns.id),
    ...[...texts, header.request.operation, header.request.reason].map((text) => sql`${text}`),
  ];
  try {
    const { numAffectedRows } = await sql`insert into ${headersOf(engine)} (${named(names)}) values (${sql.join(values)})
      ${fragments.unlessTaken()}`.execute(db);
    return numAffectedRows === 1n;
  } catch (error) {
    // Where rows whose key is taken are not left out but fail, the statement alone is undone.
    if (engine.failure(error).code === 'duplicate') return false;
    throw error;
  }
}

/** One record per event, changed or skipped; at most 200 rows in one statement. The lines of changed ones name the outbox. */
export async function insertEvents(engine: Engine, db: Db, header: Pick<NewHeader, 'id' | 'outbox'>, events: RecordEvent[]): Promise<void> {
  const { fragments, companions } = engine;
  const { id, number, json } = companions.columns;
  const asJson = (value: unknown): RawBuilder<unknown> => (value === null ? sql`null` : fragments.typed(JSON.stringify(value), json));
  const values = events.map(
    (event, position) => sql`(${fragments.typed(header.id, id)}, ${fragments.typed(String(position), number)}, ${event.event_id},
      ${event.event_type}, ${event.aggregate_id}, ${event.code}, ${asJson(event.code === null ? { [LINE_OUTBOX]: header.outbox } : event.detail)}, ${asJson(event.before)}, ${asJson(event.after)})`,
  );
  const names = ['intervention_id', 'position', 'event_id', 'event_type', 'aggregate_id', 'code', 'detail', 'before', 'after'];
  await sql`insert into ${eventTableOf(engine)} (${named(names)}) values ${sql.join(values)}`.execute(db);
}

/** Closes the header inside its own transaction; a trigger refuses it ever after. */
export async function closeHeader(engine: Engine, db: Db, id: string, outcome: Outcome): Promise<void> {
  await sql`update ${headersOf(engine)} set ${sql.id('outcome')} = ${outcome} where ${hasId(engine, 'id', [id])}`.execute(db);
}

export const hasId = ({ fragments, companions }: Engine, column: string, ids: string[]): RawBuilder<boolean> =>
  fragments.isOneOf(sql.id(column), ids, companions.columns.id);

/** What a header is read as. */
export function headerColumns({ fragments, companions }: Engine): RawBuilder<unknown> {
  return sql`${named(['id', 'outbox', 'actor_id', 'actor_name', 'actor_role', 'operation', 'reason', 'request_hash', 'outcome'])},
    ${fragments.isoTime(sql.id('at'), companions.columns.time, 'UTC')} as ${sql.id('at')}`;
}

/** A header by its id, or the one an actor's key made in an outbox. Served by the primary key, or the unique index on (outbox, actor_id, key). */
export async function headerOf(
  engine: Engine,
  db: Db,
  by: { id: string } | Pick<NewHeader, 'outbox' | 'actor' | 'key'>,
): Promise<RecordHeader | null> {
  const where =
    'key' in by
      ? sql`${sql.id('outbox')} = ${by.outbox} and ${sql.id('actor_id')} = ${by.actor.id} and ${sql.id('key')} = ${by.key}`
      : hasId(engine, 'id', [by.id]);
  const { rows } = await sql<RecordHeader>`select ${headerColumns(engine)} from ${headersOf(engine)} where ${where}`.execute(db);
  return rows[0] ?? null;
}

/** A line of a record with its place in it. */
export interface RecordLine extends RecordEvent {
  position: number;
}

interface StoredRecordEvent extends Omit<RecordEvent, 'detail' | 'before' | 'after'> {
  intervention_id: string;
  position: number;
  detail: string | null;
  before: string | null;
  after: string | null;
}

/** The events of these interventions, in the order of the request. Served by the primary key. */
export async function eventsOf(engine: Engine, db: Db, ids: string[]): Promise<Map<string, RecordLine[]>> {
  const byHeader = new Map<string, RecordLine[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return byHeader;
  const names = ['intervention_id', 'position', 'event_id', 'event_type', 'aggregate_id', 'code', 'detail', 'before', 'after'];
  const { rows } = await sql<StoredRecordEvent>`select ${named(names)} from ${eventTableOf(engine)}
    where ${hasId(engine, 'intervention_id', ids)} order by ${named(['intervention_id', 'position'])}`.execute(db);
  for (const { intervention_id, ...row } of rows) {
    // That of a changed event is for counting lines.
    const detail = row.code === null ? null : parsed<Skipped['detail'] & object>(row.detail);
    byHeader.get(intervention_id)?.push({ ...row, detail, before: parsed(row.before), after: parsed(row.after) });
  }
  return byHeader;
}

const parsed = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));

/** The answer an intervention gave, read back from its record: the same for every repeat. */
export async function recordedResult(engine: Engine, db: Db, header: RecordHeader): Promise<InterventionResult> {
  return resultOf(header, (await eventsOf(engine, db, [header.id])).get(header.id) ?? []);
}

export function resultOf(header: RecordHeader, events: RecordEvent[]): InterventionResult {
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
