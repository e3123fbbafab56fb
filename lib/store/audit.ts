/** Queries on `audit_entry`. Entries are added and read, never changed. */
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { AuditOddity } from '@/lib/shared/changes/carrying';
import type { AuditEntry, AuditFilter } from '@/lib/shared/model';
import type { Who } from '@/lib/shared/permissions';
import { isTimeOff } from '@/lib/shared/changes/record-time';
import { selectCarriedTimes, type CarriedTimes } from './carried-records';
import type { StoreDb } from './store';
import { iso, type AuditEntryTable } from './tables';

/** An entry to add; `actorId` is who in the sense of idempotency, `actor` the name shown. */
export interface NewAuditEntry extends Omit<AuditEntry, 'oddities'> {
  actorId: string;
}

/** A statement takes 65,535 values. */
const ENTRIES_PER_STATEMENT = 1_000;

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

/** Adds entries and answers how many were new: a repeat changes nothing. Thousands of them take several statements. */
export async function insertAuditEntries(db: StoreDb, entries: readonly NewAuditEntry[]): Promise<number> {
  let added = 0n;
  for (let from = 0; from < entries.length; from += ENTRIES_PER_STATEMENT) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('audit_entry')
      .values(entries.slice(from, from + ENTRIES_PER_STATEMENT).map(valuesOf))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow();
    added += numInsertedOrUpdatedRows ?? 0n;
  }
  return Number(added);
}

/** Of now, of nobody and no event. */
const emptyEntry = (): NewAuditEntry => ({
  id: uuidv7(),
  at: new Date().toISOString(),
  actorId: '',
  actor: '',
  role: '',
  operation: '',
  outbox: null,
  eventId: null,
  eventType: null,
  aggregateId: null,
  reason: '',
  outcome: 'none',
  code: null,
  interventionId: null,
  before: null,
  after: null,
});

type Deed = Pick<NewAuditEntry, 'operation'> & Partial<NewAuditEntry>;

/** Adds what somebody did, or was refused: now, to no event and by no intervention unless it says so. In the transaction of what it tells of. */
export async function recordDeed(db: StoreDb, who: Who, deed: Deed): Promise<void> {
  const { id: actorId, name: actor, role } = who;
  await insertAuditEntries(db, [{ ...emptyEntry(), actorId, actor, role, outcome: 'applied', ...deed }]);
}

class TakenBack extends Error {}

/** Proves that an entry could be written now: writes one and takes it back. Rejects with the driver's error otherwise. */
export async function proveAuditTakesEntries(db: StoreDb): Promise<void> {
  try {
    await db.transaction().execute(async (transaction) => {
      await insertAuditEntries(transaction, [emptyEntry()]);
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

/** Newest first, at most `limit`, after `position`. Served by the index on (at, id), or of the event or actor that is asked for. */
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
  const carried = await selectCarriedTimes(
    db,
    rows.flatMap((row) => row.intervention_id ?? []),
  );
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
    oddities: row.intervention_id === null ? [] : odditiesOf(row.intervention_id, row, carried.get(row.intervention_id)),
  }));
}

/** What is odd about the record of an entry; nothing is where there is no record. */
function odditiesOf(id: string, { at, recorded_at }: { at: string; recorded_at: string }, record: CarriedTimes | undefined): AuditOddity[] {
  if (record === undefined) return [];
  const later = Date.parse(iso(recorded_at)) > Date.parse(iso(record.carriedAt));
  return [
    ...(isTimeOff(id, iso(at)) ? (['time_off'] as const) : []),
    ...(record.grownAt !== null ? (['record_grew'] as const) : []),
    ...(record.grownAt !== null && later ? (['line_added'] as const) : []),
  ];
}

function columnsOf(json: string | null): Record<string, string | null> | null {
  return json === null ? null : (JSON.parse(json) as Record<string, string | null>);
}
