import type { OutboxEvent, OutboxInfo } from '@/lib/shared/model';
import type { State } from '@/lib/shared/states';

/** The operations in the order they are offered; an outbox may know others, which follow. */
const ORDER = ['retry', 'requeue', 'release', 'archive', 'restore'];

/** Why an operation cannot be chosen for these events. */
export type Obstacle =
  /** Nobody may change this outbox, or this person may not: words under `refusals.<code>`. */
  | { kind: 'refusal'; code: string }
  /** It applies to other states than those of the events. */
  | { kind: 'states'; from: State[] };

export interface OperationChoice {
  operation: string;
  /** How many of the events are in a state it applies to. */
  allowed: number;
  obstacle: Obstacle | null;
}

/**
 * What could be done to these events as far as their states tell; the server looks again at each one.
 * Operations that make no sense for any of them (restore without an archived event) are left out.
 */
export function operationChoices(
  outbox: OutboxInfo,
  events: readonly Pick<OutboxEvent, 'state'>[],
  mayOperate: boolean,
): OperationChoice[] {
  const capabilities = outbox.capabilities.operations;
  const rank = (operation: string) => (ORDER.includes(operation) ? ORDER.indexOf(operation) : ORDER.length);
  const keys = Object.keys(capabilities).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, 'en'));
  const archived = events.filter((event) => event.state === 'archived').length;
  return keys
    .filter((operation) => (operation === 'restore' ? archived > 0 : archived < events.length))
    .map((operation): OperationChoice => {
      const capability = capabilities[operation];
      if (!mayOperate) return { operation, allowed: 0, obstacle: { kind: 'refusal', code: 'forbidden' } };
      if (!outbox.writable) return { operation, allowed: 0, obstacle: { kind: 'refusal', code: 'read_only' } };
      if (capability === undefined || !capability.offered) {
        return { operation, allowed: 0, obstacle: { kind: 'refusal', code: capability?.because ?? 'not_supported' } };
      }
      const allowed = events.filter((event) => event.state !== 'unmapped' && capability.from.includes(event.state)).length;
      return { operation, allowed, obstacle: allowed === 0 ? { kind: 'states', from: capability.from } : null };
    });
}
