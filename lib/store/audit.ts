/** Queries on `audit_entry`. Entries are added and read, never changed. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { AuditEntry, AuditFilter } from '@/lib/shared/model';
import type { StoreDb } from './store';
import { iso, type AuditEntryTable } from './tables';

/** An entry to add; `actorId` is who in the sense of idempotency, `actor` the name shown. */
export interface NewAuditEntry extends AuditEntry {
  actorId: string;
}

type Values = Omit<AuditEntryTable, 'recorded_at'>;

function valuesOf(entry: NewAuditEntry): Values {
  return {
    id: entry.id,
    at: entry.at,
    actor_id: entry.actorId,
    actor_name: entry.actor,
    actor_role: entry.role,
    operation: entry.operation,
    outbox: entry.outbox,
    event_id: entry.eventId,
    event_type: entry.eventType,
    aggregate_id: entry.aggregateId,
    reason: entry.reason,
    outcome: entry.outcome,
    code: entry.code,
    intervention_id: entry.interventionId,
    before: entry.before === null ? null : JSON.stringify(entry.before),
    after: entry.after === null ? null : JSON.stringify(entry.after),
  };
}

/** Adds entries; those whose id is there already are left as they are, so that a repeat changes nothing. */
export async function insertAuditEntries(db: StoreDb, entries: readonly NewAuditEntry[]): Promise<number> {
  if (entries.length === 0) return 0;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('audit_entry')
    .values(entries.map(valuesOf))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  return Number(numInsertedOrUpdatedRows ?? 0n);
}

class TakenBack extends Error {}

/** Proves that an entry could be written now: writes one and takes it back. Rejects with the driver's error otherwise. */
export async function proveAuditTakesEntries(db: StoreDb): Promise<void> {
  const proof: NewAuditEntry = {
    id: uuidv7(),
    at: new Date().toISOString(),
    actorId: '',
    actor: '',
    role: '',
    operation: '',
    outbox: '',
    eventId: null,
    eventType: null,
    aggregateId: null,
    reason: '',
    outcome: 'none',
    code: null,
    interventionId: null,
    before: null,
    after: null,
  };
  try {
    await db.transaction().execute(async (transaction) => {
      await insertAuditEntries(transaction, [proof]);
      throw new TakenBack();
    });
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
  }
}

/** Where a page of the audit ended. */
export interface AuditPosition {
  at: string;
  id: string;
}

/**
 * Newest first, at most `limit`, after `position`. Served by the index on (at, id), or the one of the event or the
 * actor when the filter names one; bounded by LIMIT; locks nothing.
 */
export async function selectAuditEntries(
  db: StoreDb,
  filter: AuditFilter,
  position: AuditPosition | null,
  limit: number,
): Promise<AuditEntry[]> {
  let query = db.selectFrom('audit_entry').selectAll();
  if (filter.outbox !== undefined) query = query.where('outbox', '=', filter.outbox);
  if (filter.event !== undefined) query = query.where('event_id', '=', filter.event);
  if (filter.actor !== undefined) query = query.where('actor_name', '=', filter.actor);
  if (filter.operation !== undefined) query = query.where('operation', '=', filter.operation);
  if (filter.outcome !== undefined) query = query.where(sql<string>`outcome`, '=', filter.outcome);
  if (filter.from !== undefined) query = query.where('at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('at', '<', filter.to);
  if (position !== null) query = query.where(sql<boolean>`(at, id) < (${position.at}::timestamptz, ${position.id}::uuid)`);
  const rows = await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map((row) => ({
    id: row.id,
    at: iso(row.at),
    actor: row.actor_name,
    role: row.actor_role,
    operation: row.operation,
    outbox: row.outbox,
    eventId: row.event_id,
    eventType: row.event_type,
    aggregateId: row.aggregate_id,
    reason: row.reason,
    outcome: row.outcome,
    code: row.code,
    interventionId: row.intervention_id,
    before: columnsOf(row.before),
    after: columnsOf(row.after),
  }));
}

function columnsOf(json: string | null): Record<string, string | null> | null {
  return json === null ? null : (JSON.parse(json) as Record<string, string | null>);
}
