/** Queries on `cause` and `cause_round`: why the events of an outbox died, as the collector counted them. */
import { sql, type InsertObject, type RawBuilder } from 'kysely';
import { CAUSES_MAX, type CauseNote, type CountedCause, type DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import { NOW, type StoreDb, type StoreTransaction } from './store';
import type { Author, StoreTables } from './tables';

/** A cause as kept; `count` is of its dead events. */
export interface KeptCause extends CountedCause, Pick<DeadLetterGroup, 'known' | 'retrying' | 'note'> {}

/**
 * One pass over the dead events: how many there were, and how many of them are of causes that are not kept. `movedAt`: since when events
 * have moved after it; null if nobody saw any.
 */
export type CauseRound = Omit<StoreTables['cause_round'], 'outbox'>;
type NewRound = Omit<CauseRound, 'movedAt'>;

/** Our text columns and JSON cannot hold everything that other databases' can. */
const storable = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed();

function rowOf(outbox: string, cause: CountedCause, known: DeadLetterGroup['known']) {
  const { id: fingerprint, type, error, count, firstSeenAt, lastSeenAt, seen, samples, sums, summed } = cause;
  return {
    ...{ outbox, fingerprint, firstSeenAt, lastSeenAt, seen, count, known, summed },
    type: type === null ? null : storable(type),
    error: error === null ? null : storable(error),
    samples: JSON.stringify(samples.filter((id) => id === storable(id))),
    sums: JSON.stringify(sums.map(({ amount, currency }) => ({ amount, currency: currency && storable(currency) }))),
  };
}

type Changes = Partial<Record<keyof StoreTables['cause'], RawBuilder<never>>>;
/** What comes, instead of what is kept. */
const replaced = (...names: (keyof Changes)[]): Changes => Object.fromEntries(names.map((name) => [name, sql.ref(`excluded.${name}`)]));
/** The earlier or later of what is kept and what comes, in the order of ISO 8601. */
const furthest = (which: 'least' | 'greatest', name: string) =>
  sql<never>`${sql.raw(which)}(${sql.ref(`cause.${name}`)}, ${sql.ref(`excluded.${name}`)})`;
const SEEN = { firstSeenAt: furthest('least', 'first_seen_at'), lastSeenAt: furthest('greatest', 'last_seen_at') };

const putCauses = (db: StoreTransaction, rows: InsertObject<StoreTables, 'cause'>[], changes: Changes) =>
  db
    .insertInto('cause')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['outbox', 'fingerprint']).doUpdateSet(changes))
    .execute();

/** Causes of an outbox that are none of these. */
const notAmong = (causes: readonly CountedCause[]) => sql<boolean>`fingerprint <> all(${causes.map(({ id }) => id)}::text[])`;

/** Enters a whole count; causes without events keep their times, notes and samples. Only inside a transaction that holds the lease. */
export async function putCauseRound(db: StoreTransaction, outbox: string, causes: readonly CountedCause[], entered: NewRound) {
  const { known, ...round } = entered;
  const kept = causes.slice(0, CAUSES_MAX);
  const others = round.others + causes.slice(CAUSES_MAX).reduce((sum, { count }) => sum + count, 0);
  const ended = { ...round, others, known, movedAt: null };
  await db
    .insertInto('cause_round')
    .values({ outbox, ...ended })
    .onConflict((conflict) => conflict.column('outbox').doUpdateSet(ended))
    .execute();
  const none = { count: 0, sums: '[]', summed: 0, known: 'exact' as const };
  await db.updateTable('cause').set(none).where('outbox', '=', outbox).where('count', '>', 0).where(notAmong(kept)).execute();
  const rows = kept.map((cause) => rowOf(outbox, cause, known));
  const changes = { ...SEEN, ...replaced('error', 'seen', 'count', 'known', 'samples', 'sums', 'summed') };
  if (rows.length > 0) await putCauses(db, rows, changes);
  await forgetOthers(db, outbox, CAUSES_MAX);
}

/** Keeps so many causes with events and as many without: those with a note, the largest, those seen last. */
const forgetOthers = (db: StoreTransaction, outbox: string, most: number) =>
  sql`delete from cause where outbox = ${outbox} and fingerprint in (select fingerprint from (
      select fingerprint, row_number() over (partition by count > 0 or retrying > 0 order by note is null, count desc, last_seen_at desc nulls last) as n
      from cause where outbox = ${outbox}) as ranked where n > ${sql.lit(most)})`.execute(db);

