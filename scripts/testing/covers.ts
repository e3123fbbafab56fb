import type { Outbox } from '@/lib/outbox/outbox';
import type { ChangeRule, Shape } from '@/lib/shape/shape';

/** What the shape says a version covers; null where its operation is not for such rows. Without a known state: the least it may say. */
export function coverOf(
  { shape }: Pick<Outbox, 'shape'>,
  operation: string,
  place: string,
  state: string | null,
): 'exact' | 'stable' | null {
  const isFor = (states: readonly string[]): boolean => state === null || states.includes(state);
  if (operation === 'restore') return place === 'archive' ? 'exact' : null;
  if (place === 'archive') return null;
  if (operation === 'archive') {
    if (shape.archive === undefined || state === 'processing') return null;
    if (place === 'dead' || state === 'dead') return shape.archive.from.includes('dead') ? 'exact' : null;
    return isFor(shape.archive.from) ? 'stable' : null;
  }
  const covers = rulesOf(shape, operation).flatMap((rule) => {
    const fits = place === 'dead' ? rule.from.includes('dead') : rule.moveTo === undefined && isFor(rule.from);
    return fits ? [rule.version] : [];
  });
  return covers.length === 0 ? null : covers.every((cover) => cover === 'exact') ? 'exact' : 'stable';
}

/** The rules by which a shape's operation changes rows; refusals left out. */
export function rulesOf(shape: Shape, operation: string): ChangeRule[] {
  const rules = shape.operations[operation];
  return Array.isArray(rules) ? rules.flatMap((rule) => ('version' in rule ? [rule] : [])) : [];
}
