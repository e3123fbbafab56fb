import type { Outbox } from '@/lib/outbox/outbox';
import type { ColumnRole } from '@/lib/outbox/shape';

/** Columns the relay writes with each attempt, whatever becomes of it. */
export function attemptColumns({ main }: Outbox): Set<string> {
  const found = new Set<string>();
  for (const role of ['attempts', 'attemptedAt', 'error'] as const) {
    const bound = main.roles[role];
    if (bound !== undefined && bound.path.length === 0) found.add(bound.column.name);
  }
  return found;
}

/** What an event is from its beginning to its end. */
const STEADY: readonly Exclude<ColumnRole, 'id'>[] = [
  'type', 'topic', 'aggregateType', 'aggregateId', 'createdAt', 'payload', 'headers', 'dedupKey', 'traceId', 'sequence', 'orderingKey', 'maxAttempts',
]; // prettier-ignore
/** How columns are called that are written with each change of a row. */
const TOUCHED = /(updat|modif|chang|touch)/i;

/** Columns that no relay writes. */
export function steadyColumns({ main }: Outbox): Set<string> {
  const roles = STEADY.flatMap((role) => (main.roles[role] === undefined ? [] : [main.roles[role].column.name]));
  return new Set([...main.id.map(({ name }) => name), ...roles]);
}

/** Columns without a meaning to the console that are called as if every change of a row wrote them. */
export function touchedColumns({ main }: Outbox): string[] {
  const meant = new Set([...Object.values(main.roles).map((bound) => bound.column.name), ...main.id.map(({ name }) => name)]);
  return [...main.description.columns.keys()].filter((name) => TOUCHED.test(name) && !meant.has(name));
}
