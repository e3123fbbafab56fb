import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { RECORD_EVENT_TABLE, RECORD_TABLE } from '@/lib/outbox/companions';
import type { InterventionRequest, InterventionResult, Outcome, Skipped } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';

const HEADERS = sql.table(`${RECORD_TABLE.schema}.${RECORD_TABLE.table}`);
const EVENTS = sql.table(`${RECORD_EVENT_TABLE.schema}.${RECORD_EVENT_TABLE.table}`);

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
export async function insertHeader(db: Db, header: NewHeader): Promise<boolean> {
  const { rows } = await sql<{
    id: string;
  }>`insert into ${HEADERS} (id, outbox, actor_id, actor_name, actor_role, key, request_hash, operation, reason)
    values (cast(${header.id} as uuid), ${header.outbox}, ${header.actor.id}, ${header.actor.name}, ${header.actor.role}, ${header.key},
      ${header.requestHash}, ${header.request.operation}, ${header.request.reason})
    on conflict (outbox, actor_id, key) do nothing returning id`.execute(db);
  return rows.length === 1;
}

/** One record per event, changed or skipped; at most 200 rows in one statement. */
export async function insertEvents(db: Db, interventionId: string, events: RecordEvent[]): Promise<void> {
  const values = events.map(
    (
      event,
      position,
    ) => sql`(cast(${interventionId} as uuid), cast(${position} as int), ${event.event_id}, ${event.event_type}, ${event.aggregate_id}, ${event.code},
      cast(${json(event.detail)} as jsonb), cast(${json(event.before)} as jsonb), cast(${json(event.after)} as jsonb))`,
  );
  await sql`insert into ${EVENTS} (intervention_id, position, event_id, event_type, aggregate_id, code, detail, before, after)
    values ${sql.join(values)}`.execute(db);
}

/** Closes the header inside its own transaction; a trigger refuses it ever after. */
export async function closeHeader(db: Db, id: string, outcome: Outcome): Promise<void> {
  await sql`update ${HEADERS} set outcome = ${outcome} where id = cast(${id} as uuid)`.execute(db);
}

const HEADER_COLUMNS = sql`id, outbox, actor_id, actor_name, actor_role, operation, reason, request_hash, outcome,
  to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;

export async function headerByKey(db: Db, outbox: string, actorId: string, key: string): Promise<RecordHeader | null> {
  const { rows } =
    await sql<RecordHeader>`select ${HEADER_COLUMNS} from ${HEADERS} where outbox = ${outbox} and actor_id = ${actorId} and key = ${key}`.execute(
      db,
    );
  return rows[0] ?? null;
}

export async function headerById(db: Db, id: string): Promise<RecordHeader | null> {
  const { rows } = await sql<RecordHeader>`select ${HEADER_COLUMNS} from ${HEADERS} where id = cast(${id} as uuid)`.execute(db);
  return rows[0] ?? null;
}

/**
 * Headers of an outbox since a time, oldest first, for the carrier. Served by the index on (outbox, at), bounded by
 * `limit`.
 */
export async function headersSince(db: Db, outbox: string, since: string, limit: number): Promise<RecordHeader[]> {
  const { rows } = await sql<RecordHeader>`select ${HEADER_COLUMNS} from ${HEADERS}
    where outbox = ${outbox} and at >= cast(${since} as timestamptz) order by ${HEADERS}.at, id limit ${limit}`.execute(db);
  return rows;
}

interface StoredRecordEvent extends Omit<RecordEvent, 'detail' | 'before' | 'after'> {
  intervention_id: string;
  detail: string | null;
  before: string | null;
  after: string | null;
}

/** The events of these interventions, in the order of the request. Served by the primary key. */
export async function eventsOf(db: Db, ids: string[]): Promise<Map<string, RecordEvent[]>> {
  const byHeader = new Map<string, RecordEvent[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return byHeader;
  const { rows } =
    await sql<StoredRecordEvent>`select intervention_id, event_id, event_type, aggregate_id, code, detail, before, after from ${EVENTS}
    where intervention_id in (${sql.join(ids.map((id) => sql`cast(${id} as uuid)`))}) order by intervention_id, position`.execute(db);
  for (const { intervention_id, ...row } of rows) {
    byHeader.get(intervention_id)?.push({ ...row, detail: parsed(row.detail), before: parsed(row.before), after: parsed(row.after) });
  }
  return byHeader;
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
const parsed = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));

/** The answer an intervention gave, read back from its record: the same for every repeat. */
export function resultOf(header: RecordHeader, events: RecordEvent[], undo: string | null): InterventionResult {
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
    undo: changed.length > 0 ? undo : null,
  };
}

export function outcomeOf(events: RecordEvent[]): Outcome {
  const changed = events.filter((event) => event.code === null).length;
  if (changed === 0) return 'none';
  return changed === events.length ? 'applied' : 'partly';
}