/** Enters what the newest dead events tell between two rounds: new causes, with at least so many events. Only under the lease. */
export async function putNewestCauses(db: StoreTransaction, outbox: string, causes: readonly CountedCause[]): Promise<void> {
  const moved = { movedAt: sql<string>`coalesce(moved_at, clock_timestamp())` };
  await db.updateTable('cause_round').set(moved).where('outbox', '=', outbox).execute();
  const more = sql<boolean>`excluded.count > cause.count`;
  const raised = (name: string) => sql<never>`case when ${more} then ${sql.ref(`excluded.${name}`)} else ${sql.ref(`cause.${name}`)} end`;
  const raises = { count: raised('count'), known: raised('known'), sums: raised('sums'), summed: raised('summed') };
  const rows = causes.slice(0, CAUSES_MAX).map((cause) => rowOf(outbox, cause, 'capped'));
  await putCauses(db, rows, { ...SEEN, ...raises, ...replaced('samples') });
  // A new cause has few events: it is not to go before the round ends.
  await forgetOthers(db, outbox, 2 * CAUSES_MAX);
}

/** Enters one that somebody saw before it was counted; the collector's own stays. */
export const insertCause = (db: StoreTransaction, outbox: string, cause: CountedCause) =>
  db
    .insertInto('cause')
    .values(rowOf(outbox, cause, 'capped'))
    .onConflict((conflict) => conflict.doNothing())
    .execute();

/** Enters how many of the newest retrying events fail for which cause. Only under the lease. */
export async function putRetryCauses(db: StoreTransaction, outbox: string, causes: readonly CountedCause[]): Promise<void> {
  const kept = causes.slice(0, CAUSES_MAX);
  await db.updateTable('cause').set({ retrying: 0 }).where('outbox', '=', outbox).where('retrying', '>', 0).where(notAmong(kept)).execute();
  if (kept.length === 0) return;
  // They are not dead: neither count, times of death nor sums are theirs.
  const rows = kept.map((cause) => ({ ...rowOf(outbox, { ...cause, count: 0, sums: [], summed: 0 }, 'exact'), retrying: cause.count }));
  await putCauses(db, rows, { ...replaced('retrying'), lastSeenAt: SEEN.lastSeenAt });
}

/** The last round, and the causes that have events, most first; `acted`: when operators acted last. By the primary keys; 1,000 rows at most. */
export async function readCauses(db: StoreDb, outbox: string) {
  const [round, rows] = await Promise.all([
    db
      .selectFrom('cause_round')
      .leftJoin('acted', 'acted.outbox', 'cause_round.outbox')
      .select(['beganAt', 'endedAt', 'rows', 'others', 'known', 'movedAt', 'lastAt'])
      .where('cause_round.outbox', '=', outbox)
      .executeTakeFirst(),
    db
      .selectFrom('cause')
      .selectAll()
      .where('outbox', '=', outbox)
      .where((eb) => eb.or([eb('count', '>', 0), eb('retrying', '>', 0), eb('note', 'is not', null)]))
      .orderBy('count', 'desc')
      .orderBy('lastSeenAt', 'desc')
      .limit(2 * CAUSES_MAX)
      .execute(),
  ]);
  const { lastAt: acted = null, ...told } = round ?? {};
  const causes: KeptCause[] = rows.map(
    ({ outbox: _, fingerprint: id, samples, sums, note, noteActorId: _id, noteActorName, noteAt, ...cause }) => ({
      ...{ ...cause, id },
      samples: JSON.parse(samples) as string[],
      sums: JSON.parse(sums) as CountedCause['sums'],
      note: note === null ? null : { text: note, actor: noteActorName ?? '', at: noteAt ?? '' },
    }),
  );
  return { round: round === undefined ? null : (told as CauseRound), acted, causes };
}

type NewNote = Record<'outbox' | 'fingerprint' | 'note', string> & { actor: Author };

/** Writes a note on a cause, or takes it off with an empty one; null if there is no such cause, else the note before. */
export async function putCauseNote(db: StoreDb, { outbox, fingerprint, note, actor }: NewNote) {
  const noted = db.selectFrom('cause').select('note').where('outbox', '=', outbox).where('fingerprint', '=', fingerprint);
  const before = await noted.forUpdate().executeTakeFirst();
  if (before === undefined) return null;
  const none = { note: null, noteActorId: null, noteActorName: null, noteAt: null };
  const change = note === '' ? none : { note, noteActorId: actor.id, noteActorName: actor.name, noteAt: NOW };
  const changed = db.updateTable('cause').set(change).where('outbox', '=', outbox).where('fingerprint', '=', fingerprint);
  const written = await changed.returning('noteAt').executeTakeFirstOrThrow();
  const now: CauseNote | null = note === '' ? null : { text: note, actor: actor.name, at: written.noteAt ?? '' };
  return { before: before.note, note: now };
}
