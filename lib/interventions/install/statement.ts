import { ARCHIVE_COLUMNS, archiveTable } from '@/lib/outbox/companions';
import type { TableName } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import { neededRights, rightsByOperation } from '@/lib/outbox/rights/rights';

/** One statement of an installation and why it is there. */
export interface InstallStatement {
  why: string;
  sql: string;
  /** Something is better with it, and goes on without: whoever installs may not be allowed to. */
  optional?: true;
}

/** Rights of the operator on one of the outbox's tables, as a grant says them, and which operation each is for. */
export interface TableGrant {
  why: string;
  rights: string;
  table: TableName;
}

/** What the operator needs to change rows of the outbox, its dead letters and its archive. */
export function operatorGrants(outbox: Outbox): TableGrant[] {
  const { engine } = outbox.database;
  const { identifier } = engine.quote;
  const reasons = rightsByOperation(outbox, identifier);
  const grants = [...neededRights(outbox)].flatMap(([place, needed]): TableGrant[] => {
    const updates = [...needed.update].map(identifier).join(', ');
    const rights = [
      ...(needed.insert ? ['INSERT'] : []),
      ...(needed.delete ? ['DELETE'] : []),
      ...(updates === '' ? [] : [`UPDATE (${updates})`]),
    ];
    if (rights.length === 0) return [];
    const uses = (reasons.get(place) ?? []).map(({ right, operations }) => `${right} for ${operations.join(', ')}`);
    return [{ why: `The operator on ${place.table.table}: ${uses.join('; ')}`, rights: rights.join(', '), table: place.table }];
  });
  if (outbox.shape.archive === undefined) return grants;
  return [
    ...grants,
    {
      why: `The archive: INSERT for archive; DELETE for restore; UPDATE (${ARCHIVE_COLUMNS.reason}) for restore, which locks a row by it`,
      rights: `INSERT, DELETE, UPDATE (${ARCHIVE_COLUMNS.reason})`,
      table: archiveTable(engine, outbox.id),
    },
  ];
}
