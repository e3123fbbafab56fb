import type { ColumnDescription, TableDescription } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { COLUMN_ROLES, idColumns, type Columns } from '../schema/source';
import type { ShapeSettings, BoundCompanion, BoundCursor, Place } from '../bound';
import type { Shape } from '../shape';
import { bindCondition, orZero, type Binding, type Captured } from './condition';
import { bindOperations } from './operation';
import { mergeParameters } from './parameters';
import { Problems, BoundTable, ownDescription } from './table';
import { bindId, bindRoles, checkAlternatives, optionalNames, applyNamedEncodings, applyTimeEncodings } from './source';

const COLUMNS: Path = ['shape', 'columns'];
/** Value of the parameter `group` of a shape with a cursor: every group counts. */
const ALL_GROUPS = '*';

export interface FoundTables {
  main: TableDescription;
  dead: TableDescription | null;
  /** null for a companion that does not exist. */
  companions: ReadonlyMap<string, TableDescription | null>;
  archive: TableDescription | null;
  captured: Captured;
}

/** A shape bound to the tables that were found. Usable only without problems. */
export type BoundShape = ReturnType<typeof bindShape>;

/** Resolves every name of a shape in the tables found, and reports everything that does not fit. Reads no database. */
export function bindShape(settings: ShapeSettings, tables: FoundTables) {
  const { shape } = settings;
  const problems = new Problems();
  const parameters = mergeParameters(shape, settings);
  const main = new BoundTable(ownDescription(tables.main), optionalNames(shape.columns), problems, !settings.inline);
  const companions = bindCompanions(shape, tables, main, problems);
  const binding: Binding = { shape, parameters, problems, companions, captured: tables.captured, strict: settings.inline };
  applyTimeEncodings(shape.columns, main, COLUMNS);
  const dead = tables.dead === null ? null : deadTable(shape, tables.dead, binding);
  applyNamedEncodings(shape, main, dead);
  const mainPlace = placeOf('main', shape.columns, main, COLUMNS, binding);
  for (const { name, type } of binding.strict ? mainPlace.id.filter(namesNoRow) : [])
    problems.add([...COLUMNS, 'id'], `"${name}" is ${type}, by which no row is found again; leave it out, or name another`);
  const [ours, theirs] = [tables.main.name, tables.dead?.name];
  const twice = 'is the outbox itself, whose rows would be there twice: leave it out, and tell what is dead under states';
  if (theirs?.schema === ours.schema && theirs.table === ours.table) problems.add(['shape', 'dead', 'table'], twice);
  if (binding.strict) checkOrdering(shape, main, problems);
  checkAlternatives(shape.columns, main, COLUMNS, binding);
  if (binding.strict && dead !== null)
    for (const [there, here] of Object.entries(shape.dead?.map ?? {})) {
      dead.resolve(there, ['shape', 'dead', 'map', there]);
      main.resolve(here, ['shape', 'dead', 'map', there]);
    }
  checkNeverNull(shape, main, binding);
  const bound: Shape = {
    ...shape,
    states: shape.states.map((rule, index) => ({
      ...rule,
      when: bindCondition(rule.when, main, ['shape', 'states', index, 'when'], binding),
    })),
    ...(shape.rows === undefined ? {} : { rows: bindCondition(shape.rows, main, ['shape', 'rows'], binding) }),
    ...bindOperations(shape, { main, dead }, binding),
    ...(shape.dead === undefined ? {} : { dead: { ...shape.dead, ...boundMap(shape, main, dead) } }),
  };
  const found: ReadonlyMap<string, BoundCompanion> = new Map([...companions].flatMap(([name, one]) => (one === null ? [] : [[name, one]])));
  return {
    shape: bound,
    parameters,
    main: mainPlace,
    dead: dead === null ? null : deadPlace(shape, dead, mainPlace.id, binding),
    archive: tables.archive === null ? null : archivePlace(shape, tables.archive, binding),
    companions: found,
    cursor: bindCursor(main, binding),
    problems: problems.list,
  };
}

/** A table as a source of events. Ids are bound before the other roles. */
function placeOf(key: Place['key'], columns: Columns, table: BoundTable, path: Path, binding: Binding): Place {
  const { description } = table;
  const id = bindId(columns, table, path);
  return { key, table: description.name, description, id, roles: bindRoles(columns, table, path, binding) };
}

