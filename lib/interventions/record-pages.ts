/** How the records of a database are compared with the audit: which there are, and whole ones by their ids. */
import { sql, type RawBuilder } from 'kysely';
import type { Db, Engine } from '@/lib/database/engine';
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

/**
 * The newest records by id and by time, at most `limit` of each, of these outboxes alone. An id is as good as the clock of the
 * console that made it, a time as good as the server's: nothing beyond the server's own now counts as recent. Served by the
 * primary key and the index on (outbox, at, id); lines are counted by theirs.
 */
export async function newestRecords(engine: Engine, db: Db, outboxes: readonly string[], limit: number): Promise<RecordSize[]> {
  const { fragments, companions } = engine;
  const ours = fragments.isLiteral(sql.id('outbox'), [...outboxes], companions.columns.name);
  const found = sql`select ${named(['id', 'outbox'])} from ${headersOf(engine)}`;
  const at = sql.id('at');
  const first = sql`limit ${sql.lit(limit)}`;
  const { rows } = await sql<StoredSize>`select ${sql.id('id')}, ${lineCount(engine)} as ${sql.id('lines')}
    from ((${found} order by ${sql.id('id')} desc ${first}) union
      (${found} where ${ours} and ${at} >= ${fragments.secondsAgo(RECENT_SECONDS)} and ${at} <= ${fragments.now()} order by ${at} desc ${first})) as ${sql.id(PAGE)}
    where ${ours}`.execute(db);
  return rows.map(sizeOf);
}

/** A page of all records in the order of their ids, behind `after`. Served by the primary key, bounded by `limit`. */
export async function recordsAfter(
  engine: Engine,
  db: Db,
  outboxes: readonly string[],
  after: string | null,
  limit: number,
): Promise<RecordSize[]> {
  const { fragments, companions } = engine;
  const behind = after === null ? sql`` : sql`where ${sql.id('id')} > ${fragments.typed(after, companions.columns.id)}`;
  const ours = fragments.isLiteral(sql.id('outbox'), [...outboxes], companions.columns.name);
  const { rows } = await sql<StoredSize>`select ${sql.id('id')}, case when ${ours} then ${lineCount(engine)} end as ${sql.id('lines')}
    from (select ${named(['id', 'outbox'])} from ${headersOf(engine)} ${behind} order by ${sql.id('id')} limit ${sql.lit(limit)}) as ${sql.id(PAGE)}
    order by ${sql.id('id')}`.execute(db);
  return rows.map(sizeOf);
}

const PAGE = 'page';

interface StoredSize {
  id: string;
  lines: string | number | null;
}

const sizeOf = ({ id, lines }: StoredSize): RecordSize => ({ id, lines: lines === null ? null : Number(lines) });

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
