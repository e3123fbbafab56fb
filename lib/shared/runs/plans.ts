/** A plan: a frozen set of events and an operation, with what a person needs to decide on it. */
import type { SkipCode } from '../model';
import type { ApprovalLimit } from './approvals';

/** Most events of a plan; most pasted ids. */
export const PLAN_EVENTS_MAX = 250_000;
export const PLAN_IDS_MAX = 10_000;
/** After this nobody starts it any more. */
export const PLAN_HOURS = 24;
/** Events frozen by one step, and by one chunk of the store. */
export const PLAN_STEP = 500;
export const PLAN_CHUNK = 1_000;

/** What a run left: why an event was skipped, or where it is since; `changed`: it did what it should. */
export const LEFT_CODES = ['changed', 'blocked_by_order', 'failed_again', 'waiting', 'not_known', 'remaining'] as const;
export type LeftCode = SkipCode | (typeof LEFT_CODES)[number];

/** Which events: a list's filter as in its URL (`state=dead&type=…`), a cause, pasted ids, or what a run left. */
export type PlanSource = { filter: string } | { cause: string } | { ids: string[] } | { run: string; codes: LeftCode[] };

export interface PlanRequest {
  operation: string;
  reason: string;
  source: PlanSource;
}

/** `expired`: nobody answered in time, or it was not started in time. `void`: plan or policy changed since. */
export type ApprovalState = 'requested' | 'approved' | 'refused' | 'expired' | 'void';

export interface Approval {
  state: ApprovalState;
  /** Limits that are passed. */
  because: ApprovalLimit[];
  requestedAt: string;
  /** Until when it is answered; once approved, until when the run is started. ISO 8601 UTC. */
  until: string;
  /** Who answered, when and why; null before. */
  answer: { by: string; at: string; reason: string } | null;
  /** No account may approve it: said in the refusal and on the screens. */
  nobody: boolean;
}

export interface Plan extends PlanRequest, Record<'id' | 'outbox' | 'createdAt' | 'expiresAt', string> {
  /** Who made it: the name that the audit shows. */
  maker: string;
  /** Whether the one who asks made it. */
  own: boolean;
  count: number;
  /** Exact decimal text per currency ('' without one), and how many events have no amount. */
  sums: Record<string, string>;
  withoutAmount: number;
  /** Largest first. */
  types: { type: string | null; count: number }[];
  /** Creation of the oldest event; null if none has a time. */
  oldestAt: string | null;
  /** How far was looked, as lists say it. */
  searched: { rows: number; complete: boolean };
  /** SHA-256, hex, of all that will run: operation, statements, events with their versions. */
  hash: string;
  /** How many events each is about, of the catalogue's warning codes. */
  warnings: Record<string, number>;
  /** Events whose order was not looked at: no index, or too slow. */
  orderNotLooked: number;
  /** What runs, for one event; placeholders as the engine writes them. */
  sql: { text: string; parameters: string[] }[];
  /** How long it may take, in seconds, at half of the most that the relay published within a day; null if that is not known. */
  expectedSeconds: number | null;
  approval: Approval | null;
  /** `expired`: too old to start. `void`: the table, the policy or the maker's rights changed. */
  state: 'open' | 'started' | 'expired' | 'void';
  /** The run that carries it out. */
  run: string | null;
}

/** Whether its run, if it sends, waits for a word after the first event. What is left alone anyway needs none. */
export const hasWarnings = ({ warnings }: Pick<Plan, 'warnings'>): boolean =>
  Object.entries(warnings).some(([code, events]) => events > 0 && code !== 'wrong_state');

/** The first of its events, for the screen: as lists show them. */
export const PLAN_SHOWN = 50;
