import { readRoleRights, type RoleRights } from '@/lib/database/role-rights';
import type { Db, TableName } from '@/lib/database/engine';
import { ARCHIVE_COLUMNS, recordTables } from './companions';
import type { Outbox } from './outbox';
import { neededRights, type Rights } from './rights';

type Bound = Omit<Outbox, 'capabilities' | 'writable' | 'whyReadOnly' | 'proof'>;

/**
 * What the operator's role lacks of what the operations need, as `UPDATE (status) on public.outbox`; [] when it lacks
 * nothing, or where nobody but the role itself can tell.
 */
export async function operatorLacks(outbox: Bound, db: Db): Promise<string[]> {
  const { operator } = outbox.database.roles;
  const needs: [Required<TableName>, Rights][] = [...neededRights(outbox)].map(([place, needed]) => [place.table, needed]);
  const { headers, events } = recordTables(outbox.database.engine);
  needs.push([headers, { insert: true, delete: false, update: new Set(['outcome']) }]);
  needs.push([events, { insert: true, delete: false, update: new Set() }]);
  if (outbox.archive !== null && outbox.shape.archive !== undefined)
    needs.push([outbox.archive.table, { insert: true, delete: true, update: new Set([ARCHIVE_COLUMNS.reason]) }]);
  if (operator === null) return [];
  const rights = await readRoleRights(
    outbox.database.engine.key,
    db,
    operator,
    needs.map(([table]) => table),
  );
  return (rights ?? []).flatMap((has, index) => {
    const need = needs[index];
    return need === undefined ? [] : lacking(has, need[1]).map((right) => `${right} on ${need[0].schema}.${need[0].table}`);
  });
}

function lacking(has: RoleRights, needed: Rights): string[] {
  const columns = [...needed.update].filter((column) => !has.updateColumns.has(column));
  return [
    ...(has.usage ? [] : ['USAGE of the schema']),
    ...(has.select ? [] : ['SELECT']),
    ...(needed.insert && !has.insert ? ['INSERT'] : []),
    ...(needed.delete && !has.delete ? ['DELETE'] : []),
    ...(columns.length === 0 ? [] : [`UPDATE (${columns.join(', ')})`]),
  ];
}
