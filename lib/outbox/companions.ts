import type { TableName } from '@/lib/database/engine';

/** The console's own schema in an observed database. */
export const COMPANION_SCHEMA = 'outbox_console';
export const RECORD_TABLE: Required<TableName> = { schema: COMPANION_SCHEMA, table: 'intervention' };
export const RECORD_EVENT_TABLE: Required<TableName> = { schema: COMPANION_SCHEMA, table: 'intervention_event' };

/** The archive of one outbox: slugs become identifiers, cut to what every engine accepts. */
export function archiveTable(outboxId: string): Required<TableName> {
  return { schema: COMPANION_SCHEMA, table: `archive_${outboxId.replaceAll('-', '_')}`.slice(0, 63) };
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
