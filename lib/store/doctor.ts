/** Queries on `doctor_silence` and `doctor_sample`. */
import { sql, type Transaction } from 'kysely';
import type { Silence } from '@/lib/shared/doctor';
import type { StoreDb } from './store';
import { iso, type StoreTables } from './tables';

type Db = StoreDb | Transaction<StoreTables>;

/** Examinations are remembered this long. */
export const DOCTOR_SAMPLE_DAYS = 60;
/** Silences of one outbox that are read. */
const SILENCES_MAX = 1_000;

/** Silences a finding; the reason given last counts. */
export async function putSilence(
  db: Db,
  silence: { outbox: string; finding: string; reason: string; actor: { id: string; name: string } },
): Promise<Silence> {
  const { outbox, finding, reason, actor } = silence;
  const written = { reason, actor_id: actor.id, actor_name: actor.name, at: sql<string>`now()` };
  const row = await db
    .insertInto('doctor_silence')
    .values({ outbox, finding, ...written })
    .onConflict((conflict) => conflict.columns(['outbox', 'finding']).doUpdateSet(written))
    .returning(['reason', 'actor_name', 'at'])
    .executeTakeFirstOrThrow();
  return { reason: row.reason, actor: row.actor_name, at: iso(row.at) };
}

/** Lifts a silence; null when there is none. */
export async function removeSilence(db: Db, outbox: string, finding: string): Promise<Silence | null> {
  const row = await db
    .deleteFrom('doctor_silence')
    .where('outbox', '=', outbox)
    .where('finding', '=', finding)
    .returning(['reason', 'actor_name', 'at'])
    .executeTakeFirst();
  return row === undefined ? null : { reason: row.reason, actor: row.actor_name, at: iso(row.at) };
}

/** Silences of some outboxes, by outbox and finding; by the primary key, at most 1,000 per outbox. */
export async function readSilences(db: Db, outboxes: readonly string[]): Promise<Map<string, Map<string, Silence>>> {
  const silences = new Map<string, Map<string, Silence>>();
  if (outboxes.length === 0) return silences;
  const rows = await db
    .selectFrom('doctor_silence')
    .selectAll()
    .where('outbox', 'in', [...outboxes])
    .limit(SILENCES_MAX * outboxes.length)
    .execute();
  for (const row of rows) {
    const own = silences.get(row.outbox) ?? new Map<string, Silence>();
    own.set(row.finding, { reason: row.reason, actor: row.actor_name, at: iso(row.at) });
    silences.set(row.outbox, own);
  }
  return silences;
}

/** Keeps what an examination saw, unless another of the same day is there. */
export async function keepSample(db: Db, outbox: string, at: string, data: string): Promise<void> {
  await db
    .insertInto('doctor_sample')
    .values({ outbox, day: at.slice(0, 10), data })
    .onConflict((conflict) => conflict.columns(['outbox', 'day']).doNothing())
    .execute();
}

/** What examinations of the last sixty days saw, oldest first; by the primary key. */
export async function readSamples(db: Db, outbox: string): Promise<string[]> {
  const rows = await db
    .selectFrom('doctor_sample')
    .select('data')
    .where('outbox', '=', outbox)
    .orderBy('day', 'desc')
    .limit(DOCTOR_SAMPLE_DAYS)
    .execute();
  return rows.map(({ data }) => data).reverse();
}

/** Forgets examinations older than DOCTOR_SAMPLE_DAYS. */
export async function deleteOldSamples(db: Db): Promise<void> {
  await db
    .deleteFrom('doctor_sample')
    .where('day', '<', sql<string>`current_date - ${DOCTOR_SAMPLE_DAYS}::int`)
    .execute();
}
