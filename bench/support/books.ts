/**
 * Thirty days of a table folded into the books the way the collector does it: bucketed in the database, written as
 * minutes for the last two days and as hours before, summed into days.
 */
import { sql } from 'kysely';
import pg from 'pg';
import { bucketSql, addTo } from '@/lib/rollup/histogram';
import { post, postHours, sumHoursAndDays } from '@/lib/history/collector/ledger';
import { DAY_MINUTES, MINUTES_KEPT, sliceOf, cellIn, ALL_TYPES, seriesOfType, type Additions } from '@/lib/rollup/cell';
import { takeLease, underLease } from '@/lib/store/collector-leases';
import type { Store } from '@/lib/store/store';

const LEASE_SECONDS = 600;

/** Rows to fold: a query with `published` (timestamptz), `latency` (float8, ms) and `type` (text). */
export interface Events {
  url: string;
  query: string;
}

interface Cell {
  slice: number;
  type: string;
  bucket: number;
  n: string;
  total: number;
}

/** Books of `outbox` for the minutes from `fromMinute` to `toMinute` (since the epoch). */
export async function foldIntoBooks(store: Store, outbox: string, events: Events, fromMinute: number, toMinute: number): Promise<void> {
  const lease = await takeLease(store.db, outbox, 'bench', LEASE_SECONDS);
  if (lease === null) throw new Error(`The lease of ${outbox} is taken`);
  const minutesFrom = Math.max(fromMinute, sliceOf(toMinute - MINUTES_KEPT, 'hour'));
  const client = new pg.Client({ connectionString: events.url, application_name: 'bench' });
  await client.connect();
  try {
    for (let day = fromMinute; day < minutesFrom; day = sliceOf(day, 'day') + DAY_MINUTES) {
      const hours = await fold(store, client, events.query, 60, day, Math.min(sliceOf(day, 'day') + DAY_MINUTES, minutesFrom));
      await underLease(store, lease, (db) => postHours(db, outbox, hours));
    }
    for (let hour = minutesFrom; hour < toMinute; hour = sliceOf(hour, 'hour') + 60) {
      const additions = await fold(store, client, events.query, 1, hour, Math.min(sliceOf(hour, 'hour') + 60, toMinute));
      await underLease(store, lease, (db) => post(db, { outbox, additions, provisional: new Set(), sealedTo: 0, counts: false }));
    }
    await underLease(store, lease, (db) => sumHoursAndDays(db, outbox, minutesFrom, toMinute));
  } finally {
    await client.end();
  }
}

async function fold(store: Store, client: pg.Client, query: string, width: number, from: number, to: number): Promise<Additions> {
  const bucket = bucketSql(sql`latency`).compile(store.db).sql;
  const minute = `floor(date_part('epoch', published) / 60)::int`;
  const { rows } = await client.query<Cell>(
    `SELECT ${minute} / ${width} * ${width} AS slice, type, ${bucket} AS bucket, count(*) AS n, sum(latency) AS total FROM (${query}) AS event
      WHERE published >= to_timestamp(${from * 60}) AND published < to_timestamp(${to * 60}) GROUP BY 1, 2, 3`,
  );
  const additions: Additions = new Map();
  // A slice in which nothing happened was watched too.
  for (let slice = Math.floor(from / width) * width; slice < to; slice += width) cellIn(additions, slice, ALL_TYPES).minutes = width;
  for (const { slice, type, bucket: at, n, total } of rows) {
    for (const series of [ALL_TYPES, seriesOfType(type)]) {
      const cell = cellIn(additions, slice, series);
      cell.published += Number(n);
      cell.latencySumMs += total;
      addTo(cell.latency, at, Number(n));
    }
  }
  return additions;
}
