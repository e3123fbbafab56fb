/** Queries on `carried_record`: the intervention records in the audit, and how many lines of each. */
import { sql, type Selectable } from 'kysely';
import type { StoreDb } from './store';
import type { StoreTables } from './tables';

export type CarriedRecord = Pick<StoreTables['carried_record'], 'id' | 'outbox' | 'lines'>;

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
export type CarriedTimes = Pick<Selectable<StoreTables['carried_record']>, 'carriedAt' | 'grownAt'>;

/** When these records were carried, by id. Served by the primary key. */
export async function selectCarriedTimes(db: StoreDb, ids: readonly string[]): Promise<Map<string, CarriedTimes>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('carried_record').select(['id', 'carriedAt', 'grownAt']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, ...times }) => [id, times]));
}
