import type { Outbox } from '@/lib/outbox/outbox';

/** Columns the relay writes with each attempt, whatever becomes of it. */
export function attemptColumns({ main }: Outbox): Set<string> {
  const found = new Set<string>();
  for (const role of ['attempts', 'attemptedAt', 'error'] as const) {
    const bound = main.roles[role];
    if (bound !== undefined && bound.path.length === 0) found.add(bound.column.name);
  }
  return found;
}
