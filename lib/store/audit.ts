/** Queries on `audit_entry`. Entries are only added and read, never changed. */
import { type RawBuilder, sql, type Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { AuditOddity } from '@/lib/shared/changes/carrying';
import type { AuditEntry, AuditFilter } from '@/lib/shared/model';
import type { Who } from '@/lib/shared/permissions';
import { isTimeOff } from '@/lib/shared/changes/record-time';
import type { Position } from './pages';
import type { StoreDb } from './store';
import type { StoreTables } from './tables';

/** An entry to add; `actorId` is the actor's stable id, `actor` the name shown. */
export interface NewAuditEntry extends Omit<AuditEntry, 'oddities' | 'events'> {
  actorId: string;
  /** Of one decision carried out by several interventions: the same in the entries of all. */
  action?: string | null;
}

/** A statement takes at most 65,535 parameters. */
const ENTRIES_PER_STATEMENT = 1_000;

type Pair = AuditEntry['before'];

function valuesOf({ actor, role, before, after, ...entry }: NewAuditEntry): Omit<StoreTables['audit_entry'], 'recordedAt'> {
  const json = (pair: Pair): string | null => (pair === null ? null : JSON.stringify(pair));
  return { ...entry, actorName: actor, actorRole: role, before: json(before), after: json(after) };
}

/** Adds entries and returns how many were new: a repeat changes nothing. Thousands of them take several statements. */
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

/** The event fields of an entry that changed nothing. */
export const NO_EVENT = { eventId: null, eventType: null, aggregateId: null, outcome: 'none', before: null, after: null } as const;

/** At the current time, without actor or event. */
function emptyEntry(): NewAuditEntry {
  const nothing = { actorId: '', actor: '', role: '', operation: '', outbox: null, reason: '', code: null, interventionId: null };
  return { id: uuidv7(), at: new Date().toISOString(), ...nothing, ...NO_EVENT };
}

/** Adds an entry for an action done or refused, in its transaction: by default of the current time, without event or intervention. */
export async function recordDeed(db: StoreDb, who: Who, deed: Partial<NewAuditEntry> & { operation: string }): Promise<void> {
  const { id: actorId, name: actor, role } = who;
  await insertAuditEntries(db, [{ ...emptyEntry(), actorId, actor, role, outcome: 'applied', ...deed }]);
}

/**
 * Adds an entry if the account exists and has none with this id yet. Writes to the counter in any case: neither the statement nor whether it
 * waits for the disk tells if there was something to add.
 */
export async function recordOfAccount(db: StoreDb, account: string | null, counter: string, entry: Partial<NewAuditEntry>): Promise<void> {
  const values = valuesOf({ ...emptyEntry(), ...entry });
  const columns = Object.keys(values) as (keyof typeof values)[];
  await db
    .with('counted', (same) =>
      same
        .updateTable('login_attempt')
        .set((eb) => ({ attempts: eb.ref('attempts') }))
        .where('key', '=', counter),
    )
    .insertInto('audit_entry')
    .columns(columns)
    .expression((eb) =>
      eb
        .selectFrom('account')
        .select(columns.map((column) => eb.val(values[column]).as(column)))
        .where('id', '=', account),
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Checks that entries can be written: writes one and rolls back. Rejects with the driver's error otherwise. */
export async function proveAuditTakesEntries(db: StoreDb): Promise<void> {
  const transaction = await db.startTransaction().execute();
  try {
    await insertAuditEntries(transaction, [emptyEntry()]);
  } finally {
    await transaction.rollback().execute();
  }
}

/** The column of each filter that is equal to it. */
const EXACT = { outbox: 'outbox', event: 'eventId', actor: 'actorName', operation: 'operation', outcome: 'outcome' } as const;
const EXACT_FILTERS = Object.keys(EXACT) as (keyof typeof EXACT)[];

/** What the lines of one action share: the decision, or its only intervention. Served by the index on (this, at, id). */
const actionOf = (entry: string): RawBuilder<string | null> =>
  sql`coalesce(${sql.ref(`${entry}.action`)}, ${sql.ref(`${entry}.interventionId`)})`;

function matches(entry: string, filter: AuditFilter): RawBuilder<boolean> {
  const { action, on, from, to } = filter;
  const value = (column: string): RawBuilder<unknown> => sql.ref(`${entry}.${column}`);
  const tests = EXACT_FILTERS.flatMap((name) => (filter[name] === undefined ? [] : [sql`${value(EXACT[name])} = ${filter[name]}`]));
  // By the id of one of its interventions, or of a run.
  const same = sql`coalesce((select ${actionOf('same')} from audit_entry as same where same.intervention_id = ${action} limit 1), ${action}::uuid)`;
  if (action !== undefined) tests.push(sql`${actionOf(entry)} = ${same}`);
  if (on !== undefined) tests.push(sql`(${value('outbox')} is not null or ${value('operation')} = 'mark')`);
  if (from !== undefined) tests.push(sql`${value('at')} >= ${from}`);
  if (to !== undefined) tests.push(sql`${value('at')} < ${to}`);
  return tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`;
}

/**
 * Newest first, at most `limit`, after `position`. Served by the index on (at, id), or on the event, action or actor filtered by. `by` action:
 * of each action the first line that matches, found by one probe of an index per line that is passed.
 */
export function auditLines(db: StoreDb, filter: AuditFilter, position: Position | null, limit: number, by: 'line' | 'action') {
  const columns = ['id', 'at', 'operation', 'outbox', 'eventId', 'eventType', 'aggregateId', 'reason', 'outcome', 'code'] as const;
  const others = ['actorName as actor', 'actorRole as role', 'interventionId', 'before', 'after', 'recordedAt'] as const;
  const after = position === null ? sql<boolean>`true` : sql<boolean>`(at, id) < (${position.at}::timestamptz, ${position.id}::uuid)`;
  const ordered = db
    .selectFrom('audit_entry as line')
    .selectAll()
    .where(matches('line', filter))
    .where(after)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    // Keeps the planner from reading all lines before it orders them: it cannot know that heads are frequent.
    .offset(0);
  const head = sql<boolean>`(intervention_id is null or id = (select head.id from audit_entry as head
    where ${actionOf('head')} = ${actionOf('line')} and ${matches('head', filter)} order by head.at, head.id limit 1))`;
  return db
    .selectFrom(ordered.as('line'))
    .select([...columns, ...others, actionOf('line').as('action')])
    .where(by === 'line' ? sql<boolean>`true` : head)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
}

/** The same as entries; by action with how many events each action has in all. */
export async function selectAuditEntries(
  db: StoreDb,
  filter: AuditFilter,
  position: Position | null,
  limit: number,
  by: 'line' | 'action' = 'line',
): Promise<AuditEntry[]> {
  const rows = await auditLines(db, filter, position, limit, by).execute();
  const actions = by === 'line' ? [] : rows.flatMap(({ action }) => action ?? []);
  const sizes = await sizesOf(db, actions);
  const carried = await selectCarriedTimes(db, [...new Set(rows.flatMap((row) => row.interventionId ?? []))]);
  const pair = (json: string | null): Pair => (json === null ? null : (JSON.parse(json) as Pair));
  return rows.map(({ recordedAt, before, after, action, ...row }) => ({
    ...row,
    before: pair(before),
    after: pair(after),
    oddities: row.interventionId === null ? [] : odditiesOf(row.interventionId, row.at, recordedAt, carried.get(row.interventionId)),
    ...(action !== null && sizes.has(action) && { events: sizes.get(action) }),
  }));
}

/** How many events each of these actions changed and left alone. */
async function sizesOf(db: StoreDb, actions: readonly string[]): Promise<Map<string, AuditEntry['events']>> {
  if (actions.length === 0) return new Map();
  const { rows } = await sql<{ action: string; changed: string; all: string }>`select ${actionOf('line')} as action, count(*) as all,
      count(*) filter (where outcome = 'applied') as changed
    from audit_entry as line where ${actionOf('line')} = any(${[...new Set(actions)]}::uuid[]) group by 1`.execute(db);
  return new Map(rows.map(({ action, changed, all }) => [action, { changed: Number(changed), left: Number(all) - Number(changed) }]));
}

/** Oddities of the record behind an entry; none without a record. */
function odditiesOf(id: string, at: string, recordedAt: string, record: CarriedTimes | undefined): AuditOddity[] {
  if (record === undefined) return [];
  const grew = record.grownAt !== null;
  const later = Date.parse(recordedAt) > Date.parse(record.carriedAt);
  return [
    ...(isTimeOff(id, at) ? (['time_off'] as const) : []),
    ...(grew ? (['record_grew'] as const) : []),
    ...(grew && later ? (['line_added'] as const) : []),
  ];
}

type CarriedRecord = Pick<StoreTables['carried_record'], 'id' | 'outbox' | 'lines'>;

/** Ids of these records that the store lacks, or has fewer lines of. Served by the primary key. */
export async function lackedRecords(db: StoreDb, records: readonly Pick<CarriedRecord, 'id' | 'lines'>[]): Promise<Set<string>> {
  const ids = records.map(({ id }) => id);
  const lines = records.map((record) => record.lines);
  const { rows } = await sql<{ id: string }>`select there.id from unnest(${ids}::uuid[], ${lines}::int[]) as there (id, lines)
    left join carried_record as c on c.id = there.id where c.id is null or c.lines < there.lines`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Marks records as carried to the audit; sets the time of the first growth in lines. Fewer lines change nothing. */
export async function keepCarried(db: StoreDb, records: readonly CarriedRecord[]): Promise<void> {
  const grown = { lines: sql<number>`excluded.lines`, grownAt: sql<string>`coalesce(carried_record.grown_at, now())` };
  await db
    .insertInto('carried_record')
    .values([...records])
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(grown)
        .where(sql<boolean>`carried_record.lines < excluded.lines`),
    )
    .execute();
}

/** Whether the audit has a record of any of these outboxes. Served by the index on `outbox`. */
export async function hasCarriedAny(db: StoreDb, outboxes: readonly string[]): Promise<boolean> {
  const found = db.selectFrom('carried_record').select('id').where('outbox', 'in', outboxes);
  return (await found.limit(1).executeTakeFirst()) !== undefined;
}

/** `grownAt`: when it first got more lines; null if never. */
type CarriedTimes = Pick<Selectable<StoreTables['carried_record']>, 'carriedAt' | 'grownAt'>;

/** When these records were carried, by id. Served by the primary key. */
export async function selectCarriedTimes(db: StoreDb, ids: readonly string[]): Promise<Map<string, CarriedTimes>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('carried_record').select(['id', 'carriedAt', 'grownAt']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, ...times }) => [id, times]));
}
