/** Queries on `doctor_silence` and `doctor_sample`. */
import type { Silence } from '@/lib/shared/doctor';
import { NOW, type StoreDb } from './store';
import { byActor, type Author } from './tables';

export const DOCTOR_SAMPLE_DAYS = 60;
const SILENCES_MAX = 1_000;

const SILENCE = ['reason', 'actorName as actor', 'at'] as const;

type NewSilence = Record<'outbox' | 'finding' | 'reason', string> & { actor: Author };

/** Silences a finding; replaces an earlier reason. */
export async function putSilence(db: StoreDb, { outbox, finding, reason, actor }: NewSilence): Promise<Silence> {
  const written = { reason, ...byActor(actor), at: NOW };
  return db
    .insertInto('doctor_silence')
    .values({ outbox, finding, ...written })
    .onConflict((conflict) => conflict.columns(['outbox', 'finding']).doUpdateSet(written))
    .returning(SILENCE)
    .executeTakeFirstOrThrow();
}

export async function removeSilence(db: StoreDb, outbox: string, finding: string): Promise<Silence | null> {
  const one = db.deleteFrom('doctor_silence').where('outbox', '=', outbox).where('finding', '=', finding);
  return (await one.returning(SILENCE).executeTakeFirst()) ?? null;
}

/** Silences by outbox and finding; served by the primary key, at most 1,000 per outbox on average. */
export async function readSilences(db: StoreDb, outboxes: readonly string[]): Promise<Map<string, Map<string, Silence>>> {
  const silences = new Map<string, Map<string, Silence>>();
  if (outboxes.length === 0) return silences;
  const rows = await db
    .selectFrom('doctor_silence')
    .select(['outbox', 'finding', ...SILENCE])
    .where('outbox', 'in', outboxes)
    .limit(SILENCES_MAX * outboxes.length)
    .execute();
  for (const { outbox, finding, ...silence } of rows) silences.set(outbox, (silences.get(outbox) ?? new Map()).set(finding, silence));
  return silences;
}

/** Keeps the sample of an examination, unless the day has one. */
export async function keepSample(db: StoreDb, outbox: string, at: string, data: string): Promise<void> {
  await db
    .insertInto('doctor_sample')
    .values({ outbox, day: at.slice(0, 10), data })
    .onConflict((conflict) => conflict.columns(['outbox', 'day']).doNothing())
    .execute();
}

/** The last sixty daily samples, oldest first; served by the primary key. */
export async function readSamples(db: StoreDb, outbox: string): Promise<string[]> {
  const newest = db.selectFrom('doctor_sample').select('data').where('outbox', '=', outbox).orderBy('day', 'desc');
  return (await newest.limit(DOCTOR_SAMPLE_DAYS).execute()).map(({ data }) => data).reverse();
}
