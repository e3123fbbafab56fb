import { createHash } from 'node:crypto';
import type { Engine } from '@/lib/database/engine';
import type { Db, TableName } from '@/lib/database/description';
import { quotedName, type RecordsSight } from './outbox';

/** The console's own tables in an observed database: a header per intervention record and a line per event. */
export function recordTables(engine: Pick<Engine, 'companions'>): { headers: TableName; events: TableName } {
  const { schema, prefix } = engine.companions;
  return { headers: { schema, table: `${prefix}intervention` }, events: { schema, table: `${prefix}intervention_event` } };
}

/** Key in the detail of an applied line that holds its outbox, so that lines can be filtered without a join. */
export const LINE_OUTBOX = 'outbox';

/** Key in the same place: what the change alone did to the counts of the outbox's table, of which no event can be seen to come or go. */
export const LINE_COUNT = 'counted';
export type LineCount = 'inserted' | 'deleted' | 'depth';
/** Key in the same place: whether the event was dead before the change, or came back dead by it. */
export const LINE_DEAD = 'dead';

/** Index on the event id of record lines; the lines of an event are counted by it. */
export const RECORDS_INDEX = 'intervention_event_event';
/** Characters of an id in that index, on engines that cannot index a text of any length. */
const RECORDS_INDEX_CHARACTERS = 191;

/** The columns of that index as SQL; a prefix on engines that cannot index whole texts. */
export function recordsKey({ quote, features }: Engine): string {
  const column = quote.identifier('event_id');
  return features.indexesWholeTexts ? `(${column})` : `(${column}(${RECORDS_INDEX_CHARACTERS}))`;
}

/** The statement that adds this index to records of an earlier installation. */
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

/** Characters of an identifier that every engine accepts. */
const NAME_CHARACTERS = 63;
const DIGEST_CHARACTERS = 12;

/** The name of something of the console's own; a long one ends in a digest of all of it, so that no two become the same. */
export function fitName(name: string): string {
  if (name.length <= NAME_CHARACTERS) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_CHARACTERS);
  return `${name.slice(0, NAME_CHARACTERS - DIGEST_CHARACTERS - 1)}_${digest}`;
}

export function archiveTable(engine: Engine, outboxId: string): TableName {
  const { schema, prefix } = engine.companions;
  return { schema, table: fitName(`${prefix}archive_${outboxId.replaceAll('-', '_')}`) };
}

/** Columns that an archive has besides those of its source; the prefix avoids name clashes. */
export const ARCHIVE_COLUMNS = {
  at: 'oc_archived_at',
  by: 'oc_archived_by',
  intervention: 'oc_intervention_id',
  reason: 'oc_reason',
  fromState: 'oc_from_state',
  fromTable: 'oc_from_table',
} as const;
