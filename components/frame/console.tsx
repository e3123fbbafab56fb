import { createContext, useContext, type ReactNode } from 'react';
import { can, type Permission, type Role } from '@/lib/shared/permissions';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import type { InterventionPreview, InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';

/** What every screen knows: who looks at it, which outboxes there are, and the way to change events. */
export interface ConsoleValue {
  account: { name: string; role: Role };
  /** `changeable`: has a login for changes and an operation to prove; without them there is nothing to set. */
  outboxes: readonly { id: string; name: string; changeable: boolean }[];
  interventions: InterventionActions;
}

/** What the dialog of a change asks of the server: its actions, handed in by the layout. */
export interface InterventionActions {
  preview(input: { outbox: string; operation: string; events: SeenEvent[] }): Promise<ActionResult<InterventionPreview>>;
  /** Carries it out. The same key twice is the same intervention. */
  intervene(input: { outbox: string; request: InterventionRequest; key: string }): Promise<ActionResult<InterventionResult>>;
  /** What became of the intervention with this key; null when there is no record of it. */
  check(input: { outbox: string; key: string }): Promise<ActionResult<InterventionResult | null>>;
}

const ConsoleContext = createContext<ConsoleValue | null>(null);

export function ConsoleProvider({ value, children }: { value: ConsoleValue; children: ReactNode }) {
  return <ConsoleContext value={value}>{children}</ConsoleContext>;
}

export function useConsole(): ConsoleValue {
  const value = useContext(ConsoleContext);
  if (!value) throw new Error('useConsole needs a ConsoleProvider above it');
  return value;
}

/** Whether who looks at the screen may do this; the server asks again. */
export const useMay = (permission: Permission): boolean => can(useConsole().account.role, permission);

/** The name of an outbox by its id; the id where it is not configured any more. */
export function useOutboxName(): (id: string) => string {
  const { outboxes } = useConsole();
  return (id) => outboxes.find((outbox) => outbox.id === id)?.name ?? id;
}
