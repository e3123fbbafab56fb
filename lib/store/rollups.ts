/** Queries on `rollup`, whose data are bytes here. Reads use the primary key (one series) or `rollup_time` (all), bounded by the span. */
import { sql, type Selectable } from 'kysely';
import type { StoreDb, StoreTransaction } from './store';
import type { StoreTables, Tier } from './tables';

export type { Tier } from './tables';

export interface RollupSpan {
  outbox: string;
  tier: Tier;
  series?: readonly string[];
  /** Minutes since the epoch: slices that start in [fromMinute, toMinute). */
  fromMinute: number;
  toMinute: number;
}

const ROLLUP = ['series', 'atMinute', 'data', 'provisional'] as const;
type RollupRow = Pick<Selectable<StoreTables['rollup']>, (typeof ROLLUP)[number]>;
export type Rollup = Omit<RollupRow, 'data'> & { data: Buffer };

const toRollup = ({ data, ...row }: RollupRow): Rollup => ({ ...row, data: Buffer.from(data.slice(2), 'hex') });

const ofTier = (db: StoreDb, outbox: string, tier: Tier | 'ever') =>
  db.selectFrom('rollup').select(ROLLUP).where('outbox', '=', outbox).where('tier', '=', tier);

/** The slices of each span in order of time, in at most two statements with an index scan per span. */
export async function readRollupsOf(db: StoreDb, spans: readonly RollupSpan[]): Promise<Rollup[][]> {
  const answers: Rollup[][] = spans.map(() => []);
  const places = spans.flatMap((span, at) => (span.series ?? [null]).map((series) => ({ at, span, series })));
  for (const named of [true, false]) {
    const asked = places.filter(({ series }) => (series !== null) === named);
    if (asked.length === 0) continue;
    const list = <T>(value: (place: (typeof asked)[number]) => T): T[] => asked.map(value);
    const { rows } = await sql<RollupRow & { span: number }>`select s.span, r.series, r.at_minute, r.data, r.provisional
      from unnest(${list(({ at }) => at)}::int[], ${list(({ span }) => span.outbox)}::text[], ${list(({ span }) => span.tier)}::text[],
        ${list(({ series }) => series)}::text[], ${list(({ span }) => Math.ceil(span.fromMinute))}::int[], ${list(({ span }) => Math.ceil(span.toMinute))}::int[])
        as s (span, outbox, tier, series, from_minute, to_minute),
      lateral (select series, at_minute, data, provisional from rollup as r
        where r.outbox = s.outbox and r.tier = s.tier ${named ? sql`and r.series = s.series` : sql``}
          and r.at_minute >= s.from_minute and r.at_minute < s.to_minute offset 0) as r
      order by r.at_minute`.execute(db);
    for (const { span, ...row } of rows) answers[span]?.push(toRollup(row));
  }
  return answers;
}

/** The slices of every series that start at these minutes, in order of time. */
export async function readRollupsAt(db: StoreDb, outbox: string, tier: Tier | 'ever', atMinutes: readonly number[]): Promise<Rollup[]> {
  if (atMinutes.length === 0) return [];
  const rows = await ofTier(db, outbox, tier).where('atMinute', 'in', atMinutes).orderBy('atMinute').execute();
  return rows.map(toRollup);
}

/** All series of an outbox, found by stepping over the primary key: one index lookup per series and tier. */
export async function readSeries(db: StoreDb, outbox: string): Promise<string[]> {
  const { rows } = await sql<{ series: string }>`
    with recursive step (tier, series) as (
      (select tier, series from rollup where outbox = ${outbox} order by tier, series limit 1)
      union all
      select n.tier, n.series from step, lateral
        (select tier, series from rollup where outbox = ${outbox} and (tier, series) > (step.tier, step.series) order by tier, series limit 1) as n)
    select distinct series from step`.execute(db);
  return rows.map(({ series }) => series);
}

/** Marks these minutes as complete. Only inside a transaction that holds the outbox's lease. */
export async function clearProvisional(db: StoreTransaction, outbox: string, minutes: readonly number[]): Promise<void> {
  await db
    .updateTable('rollup')
    .set({ provisional: false })
    .where('outbox', '=', outbox)
    .where('tier', '=', 'minute')
    .where('atMinute', 'in', minutes)
    .where('provisional', '=', true)
    .execute();
}

/** Deletes an outbox's minutes before this one. Only inside a transaction that holds the outbox's lease. */
export async function deleteMinutesBefore(db: StoreTransaction, outbox: string, minute: number): Promise<void> {
  await db.deleteFrom('rollup').where('outbox', '=', outbox).where('tier', '=', 'minute').where('atMinute', '<', minute).execute();
}

/** Totals since the outbox was first collected, by series (these, or all): they only grow. */
export async function readTotals(db: StoreDb, outbox: string, series?: readonly string[]): Promise<Rollup[]> {
  const all = ofTier(db, outbox, 'ever');
  const rows = await (series === undefined ? all : all.where('series', 'in', series)).execute();
  return rows.map(toRollup);
}

const BATCH = 500;

/** Writes slices, replacing existing ones. Only inside a transaction that holds the outbox's lease. */
export async function putRollups(db: StoreTransaction, outbox: string, tier: Tier | 'ever', rollups: Rollup[]): Promise<void> {
  const written = { data: sql<Buffer>`excluded.data`, provisional: sql<boolean>`excluded.provisional` };
  for (let from = 0; from < rollups.length; from += BATCH) {
    await db
      .insertInto('rollup')
      .values(rollups.slice(from, from + BATCH).map((rollup) => ({ outbox, tier, ...rollup })))
      .onConflict((conflict) => conflict.columns(['outbox', 'tier', 'series', 'atMinute']).doUpdateSet(written))
      .execute();
  }
}

/** Deletes slices of a tier that start before a minute, of all outboxes. */
export async function deleteRollupsBefore(db: StoreDb, tier: Tier, minute: number): Promise<void> {
  await db.deleteFrom('rollup').where('tier', '=', tier).where('atMinute', '<', minute).execute();
}
