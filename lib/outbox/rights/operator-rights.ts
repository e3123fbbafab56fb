import { type RoleRights, type Db, type TableName } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { ARCHIVE_COLUMNS, recordTables } from '../companions';
import { tableLabel, type Outbox } from '../outbox';
import { calledFunctions, neededRights, type Rights } from './rights';

type Bound = Omit<Outbox, 'capabilities' | 'writable' | 'whyReadOnly' | 'proof'>;

/**
 * What the operator's role lacks of what the operations need, as `UPDATE (status) on public.outbox`, `EXECUTE on jobs.reschedule`; [] when it lacks
 * nothing. null where only the role itself can tell.
 */
export async function operatorLacks(outbox: Bound, db: Db): Promise<string[] | null> {
  const { operator } = outbox.database.roles;
  if (operator === null) return [];
  const needs = needsOf(outbox);
  const rights = await outbox.database.engine.roleRights(
    db,
    operator,
    needs.map(([table]) => table),
  );
  return rights === null ? null : [...missing(needs, rights), ...(await uncallable(outbox, db, operator))];
}

async function uncallable(outbox: Bound, db: Db, operator: string): Promise<string[]> {
  const functions = calledFunctions(outbox);
  const may = await outbox.database.engine.callRights(db, operator, functions);
  return functions.filter((_, index) => may[index] !== true).map(({ schema, name }) => `EXECUTE on ${schema}.${name}`);
}

/** The same by asking the operator's own login; [] when it cannot be asked now: whether it works is told by the first change. */
export async function operatorSaysItLacks(outbox: Bound): Promise<string[]> {
  const { database } = outbox;
  const needs = needsOf(outbox);
  try {
    const rights = await database.write?.(async (db) => {
      const found: RoleRights[] = [];
      for (const [table] of needs) {
        const description = await database.engine.describe(db, table);
        found.push(description === null ? NOTHING : { usage: true, ...description.privileges });
      }
      return found;
    });
    return missing(needs, rights ?? []);
  } catch (error) {
    if (error instanceof DatabaseFailure) return [];
    throw error;
  }
}

const NOTHING: RoleRights = { usage: false, select: false, insert: false, delete: false, updateColumns: new Set() };

type Needs = [Required<TableName>, Rights][];

function needsOf(outbox: Bound): Needs {
  const { headers, events } = recordTables(outbox.database.engine);
  const needs: Needs = [...neededRights(outbox)].map(([place, needed]) => [place.table, needed]);
  needs.push([headers, { insert: true, delete: false, update: new Set(['outcome']) }]);
  needs.push([events, { insert: true, delete: false, update: new Set() }]);
  if (outbox.archive !== null && outbox.shape.archive !== undefined)
    needs.push([outbox.archive.table, { insert: true, delete: true, update: new Set([ARCHIVE_COLUMNS.reason]) }]);
  return needs;
}

function missing(needs: Needs, rights: RoleRights[]): string[] {
  return rights.flatMap((has, index) => {
    const need = needs[index];
    return need === undefined ? [] : lacking(has, need[1]).map((right) => `${right} on ${tableLabel(need[0])}`);
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