/** True for columns whose values have several spellings, or that no index finds: they cannot identify a row. */
export const namesNoRow = ({ kind, type }: ColumnDescription): boolean =>
  ['instant', 'wall_clock', 'json', 'boolean'].includes(kind) || /^(real|float|double)/i.test(type);

/** Reports a "not NULL" rule on a column that is never NULL, above other rules: often creation time taken for publishing time. */
function checkNeverNull({ states }: Shape, main: BoundTable, { strict, problems }: Binding): void {
  if (!strict) return;
  states.slice(0, -1).forEach(({ when }, index) => {
    const column = when.kind === 'isNull' && !when.isNull ? main.find(when.column) : null;
    if (column === null || column.nullable) return;
    const what = `is never NULL: every row passes, and the rules below are never reached; name another column${orZero(column)}`;
    problems.add(['shape', 'states', index, 'when', 'isNull'], `"${column.name}" ${what}`);
  });
}

/** An ordering by unknown columns or roles would never block anything. */
function checkOrdering({ ordering, columns }: Shape, main: BoundTable, problems: Problems): void {
  if (ordering === undefined) return;
  const named = (role: string): boolean => columns[role as keyof Columns] !== undefined;
  for (const key of [ordering.key].flat()) {
    if (named(key) || main.find(key) !== null) continue;
    problems.add(['shape', 'ordering', 'key'], `"${key}" is neither a role that columns names nor a column of the table: name one`);
  }
  if (!named(ordering.by)) problems.add(['shape', 'ordering', 'by'], `columns does not say which column is ${ordering.by}: name it there`);
}

function deadTable(shape: Shape, description: TableDescription, { problems, strict }: Binding): BoundTable {
  const own = shape.dead?.columns ?? {};
  const table = new BoundTable(ownDescription(description), optionalNames({ ...shape.columns, ...own }), problems, !strict);
  applyTimeEncodings({ ...inherited(shape), ...own }, table, ['shape', 'dead', 'columns']);
  return table;
}

/** Roles of the outbox table that the dead-letter table does not define itself. */
function inherited(shape: Shape): Columns {
  const own = shape.dead?.columns ?? {};
  return Object.fromEntries(
    COLUMN_ROLES.flatMap((role) => (own[role] === undefined && shape.columns[role] !== undefined ? [[role, shape.columns[role]]] : [])),
  );
}

function deadPlace(shape: Shape, table: BoundTable, outboxId: ColumnDescription[], binding: Binding): Place {
  const path: Path = ['shape', 'dead', 'columns'];
  const own = shape.dead?.columns ?? {};
  const rest = inherited(shape);
  // A role that the dead-letter table lacks is unknown for dead rows, and no problem.
  const quiet = new BoundTable(table.description, 'all', binding.problems);
  checkAlternatives(own, table, path, binding);
  // The event keeps its id, and so what its bytes hold.
  for (const [index, name] of idColumns(own.id ?? []).entries()) table.setEncoding(name, outboxId[index]?.holds, [...path, 'id']);
  const id = own.id === undefined ? bindId(rest, quiet, path) : bindId(own, table, path);
  if (id.length === 0) binding.problems.add([...path, 'id'], 'the dead-letter table has no such id column: name its own');
  else checkDeadId(shape, id, outboxId, binding.problems);
  const inherits = placeOf('dead', rest, quiet, path, binding);
  return { ...inherits, id, roles: { ...inherits.roles, ...bindRoles(own, table, path, binding) } };
}

/** An event must keep its id when it dies: the dead-letter table's own number would identify another event. */
function checkDeadId(shape: Shape, id: ColumnDescription[], outboxId: ColumnDescription[], problems: Problems): void {
  const path: Path = ['shape', 'dead', 'columns', 'id'];
  const cure = 'name the column that holds the id the event had';
  if (id.length !== outboxId.length)
    return problems.add(path, `names ${id.length} of ${outboxId.length} columns by which the outbox names a row: ${cure}`);
  id.forEach(({ name, type, kind }, index) => {
    const ours = outboxId[index];
    if (ours === undefined) return;
    const [theirs] = Object.entries(shape.dead?.map ?? {}).find(([, column]) => column === ours.name) ?? [];
    if (kind !== ours.kind) problems.add(path, `"${name}" is ${type}, and the outbox's "${ours.name}" is ${ours.type}: ${cure}`);
    else if (theirs !== undefined && theirs !== name)
      problems.add(path, `is "${name}", and map says that "${theirs}" is the outbox's "${ours.name}": ${cure}`);
  });
}

