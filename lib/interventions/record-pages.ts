/** How the records of a database are compared with the audit: which there are, and whole ones by their ids. */
import { sql, type RawBuilder } from 'kysely';
import type { Engine } from '@/lib/database/engine';
import type { Db } from '@/lib/database/description';
import { recordTables } from '@/lib/outbox/companions';
import { eventTableOf, eventsOf, hasId, headerColumns, headersOf, named, type RecordHeader, type RecordLine } from './records';

/** A record without what it says: enough to know whether the audit has it all. */
export interface RecordSize {
  id: string;
  /** null for one of an outbox that was not asked for. */
  lines: number | null;
}

/** For how long a record is found by its time: transactions of ours are over sooner. */
export const RECENT_SECONDS = 180;

/** Ids behind `after` up to `upTo`; null: from the first one, to the last. */
export interface IdRange {
  after: string | null;
  upTo: string | null;
}

export interface Newest {
  records: RecordSize[];
  /** How many records there are in each of the ranges, in their order, those of all outboxes. */
  counts: number[];
}

/**
 * The newest records by id, and of these outboxes those by time, at most `limit` of each, and how many there are in each of some
 * ranges: one statement, which sees one moment. An id is as good as the clock of the console that made it, a time as good as the
 * server's: nothing beyond the server's own now counts as recent. Served by the primary key and the index on (outbox, at, id);
 * lines are counted by theirs.
 */
export async function newestRecords(
  engine: Engine,
  db: Db,
  outboxes: readonly string[],
  limit: number,
  ranges: readonly IdRange[],
): Promise<Newest> {
  const { fragments } = engine;
  const found = sql`select ${named(['id', 'outbox'])} from ${headersOf(engine)}`;
  const at = sql.id('at');
  const first = sql`limit ${sql.lit(limit)}`;
  const ours = isOf(engine, outboxes);
  const counted = ranges.map(
    (range, place) =>
      sql`union all select null, (select count(*) from ${headersOf(engine)} where ${isWithin(engine, range)}), ${sql.lit(place)}`,
  );
  await engine.byIndex(db);
  const { rows } = await sql<StoredSize & { place: number | null }>`select ${sizeColumns(engine, outboxes)}, null as ${sql.id('place')}
    from ((${found} order by ${sql.id('id')} desc ${first}) union
      (${found} where ${ours} and ${at} >= ${fragments.secondsAgo(RECENT_SECONDS)} and ${at} <= ${fragments.now()} order by ${at} desc ${first})) as ${sql.id(PAGE)}
    ${sql.join(counted, sql` `)}`.execute(db);
  const counts = ranges.map(() => 0);
  for (const { place, lines } of rows) if (place !== null) counts[place] = Number(lines);
  return { records: rows.filter(({ place }) => place === null).map(sizeOf), counts };
}

/** The first records of a range in the order of their ids, at most `limit`. Served by the primary key. */
export async function recordsWithin(
  engine: Engine,
  db: Db,
  outboxes: readonly string[],
  range: IdRange,
  limit: number,
): Promise<RecordSize[]> {
  await engine.byIndex(db);
  const { rows } = await sql<StoredSize>`select ${sizeColumns(engine, outboxes)}
    from (select ${named(['id', 'outbox'])} from ${headersOf(engine)} where ${isWithin(engine, range)}
      order by ${sql.id('id')} limit ${sql.lit(limit)}) as ${sql.id(PAGE)}
    order by ${sql.id('id')}`.execute(db);
  return rows.map(sizeOf);
}

const isOf = ({ fragments, companions }: Engine, outboxes: readonly string[]): RawBuilder<boolean> =>
  fragments.isLiteral(sql.id('outbox'), [...outboxes], companions.columns.name);

/** Written as literals: a server that takes each parameter to a prepared statement would be asked twice. */
function isWithin({ quote }: Engine, { after, upTo }: IdRange): RawBuilder<unknown> {
  const bounds = [
    ...(after === null ? [] : [sql`${sql.id('id')} > ${sql.raw(quote.literal(after))}`]),
    ...(upTo === null ? [] : [sql`${sql.id('id')} <= ${sql.raw(quote.literal(upTo))}`]),
  ];
  return bounds.length === 0 ? sql`1 = 1` : sql.join(bounds, sql` and `);
}

const PAGE = 'page';

interface StoredSize {
  id: string;
  lines: string | number | null;
}

const sizeOf = ({ id, lines }: StoredSize): RecordSize => ({ id, lines: lines === null ? null : Number(lines) });

const sizeColumns = (engine: Engine, outboxes: readonly string[]): RawBuilder<unknown> =>
  sql`${sql.id('id')}, case when ${isOf(engine, outboxes)} then ${lineCount(engine)} end as ${sql.id('lines')}`;

const lineCount = (engine: Engine): RawBuilder<unknown> =>
  sql`(select count(*) from ${eventTableOf(engine)} as ${sql.id('line')} where ${sql.id('line', 'intervention_id')} = ${sql.id(PAGE, 'id')})`;

/** Whether the role sees the records of this database: null where there are none to be seen. Reads the catalogue. */
export async function seesRecords(engine: Engine, db: Db): Promise<boolean | null> {
  const { headers, events } = recordTables(engine);
  const seen = [await engine.describe(db, headers), await engine.describe(db, events)];
  if (seen.some((table) => table === null)) return null;
  return seen.every((table) => table?.privileges.select);
}

/** A record as it stands in the observed database, every line with its place in it. */
export interface StoredRecord {
  header: Omit<RecordHeader, 'at'> & {
    /** null for a time that no calendar has. */
    at: string | null;
  };
  lines: RecordLine[];
}

/** Whole records by id, in the order of their ids. Served by the primary keys. */
export async function wholeRecords(engine: Engine, db: Db, ids: string[]): Promise<StoredRecord[]> {
  const { rows } = await sql<StoredRecord['header']>`select ${headerColumns(engine)} from ${headersOf(engine)}
    where ${hasId(engine, 'id', ids)} order by ${sql.id('id')}`.execute(db);
  const lines = await eventsOf(engine, db, ids);
  return rows.map((header) => ({ header, lines: lines.get(header.id) ?? [] }));
}
