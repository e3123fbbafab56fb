import type { Engine } from '@/lib/database/engine';
import type { Db, TableName } from '@/lib/database/description';
import { quotedName, type RecordsSight } from './outbox';

/** The console's own tables in a database of this engine: the intervention records and the events of each. */
export function recordTables(engine: Pick<Engine, 'companions'>): { headers: TableName; events: TableName } {
  const { schema, prefix } = engine.companions;
  return { headers: { schema, table: `${prefix}intervention` }, events: { schema, table: `${prefix}intervention_event` } };
}

/** In the detail of an applied line: the outbox it was written under, so that lines are told apart without their headers. */
export const LINE_OUTBOX = 'outbox';

/** Index on the event of each line of the records, by which the lines of one event are counted. */
export const RECORDS_INDEX = 'intervention_event_event';
/** Characters of an id that the index holds, where it cannot hold a text of any length. */
const RECORDS_INDEX_CHARACTERS = 191;

/** What a key on the events of the records is made of, where columns are indexed by their beginnings. */
export function recordsKey({ quote, features }: Engine): string {
  const column = quote.identifier('event_id');
  return features.indexesWholeTexts ? `(${column})` : `(${column}(${RECORDS_INDEX_CHARACTERS}))`;
}

/** The statement that gives records of an earlier installation their index. */
export const recordsIndexStatement = (engine: Engine): string =>
  `CREATE INDEX ${engine.quote.identifier(RECORDS_INDEX)} ON ${quotedName(engine, recordTables(engine).events)} ${recordsKey(engine)}`;

export async function recordsSight(engine: Engine, db: Db): Promise<RecordsSight> {
  const { headers, events } = recordTables(engine);
  const [header, line] = [await engine.describe(db, headers), await engine.describe(db, events)];
  if (header === null || line === null) return 'absent';
  if (!header.privileges.select || !line.privileges.select) return 'unreadable';
  const serves = line.indexes.some(
    ({ columns: [first], beginning, predicate }) => (first ?? beginning) === 'event_id' && predicate === null,
  );
  return serves ? 'countable' : 'unindexed';
}

/** The archive of one outbox: slugs become identifiers, cut to what every engine accepts. */
export function archiveTable(engine: Engine, outboxId: string): TableName {
  const { schema, prefix } = engine.companions;
  return { schema, table: `${prefix}archive_${outboxId.replaceAll('-', '_')}`.slice(0, 63) };
}

/** Columns the archive has beside the source's own; the prefix keeps them apart from any outbox's columns. */
export const ARCHIVE_COLUMNS = {
  at: 'oc_archived_at',
  by: 'oc_archived_by',
  intervention: 'oc_intervention_id',
  reason: 'oc_reason',
  fromState: 'oc_from_state',
  fromTable: 'oc_from_table',
} as const;
