import type { ColumnDescription } from '@/lib/database/description';
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import type { ChangeRule, PlainValue, Value } from '../schema/operation';
import { isTime } from '../bound';
import type { Shape } from '../shape';
import { bindCondition, notATime, type Binding, outOfBounds } from './condition';
import type { BoundTable } from './table';

export interface Tables {
  main: BoundTable;
  dead: BoundTable | null;
}

type Values = Record<string, Value>;

/** The operations with the catalogue's names; a rule whose age column is missing is kept, but not offered. */
export function bindOperations(shape: Shape, tables: Tables, binding: Binding): Pick<Shape, 'operations' | 'asDead' | 'archive'> {
  if (binding.strict && shape.lock !== undefined)
    for (const [key, name] of Object.entries(shape.lock)) tables.main.resolve(name, ['shape', 'lock', key]);
  const operations = Object.entries(shape.operations).map(([key, rules]) => {
    if (!Array.isArray(rules)) return [key, rules];
    const path: Path = ['shape', 'operations', key];
    return [key, rules.map((rule, index) => ('version' in rule ? bindRule(rule, tables, [...path, index], binding) : rule))];
  });
  const target = shape.asDead?.moveTo === 'dead' ? tables.dead : tables.main;
  const { archive, asDead } = shape;
  const set = asDead && target && bindSet(asDead.set, target, tables.main, ['shape', 'asDead', 'set'], binding);
  const guard = archive?.guard === undefined ? null : bindCondition(archive.guard, tables.main, ['shape', 'archive', 'guard'], binding);
  return {
    operations: Object.fromEntries(operations) as Shape['operations'],
    asDead: asDead && set ? { ...asDead, set } : asDead,
    ...(archive === undefined || guard === null ? {} : { archive: { ...archive, guard } }),
  };
}

function bindRule(rule: ChangeRule, tables: Tables, path: Path, binding: Binding): ChangeRule {
  const { shape, problems } = binding;
  const { notify } = rule;
  const moved = rule.moveTo === 'main';
  // A rule for dead rows only refers to the dead-letter table, if there is one.
  const source = (moved || rule.from.every((state) => state === 'dead')) && tables.dead !== null ? tables.dead : tables.main;
  if (moved && shape.dead === undefined)
    problems.add([...path, 'moveTo'], 'there is no dead-letter table to move rows from: write it under dead');
  const known = Object.keys(shape.parameters.extra ?? {});
  const { parameter } = rule.needs ?? {};
  if (parameter !== undefined && !known.includes(parameter)) {
    const none = `there is no parameter "${parameter}"${suggestion(parameter, known)}; write it under parameters.extra`;
    problems.add([...path, 'needs', 'parameter'], none);
  }
  const age = rule.olderThanStuckAfter === undefined ? null : source.find(rule.olderThanStuckAfter);
  if (rule.olderThanStuckAfter !== undefined && age === null && binding.strict)
    source.resolve(rule.olderThanStuckAfter, [...path, 'olderThanStuckAfter']);
  if (age !== null && !isTime(age)) problems.add([...path, 'olderThanStuckAfter'], notATime(age));
  return {
    ...rule,
    set: bindSet(rule.set, moved ? tables.main : source, source, [...path, 'set'], binding),
    ...(rule.guard === undefined ? {} : { guard: bindCondition(rule.guard, source, [...path, 'guard'], binding) }),
    ...(age === null ? {} : { olderThanStuckAfter: age.name }),
    ...(notify === undefined ? {} : { notify: { ...notify, column: source.find(notify.column)?.name ?? notify.column } }),
  };
}

/** Assignments by the target's column names, plus the lock counter; columns the table may lack are left out. */
function bindSet(set: Values, target: BoundTable, source: BoundTable, path: Path, binding: Binding): Values {
  const bound: Values = {};
  for (const [name, value] of Object.entries(set)) {
    const column = target.resolve(name, [...path, name]);
    if (column === null) continue;
    if (column.generated) binding.problems.add([...path, name], `"${column.name}" is generated and cannot be written: leave it out of set`);
    bound[column.name] = bindValue(value, column, source, [...path, name], binding);
  }
  const { lock } = binding.shape;
  const counter = lock !== undefined && 'bump' in lock ? target.find(lock.bump) : null;
  if (counter !== null && Object.keys(bound).length > 0) bound[counter.name] ??= { column: counter.name, plus: 1 };
  return bound;
}

function bindValue(value: Value, column: ColumnDescription, source: BoundTable, path: Path, binding: Binding): Value {
  const plain = (one: PlainValue, at: Path): PlainValue => bindPlain(one, column, source, at, binding);
  if ('least' in value) return { least: value.least.map((one, index) => plain(one, [...path, 'least', index])) };
  if ('greatest' in value) return { greatest: value.greatest.map((one, index) => plain(one, [...path, 'greatest', index])) };
  return plain(value, path);
}

function bindPlain(value: PlainValue, column: ColumnDescription, source: BoundTable, path: Path, binding: Binding): PlainValue {
  if ('column' in value) {
    const found = source.resolve(value.column, [...path, 'column']);
    return found === null ? { value: null } : { ...value, column: found.name };
  }
  if ('now' in value) {
    if (!isTime(column)) binding.problems.add(path, notATime(column));
  } else if ('value' in value) checkWritten(value.value, column, path, binding);
  return value;
}

function checkWritten(value: string | number | boolean | null, column: ColumnDescription, path: Path, { problems, strict }: Binding): void {
  const { name, type, kind, labels, nullable } = column;
  const at = [...path, 'value'];
  if (value === null) {
    if (!nullable) problems.add(at, `"${name}" takes no NULL: write another value`);
  } else if (typeof value === 'string' && (kind === 'integer' || kind === 'decimal') && column.time === undefined) {
    problems.add(at, `"${name}" is ${type}: write a number, without quotes`);
  } else if (typeof value === 'boolean' && kind !== 'boolean' && !/^(bit|tinyint)\b/.test(type)) {
    problems.add(at, `"${name}" is ${type}: write a value it can hold`);
  } else if (strict && labels !== undefined && !labels.includes(String(value))) {
    problems.add(at, `"${name}" is ${type}: it has no value "${String(value)}"${suggestion(String(value), labels)}`);
  } else if (strict && column.time === undefined) {
    const bounds = outOfBounds(value, column);
    if (bounds !== null) problems.add(at, `"${name}" is ${type}: ${bounds}; write another`);
  }
}
