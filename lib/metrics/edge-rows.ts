/**
 * A window begins in the middle of a slice. Where the table still has that slice's rows and they are few, they are looked
 * at one by one, so that the figures of a quiet outbox do not depend on shares of a minute; once per slice, for everybody.
 */
import { sql } from 'kysely';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql } from '@/lib/outbox/row';
import { publishedIn } from './collector/fold-sql';
import { countsRows } from './collector/counts-rows';
import type { Progress } from './collector/progress';
import { addTo } from './rollup/histogram';
import { bucketSql } from './rollup/bucket-sql';
import type { Edge } from './rollup/history';
import { ALL_TYPES, typeOfSeries } from './rollup/series-key';
import { emptySlot, type Slot } from './rollup/slot';
import { jsonRows, milliseconds, nullInstant, nullText, sane, steer, type Sql } from './spelling';
import { hasTime, traitsOf } from './traits';

/** A slice with more events than this has its share taken: one of them more or less is nothing then. */
const EDGE_EVENTS = 1_000;
const STATEMENT_MS = 2_000;
const KEPT_SLICES = 128;

export interface EdgeRow {
  /** Milliseconds since the epoch. */
  at: number;
  type: string | null;
  latency: number | null;
  ms: number | null;
  processing: number | null;
}

/** Every row published in a slice; null where they are too many, are no longer there, or do not tell when. */
export type EdgeRows = (outbox: Outbox, progress: Progress, edge: Edge) => Promise<readonly EdgeRow[] | null>;

export function createEdgeRows(): EdgeRows {
  const kept = new Map<string, Promise<readonly EdgeRow[] | null>>();

  return async (outbox, { method }, { fromMinute, toMinute, slots }) => {
    const booked = slots.get(ALL_TYPES)?.published ?? 0;
    if (!countsRows(method) || booked > EDGE_EVENTS) return null;
    if (booked === 0) return [];
    const key = [outbox.id, fromMinute, toMinute, booked].join(' ');
    // What could not be read once is not asked for again and again: the share is taken, and the figure says so.
    const rows = kept.get(key) ?? readRows(outbox, fromMinute, toMinute, method === 'scan').then(orNull(booked), unreadable);
    kept.delete(key);
    kept.set(key, rows);
    for (const oldest of kept.keys()) if (kept.size > KEPT_SLICES) kept.delete(oldest);
    return rows;
  };
}

/** Rows that are gone, or came after the slice was folded, make it another slice. */
const orNull =
  (booked: number) =>
  (rows: EdgeRow[]): readonly EdgeRow[] | null =>
    rows.length === booked ? rows : null;

function unreadable(error: unknown): null {
  if (error instanceof DatabaseFailure) return null;
  throw error;
}

/** The same rows that were folded, by the same index, one more than are wanted at the most. */
async function readRows(outbox: Outbox, fromMinute: number, toMinute: number, scans: boolean): Promise<EdgeRow[]> {
  const at = placeSql(outbox, outbox.main);
  const instant = (role: 'createdAt' | 'attemptedAt'): Sql =>
    !hasTime(outbox.main, role) ? nullInstant : sane(at.roleInstant(role) ?? nullInstant);
  const type = outbox.main.roles.type === undefined ? nullText : sql`left(${at.roleText('type')}, 200)`;
  const attempted = traitsOf(outbox).claimTime ? instant('attemptedAt') : nullInstant;
  const rows = sql`select ${type} as type, ${at.roleInstant('publishedAt') ?? nullInstant} as published, ${instant('createdAt')} as created, ${attempted} as attempted
    from ${at.from} where ${publishedIn(outbox, { from: fromMinute * 60_000_000, to: toMinute * 60_000_000 })} limit ${sql.lit(EDGE_EVENTS + 1)}`;
  const ms = milliseconds(sql.ref('created'), sql.ref('published'));
  const each = sql`select date_part('epoch', published) * 1000 as at, type, ${ms} as ms, ${bucketSql(ms)} as latency,
    case when attempted < published then ${bucketSql(milliseconds(sql.ref('attempted'), sql.ref('published')))} end as processing from (${rows}) as e`;
  return outbox.database.read(
    async (db) => {
      await steer(db, { scans, bitmaps: true });
      const answer = await sql<{ rows: string }>`select ${jsonRows(each)} as rows`.execute(db);
      return JSON.parse(answer.rows[0]?.rows ?? '[]') as EdgeRow[];
    },
    { statementMs: STATEMENT_MS },
  );
}

/** The part of a slice that these of its rows make up; what single rows do not tell by its share. */
export function partOf(slot: Slot, series: string, rows: readonly EdgeRow[], share: number): Slot {
  const part: Slot = { ...emptySlot(), how: slot.how, minutes: slot.minutes * share };
  for (const name of ['created', 'retries', 'failures', 'died'] as const) part[name] = slot[name] * share;
  const type = typeOfSeries(series);
  for (const row of rows) {
    if (series !== ALL_TYPES && row.type !== type) continue;
    part.published += 1;
    part.latencySumMs += Math.max(0, row.ms ?? 0);
    if ((row.ms ?? 0) < 0) part.negative += 1;
    if (row.latency !== null) addTo(part.latency, row.latency);
    if (row.processing !== null) addTo(part.processing, row.processing);
  }
  return part;
}