/** The console's own table: it has the columns of both tables, by the same names. */
function archivePlace(shape: Shape, description: TableDescription, binding: Binding): Place {
  const columns: Columns = { ...shape.columns, ...shape.dead?.columns, id: shape.columns.id };
  const table = new BoundTable(ownDescription(description), 'all', binding.problems, !binding.strict);
  applyTimeEncodings(columns, table, COLUMNS);
  applyNamedEncodings(shape, table, null);
  return placeOf('archive', columns, table, COLUMNS, binding);
}

function bindCompanions(shape: Shape, tables: FoundTables, main: BoundTable, problems: Problems): Map<string, BoundCompanion | null> {
  return new Map(
    Object.entries(shape.companions).map(([name, companion]) => {
      const path: Path = ['shape', 'companions', name];
      const description = tables.companions.get(name) ?? null;
      if (description === null) {
        if (companion.optional !== true && tables.companions.has(name))
          problems.add([...path, 'table'], `the table of companion "${name}" does not exist, or the reader needs GRANT SELECT on it`);
        return [name, null];
      }
      const own = new BoundTable(description, new Set(), problems);
      const on = Object.entries(companion.on).flatMap(([theirs, ours]) => {
        const [left, right] = [own.resolve(theirs, [...path, 'on', theirs]), main.resolve(ours, [...path, 'on', theirs])];
        return left === null || right === null ? [] : [[left.name, right.name]];
      });
      return [name, { name, description, on: Object.fromEntries(on) as Record<string, string> }];
    }),
  );
}

function bindCursor(main: BoundTable, { shape: { cursor }, companions, parameters: { extra }, problems }: Binding): BoundCursor | null {
  const companion = companions.get(cursor?.companion ?? '') ?? null;
  if (cursor === undefined || companion === null) return null;
  const path: Path = ['shape', 'cursor'];
  const own = new BoundTable(companion.description, new Set(), problems);
  const names = (table: BoundTable, written: string[], key: string): string[] =>
    written.flatMap((name, index) => table.resolve(name, [...path, key, index])?.name ?? []);
  for (const key of ['passed', 'taken'] as const)
    if (cursor[key] !== undefined && cursor[key].length !== cursor.position.length)
      problems.add([...path, key], `name as many columns as position has: ${cursor.position.length}`);
  return {
    companion,
    group: names(own, [cursor.group], 'group')[0] ?? cursor.group,
    only: extra.group === undefined || extra.group === ALL_GROUPS ? null : String(extra.group),
    position: names(main, cursor.position, 'position'),
    passed: names(own, cursor.passed, 'passed'),
    taken: cursor.taken === undefined ? undefined : names(own, cursor.taken, 'taken'),
  };
}

/** Maps columns of the dead-letter table to those of the outbox table: by the mapping, otherwise by role. Others map by name. */
function boundMap(shape: Shape, main: BoundTable, dead: BoundTable | null): { map?: Record<string, string> } {
  if (dead === null) return {};
  const map = new Map<string, string>();
  const pair = (theirs: string, ours: string): void => {
    const [left, right] = [dead.find(theirs), main.find(ours)];
    if (left !== null && right !== null && left.name !== right.name) map.set(left.name, right.name);
  };
  const idOf = ({ id }: Columns): string[] => (id === undefined ? [] : idColumns(id));
  const theirIds = idOf(shape.dead?.columns ?? {});
  idOf(shape.columns).forEach((ours, index) => pair(theirIds[index] ?? ours, ours));
  for (const role of COLUMN_ROLES) {
    const [theirs, ours] = [shape.dead?.columns[role], shape.columns[role]];
    if (typeof theirs === 'string' && typeof ours === 'string') pair(theirs, ours);
  }
  for (const [theirs, ours] of Object.entries(shape.dead?.map ?? {})) pair(theirs, ours);
  return map.size === 0 ? {} : { map: Object.fromEntries(map) };
}
