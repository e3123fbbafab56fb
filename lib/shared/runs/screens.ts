/** What the screens of plans, approvals and runs poll; a run's screen polls the `Run` itself. */
import type { OutboxEvent } from '../model';
import type { Plan } from './plans';
import type { Run } from './runs';

/** Newest first, at most this many. */
export const PLANS_SHOWN = 100;

/** A plan in a list. */
export interface PlanLine extends Omit<Plan, 'source' | 'types' | 'warnings' | 'sql' | 'hash' | 'searched' | 'orderNotLooked'> {
  /** How far its run is; null without one. */
  progress: Pick<Run, 'state' | 'because' | 'requested' | 'changed' | 'remaining'> | null;
}

export interface PlansSnapshot {
  asOf: string;
  plans: PlanLine[];
}

export interface PlanSnapshot {
  asOf: string;
  plan: Plan;
  /** The first PLAN_SHOWN of its events as they are now, as this reader may see them; without those that are gone. */
  events: OutboxEvent[];
  /** Why there are none to show: its database does not answer. */
  unread: 'timeout' | 'unavailable' | null;
}
