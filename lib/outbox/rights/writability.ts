import type { Db, RoleRights, TableName } from '@/lib/database/description';
import { failureAs } from '@/lib/database/failure';
import { type Place, placeColumns } from '@/lib/shape/bound';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import { ARCHIVE_COLUMNS, recordTables } from '../companions';
import { uniqueIndexes } from '../indexes/index-fit';
import { type FoundOutbox, livePlaces, tableLabel } from '../outbox';
import { calledFunctions, neededRights, type Rights } from './rights';

/** Rights the operator's role lacks, such as `UPDATE (status) on public.outbox`; null if only that role itself can check. */
export async function operatorLacks(outbox: FoundOutbox, db: Db): Promise<string[] | null> {
  const { operator } = outbox.database.roles;
  if (operator === null) return [];
  const needs = needsOf(outbox);
  const tables = needs.map(([table]) => table);
  const rights = await outbox.database.engine.roleRights(db, operator, tables);
  return rights === null ? null : [...missing(needs, rights), ...(await uncallable(outbox, db, operator))];
}

async function uncallable(outbox: FoundOutbox, db: Db, operator: string): Promise<string[]> {
  const functions = calledFunctions(outbox);
  const may = await outbox.database.engine.callRights(db, operator, functions);
  return functions.filter((_, index) => may[index] !== true).map(({ schema, name }) => `EXECUTE on ${schema}.${name}`);
}

/** The same, checked over the operator's own connection; [] if that fails now: the first change then shows whether it works. */
export async function operatorSaysItLacks(outbox: FoundOutbox): Promise<string[]> {
  const { database } = outbox;
  const needs = needsOf(outbox);
  const look = async (db: Db): Promise<RoleRights[]> => {
    const found: RoleRights[] = [];
    for (const [table] of needs) {
      const description = await database.engine.describe(db, table);
      found.push(description === null ? NOTHING : { usage: true, ...description.privileges });
    }
    return found;
  };
  return missing(needs, (await database.write?.(look).catch(failureAs([]))) ?? []);
}

const NOTHING: RoleRights = { usage: false, select: false, insert: false, delete: false, updateColumns: new Set() };

type Needs = [Required<TableName>, Rights][];

function needsOf(outbox: FoundOutbox): Needs {
  const { headers, events } = recordTables(outbox.database.engine);
  const needs: Needs = [...neededRights(outbox)].map(([place, needed]) => [place.table, needed]);
  needs.push([headers, { insert: true, delete: false, update: new Set(['outcome']) }]);
  needs.push([events, { insert: true, delete: false, update: new Set() }]);
  if (outbox.archive !== null && outbox.shape.archive !== undefined)
    needs.push([outbox.archive.table, { insert: true, delete: true, update: new Set([ARCHIVE_COLUMNS.reason]) }]);
  return needs;
}

const missing = (needs: Needs, rights: RoleRights[]): string[] =>
  needs.flatMap(([table, needed], index) => {
    const has = rights[index];
    return has === undefined ? [] : lacking(has, needed).map((right) => `${right} on ${tableLabel(table)}`);
  });

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

/** What prevents changes apart from the proof, in the order to fix it; null if nothing does. */
export async function readOnlyReason(outbox: FoundOutbox, db: Db): Promise<ReadOnlyReason | null> {
  if (outbox.database.write === null) return 'no_operator_url';
  if (!livePlaces(outbox).every(hasUniqueId)) return 'no_primary_key';
  if ([outbox.rules.main, outbox.rules.dead].some((rules) => rules?.transactional === false)) return 'not_transactional';
  if (await outbox.database.engine.logsStatements(db)) return 'statement_binlog';
  if (outbox.archive === null || outbox.records === 'absent') return 'not_installed';
  if (outbox.records !== 'countable') return 'reinstall_needed';
  const { archive } = outbox;
  const expected = [...Object.values(ARCHIVE_COLUMNS), ...livePlaces(outbox).flatMap(placeColumns)];
  if (expected.some((name) => !archive.description.columns.has(name))) return 'companions_out_of_date';
  return ((await operatorLacks(outbox, db)) ?? []).length > 0 ? 'no_grant' : null;
}

/** A key that identifies one row: an intervention must never touch two. */
function hasUniqueId(place: Place): boolean {
  const names = place.id.map((column) => column.name);
  if (names.length === 0 || place.id.some((column) => column.nullable) || place.description.kind !== 'table') return false;
  return uniqueIndexes(place).some(({ columns }) => columns.length === names.length && columns.every((name) => names.includes(name)));
}
