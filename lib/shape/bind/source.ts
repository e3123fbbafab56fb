import type { ColumnDescription } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import { idColumns, isTimeRole, VALUE_ROLES, type Columns, type Source, type ValueRole } from '../schema/source';
import { isTime, type BoundCompanion, type BoundRole, type Place } from '../bound';
import { bindCondition, notATime, type Binding } from './condition';
import { amountIn } from './parameters';
import type { Shape } from '../shape';
import { BoundTable } from './table';

/** Placeholder column of a constant. */
const NOTHING: ColumnDescription = { name: '', type: 'text', kind: 'text', nullable: false, generated: false };

/** Names the table may lack: those of optional sources, and all alternatives. */
export const optionalNames = (columns: Columns): Set<string> =>
  new Set(sourcesOf(columns).flatMap(({ source }) => columnsIn(source, []).flatMap(({ column, optional }) => (optional ? column : []))));

type Named = Pick<Extract<Source, { column: string }>, 'column' | 'time' | 'path'> & { optional: boolean; at: Path };

/** The table's own columns that a source names, alternatives included. */
function columnsIn(source: Source, at: Path, optional = false): Named[] {
  if (typeof source === 'string') return [{ column: source, optional, at }];
  if ('anyOf' in source) return source.anyOf.flatMap((one, index) => columnsIn(one, [...at, 'anyOf', index], true));
  return 'column' in source && source.join === undefined ? [{ ...source, optional: optional || source.optional === true, at }] : [];
}

const sourcesOf = (columns: Columns): { role: ValueRole; source: Source }[] =>
  VALUE_ROLES.flatMap((role) => (columns[role] === undefined ? [] : [{ role, source: columns[role] }]));

/** Sets on the table how its columns encode times, as the roles say; call before comparing with them. */
export function applyTimeEncodings(columns: Columns, table: BoundTable, path: Path): void {
  const named = sourcesOf(columns).flatMap(({ role, source }) => columnsIn(source, [...path, role]));
  for (const { column, time, path: steps, at } of named) if (steps === undefined) table.setEncoding(column, time, [...at, 'time']);
}

/** The same by what the shape says of names alone: of both tables, in the dead-letter table where the column is of the same kind. */
export function applyNamedEncodings({ times, bytes = {} }: Shape, main: BoundTable, dead: BoundTable | null): void {
  for (const [part, named] of Object.entries({ times, bytes }))
    for (const [name, encoding] of Object.entries(named)) {
      const path: Path = ['shape', part, name];
      const theirs = dead?.find(name) ?? null;
      const ours = theirs === null ? main.resolve(name, path) : main.find(name);
      main.setEncoding(name, encoding, path);
      if (ours === null || theirs?.kind === ours.kind) dead?.setEncoding(name, encoding, path);
    }
}

export const bindId = (columns: Columns, table: BoundTable, path: Path): ColumnDescription[] =>
  (columns.id === undefined ? [] : idColumns(columns.id)).flatMap((name) => table.resolve(name, [...path, 'id']) ?? []);

export function bindRoles(columns: Columns, table: BoundTable, path: Path, binding: Binding): Place['roles'] {
  const roles: Place['roles'] = {};
  for (const { role, source } of sourcesOf(columns)) {
    const at = [...path, role];
    const bound = bindSource(source, table, at, binding);
    if (bound === null) continue;
    const plain = bound.path.length === 0 && !bound.last && bound.constant === null;
    if (plain && isTimeRole(role) && !isTime(bound.column)) binding.problems.add(at, notATime(bound.column));
    else roles[role] = bound;
  }
  return roles;
}

