import { createSafeContext } from '@mantine/core';
import { can, type Permission, type Role } from '@/lib/shared/permissions';
import type { Fates } from '@/lib/shared/changes/fates';
import type { InterventionPreview, InterventionRequest, InterventionResult, SeenEvent } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import type { Plan, PlanRequest } from '@/lib/shared/runs/plans';
import type { PlansSnapshot } from '@/lib/shared/runs/screens';

/** What every screen knows: the viewer's account, the outboxes, and the actions that change events. */
export interface ConsoleValue {
  account: { name: string; role: Role };
  outboxes: readonly { id: string; name: string }[];
  /** Ids of those with a login for changes and an operation to prove; without them there is nothing to set. */
  changeable: readonly string[];
  interventions: InterventionActions;
  plans: PlanActions;
}

export interface PlanActions {
  /** The same key again is the same plan. */
  make(input: { outbox: string; request: PlanRequest; key: string }): Promise<ActionResult<Pick<Plan, 'id'>>>;
  /** Plans that wait for this person's answer. */
  approvals(input: Record<string, never>): Promise<ActionResult<PlansSnapshot>>;
}

/** The server actions of the intervention dialog, passed in by the layout. */
export interface InterventionActions {
  preview(input: { outbox: string; operation: string; events: SeenEvent[] }): Promise<ActionResult<InterventionPreview>>;
  /** Carries it out. The same key again is the same intervention. */
  intervene(input: { outbox: string; request: InterventionRequest; key: string }): Promise<ActionResult<InterventionResult>>;
  /** What became of the intervention with this key; null if it has no record. */
  check(input: { outbox: string; key: string }): Promise<ActionResult<InterventionResult | null>>;
  /** What became of the events. */
  follow(input: { outbox: string; intervention: string }): Promise<ActionResult<Fates>>;
}

export const [ConsoleContext, useConsole] = createSafeContext<ConsoleValue>('useConsole needs a ConsoleContext above it');

/** Whether the viewer may do this; the server checks again. */
export const useMay = (permission: Permission): boolean => can(useConsole().account.role, permission);

/** The name of an outbox by id; the id if it is not configured. */
export function useOutboxName(): (id: string) => string {
  const { outboxes } = useConsole();
  return (id) => outboxes.find((outbox) => outbox.id === id)?.name ?? id;
}
