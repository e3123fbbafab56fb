/**
 * A window begins in the middle of a slice. Where the table still has that slice's rows and they are few, they are looked
 * at one by one, so that the figures of a quiet outbox do not depend on shares of a minute; once per slice, for everybody.
 */
import { sql } from 'kysely';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql } from '@/lib/outbox/rows/row';
import { publishedFrom, publishedIn } from '../collector/published-sql';
import { countsRows } from '@/lib/shared/figures/collection';
import type { Progress } from '../collector/progress';
import { addTo } from '@/lib/rollup/histogram';
import { bucketSql } from '@/lib/rollup/bucket-sql';
import type { Edge } from './spans';
import { ALL_TYPES, typeOfSeries } from '@/lib/rollup/series-key';
import { emptyCell, type Cell } from '@/lib/rollup/cell';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { hasTime, traitsOf } from '@/lib/outbox/scan/traits';
import { typeOf } from '@/lib/outbox/scan/type-of';

/** A slice with more events than this has its share taken: one of them more or less is nothing then. */
const EDGE_EVENTS = 1_000;
const STATEMENT_MS = 2_000;
/** Rows that are kept, some hundred bytes each; a slice counts for no fewer than so many. Hundreds of quiet outboxes have room, each with its own. */
const KEPT_ROWS = 128 * EDGE_EVENTS;
const SLICE_ROWS = 64;

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
  const kept = new Map<string, { rows: Promise<readonly EdgeRow[] | null>; size: number }>();
  let size = 0;

  function keep(key: string, rows: Promise<readonly EdgeRow[] | null>, booked: number): void {
    const one = { rows, size: Math.max(booked, SLICE_ROWS) };
    size += one.size - (kept.get(key)?.size ?? 0);
    // As the newest of them.
    kept.delete(key);
    kept.set(key, one);
    for (const [oldest, gone] of kept) {
      if (size <= KEPT_ROWS) return;
      kept.delete(oldest);
      size -= gone.size;
    }
  }

  return async (outbox, { method }, { fromMinute, toMinute, cells }) => {
    const booked = cells.get(ALL_TYPES)?.published ?? 0;
    if (!countsRows(method) || booked > EDGE_EVENTS) return null;
    if (booked === 0) return [];
    const key = [outbox.id, fromMinute, toMinute, booked].join(' ');
    // What could not be read once is not asked for again and again: the share is taken, and the figure says so.
    const rows = kept.get(key)?.rows ?? readRows(outbox, fromMinute, toMinute, method === 'scan').then(orNull(booked), unreadable);
    keep(key, rows, booked);
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

type Told = Omit<EdgeRow, 'latency' | 'processing'> & Record<'latency' | 'processing', number | string | null>;

const numberOf = (value: number | string | null): number | null => (value === null ? null : Number(value));

/** The same rows that were folded, by the same index, one more than are wanted at the most. */
async function readRows(outbox: Outbox, fromMinute: number, toMinute: number, scans: boolean): Promise<EdgeRow[]> {
  const { engine } = outbox.database;
  const { fragments } = engine;
  const { millisecondsBetween, nothing } = fragments;
  const at = placeSql(outbox, outbox.main);
  const instant = (role: 'createdAt' | 'attemptedAt'): Sql =>
    !hasTime(outbox.main, role) ? nothing('instant') : fragments.sane(at.roleInstant(role) ?? nothing('instant'));
  const type = typeOf(outbox, at);
  const attempted = traitsOf(outbox).claimTime ? instant('attemptedAt') : nothing('instant');
  const rows = sql`select ${type} as type, ${at.roleInstant('publishedAt') ?? nothing('instant')} as published, ${instant('createdAt')} as created, ${attempted} as attempted
    from ${publishedFrom(outbox)} where ${publishedIn(outbox, { from: fromMinute * 60_000_000, to: toMinute * 60_000_000 })} limit ${sql.lit(EDGE_EVENTS + 1)}`;
  const ms = millisecondsBetween(sql.ref('created'), sql.ref('published'));
  const processing = bucketSql(millisecondsBetween(sql.ref('attempted'), sql.ref('published')), fragments);
  const each = sql<Told>`select ${fragments.epochMs(sql.ref('published'))} as at, type, ${ms} as ms, ${bucketSql(ms, fragments)} as latency,
    case when attempted < published then ${processing} end as processing from (${rows}) as e`;
  return outbox.database.read(
    async (db) => {
      await engine.byIndex(db, { scans, blocks: true, memory: true });
      const answer = await each.execute(db);
      return answer.rows.map((row) => ({ ...row, latency: numberOf(row.latency), processing: numberOf(row.processing) }));
    },
    { statementMs: STATEMENT_MS },
  );
}

/** The part of a slice that these of its rows make up; what single rows do not tell by its share. */
export function partOf(cell: Cell, series: string, rows: readonly EdgeRow[], share: number): Cell {
  const part: Cell = { ...emptyCell(), how: cell.how, minutes: cell.minutes * share };
  for (const name of ['created', 'retries', 'failures', 'died'] as const) part[name] = cell[name] * share;
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
