import type { Outbox } from '@/lib/outbox/outbox';
import { stateColumns } from './state-columns';

/** Columns the operations of a shape write, and those a row may be locked through. */
export function changedColumns({ shape, main, dead }: Outbox): Set<string> {
  const columns = new Set<string>([...stateColumns(shape), ...Object.keys(shape.asDead?.set ?? {})]);
  for (const rules of Object.values(shape.operations)) {
    if (!Array.isArray(rules)) continue;
    for (const rule of rules) if ('set' in rule) for (const column of Object.keys(rule.set)) columns.add(column);
  }
  for (const place of [main, dead]) {
    for (const role of ['error', 'attempts', 'diedAt'] as const) {
      const bound = place?.roles[role];
      if (bound !== undefined) columns.add(bound.column.name);
    }
  }
  return columns;
}

/** Columns the relay writes with each attempt, whatever becomes of it. */
export function attemptColumns({ main }: Outbox): Set<string> {
  const found = new Set<string>();
  for (const role of ['attempts', 'attemptedAt', 'error'] as const) {
    const bound = main.roles[role];
    if (bound !== undefined && bound.path.length === 0) found.add(bound.column.name);
  }
  return found;
}
