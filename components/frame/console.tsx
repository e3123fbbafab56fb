import { createContext, useContext, type ReactNode } from 'react';
import { can, type Permission, type Role } from '@/lib/shared/permissions';
import type { InterventionActions } from '../interventions/send';

/** What every screen knows: who looks at it, which outboxes there are, and the way to change events. */
export interface ConsoleValue {
  account: { name: string; role: Role };
  outboxes: readonly NamedOutbox[];
  interventions: InterventionActions;
}

interface NamedOutbox {
  id: string;
  name: string;
  /** It has a login for changes and an operation to prove: without them there is nothing to set. */
  changeable: boolean;
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
export function useMay(permission: Permission): boolean {
  return can(useConsole().account.role, permission);
}

/** The name of an outbox by its id; the id where it is not configured any more. */
export function useOutboxName(): (id: string) => string {
  const { outboxes } = useConsole();
  return (id) => outboxes.find((outbox) => outbox.id === id)?.name ?? id;
}