function bindSource(written: Source, table: BoundTable, path: Path, binding: Binding): BoundRole | null {
  const { problems, captured } = binding;
  const source: Exclude<Source, string> = typeof written === 'string' ? { column: written } : written;
  if ('anyOf' in source) {
    const first = source.anyOf.findIndex((one) => isThere(one, table, binding));
    const chosen = source.anyOf[first];
    return chosen === undefined ? null : bindSource(chosen, table, [...path, 'anyOf', first], binding);
  }
  const base: BoundRole = { column: NOTHING, path: [], last: false, join: null, latest: null, minusSeconds: 0, when: null, constant: null };
  if ('value' in source) return { ...base, constant: String(source.value) };
  if ('captured' in source) {
    const value = captured[source.captured];
    if (value !== undefined) return { ...base, constant: value };
    const none = `the table's name gives no "${source.captured}"${suggestion(source.captured, Object.keys(captured))}`;
    problems.add([...path, 'captured'], `${none}; write it as a named group of match.pattern`);
    return null;
  }
  const join = source.join === undefined ? null : (binding.companions.get(source.join) ?? null);
  if (source.join !== undefined && join === null) return null;
  const holder = join === null ? table : new BoundTable(join.description, new Set(source.optional ? [source.column] : []), problems);
  const column = holder.resolve(source.column, typeof written === 'string' ? path : [...path, 'column']);
  if (column === null) return null;
  const latest = bindLatest(source.latest, join, holder, path, binding);
  if (latest === undefined) return null;
  const steps = source.path ?? [];
  const document = ['json', 'text', 'binary'].includes(column.kind);
  const is = `"${column.name}" is ${column.type}`;
  if (steps.length > 0 && !source.last && !document)
    problems.add([...path, 'path'], `${is}, which holds no JSON: name a column of JSON, of text or of bytes, or leave path out`);
  if (source.last === true && !document && !column.type.endsWith('[]'))
    problems.add([...path, 'last'], `${is}, which is no list: leave last out`);
  const minus = source.minus === undefined ? 0 : amountIn(source.minus, binding, [...path, 'minus']);
  const time = source.time === undefined || source.time === 'auto' ? column.time : source.time;
  return {
    ...base,
    column: steps.length > 0 || join !== null ? { ...column, time } : column,
    path: steps,
    last: source.last ?? false,
    join,
    latest,
    minusSeconds: minus ?? 0,
    when: source.when === undefined ? null : bindCondition(source.when, table, [...path, 'when'], binding),
  };
}

/** The column that orders several joined rows by age; undefined without an index on the join columns. */
function bindLatest(written: string | undefined, join: BoundCompanion | null, holder: BoundTable, path: Path, binding: Binding) {
  if (written === undefined || join === null) return null;
  const column = holder.resolve(written, [...path, 'latest']);
  if (column === null) return undefined;
  const by = Object.keys(join.on);
  const { description } = join;
  const served = description.indexes.some(({ columns, predicate }) => by.includes(columns[0] ?? '') && predicate === null);
  if (served || description.kind !== 'table') return column.name;
  const missing = `${join.name} (${description.name.table}) has no index on ${by.join(', ')}`;
  if (binding.strict) binding.problems.add([...path, 'join'], `${missing}: each event would read it whole; have one made`);
  return undefined;
}

/** Reports alternatives that the table has none of, in a mapping written for this table. */
export function checkAlternatives(columns: Columns, table: BoundTable, path: Path, binding: Binding): void {
  if (!binding.strict) return;
  for (const { role, source } of sourcesOf(columns)) {
    if (typeof source === 'string' || !('anyOf' in source) || source.anyOf.some((one) => isThere(one, table, binding))) continue;
    if (source.anyOf.some((one) => typeof one === 'object' && 'column' in one && one.optional === true)) continue;
    const known = [...table.description.columns.keys()].join(', ');
    binding.problems.add([...path, role, 'anyOf'], `the table has none of these; known: ${known}`);
  }
}

function isThere(source: Source, table: BoundTable, { companions }: Binding): boolean {
  if (typeof source === 'string') return table.find(source) !== null;
  if (!('column' in source)) return true;
  if (source.join === undefined) return table.find(source.column) !== null;
  return companions.get(source.join)?.description.columns.has(source.column) ?? false;
}
