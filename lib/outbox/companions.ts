import type { Engine, TableName } from '@/lib/database/engine';

/** The console's own schema in an observed database, where the engine has schemas of the kind. */
export const COMPANION_SCHEMA = 'outbox_console';

/** The console's own tables in a database of this engine: the intervention records and the events of each. */
export function recordTables(engine: Engine): { headers: TableName; events: TableName } {
  const { schema, prefix } = engine.companions;
  return { headers: { schema, table: `${prefix}intervention` }, events: { schema, table: `${prefix}intervention_event` } };
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
