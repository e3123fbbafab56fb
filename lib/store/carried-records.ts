/** Queries on `carried_record`: which intervention records the audit has, and how many lines of each. */
import { sql } from 'kysely';
import type { StoreDb } from './store';

export interface CarriedRecord {
  id: string;
  outbox: string;
  lines: number;
}

/** Of these records the ids of those that the store lacks, or has fewer lines of. Served by the primary key. */
export async function lackedRecords(db: StoreDb, records: readonly Pick<CarriedRecord, 'id' | 'lines'>[]): Promise<Set<string>> {
  const ids = records.map(({ id }) => id);
  const lines = records.map((record) => record.lines);
  const { rows } = await sql<{ id: string }>`select there.id from unnest(${ids}::uuid[], ${lines}::int[]) as there (id, lines)
    left join carried_record as c on c.id = there.id where c.id is null or c.lines < there.lines`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Notes that the audit has these; of one that has more lines than before, since when. Fewer lines change nothing. */
export async function keepCarried(db: StoreDb, records: readonly CarriedRecord[]): Promise<void> {
  await db
    .insertInto('carried_record')
    .values([...records])
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({
          lines: sql<number>`excluded.lines`,
          grown_at: sql<string>`coalesce(carried_record.grown_at, now())`,
        })
        .where(sql<boolean>`carried_record.lines < excluded.lines`),
    )
    .execute();
}

/** Whether the audit has a record of any of these outboxes. Served by the index on the outbox. */
export async function hasCarriedAny(db: StoreDb, outboxes: readonly string[]): Promise<boolean> {
  const found = await db
    .selectFrom('carried_record')
    .select('id')
    .where('outbox', 'in', [...outboxes])
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

export interface CarriedTimes {
  carriedAt: string;
  /** Since when it has had more lines than at first; null: never. */
  grownAt: string | null;
}

/** When these records were carried, by id; as text of the store, to be compared with other times of it. Served by the primary key. */
export async function selectCarriedTimes(db: StoreDb, ids: readonly string[]): Promise<Map<string, CarriedTimes>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('carried_record')
    .select(['id', 'carried_at', 'grown_at'])
    .where('id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, { carriedAt: row.carried_at, grownAt: row.grown_at }]));
}
