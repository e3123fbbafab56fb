import 'server-only';
import { eventsById } from '@/lib/interventions/classify';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import { hasNoApprover } from '@/lib/runs/approvals/policy';
import { answerPlan } from '@/lib/runs/plans/answer';
import { createPlan } from '@/lib/runs/plans/create';
import { factsOf, plannedEvents, sourceOf, type PlanDeps } from '@/lib/runs/plans/plan';
import { voidByPolicy, whyVoid } from '@/lib/runs/plans/void';
import { FILTER_FIELDS, serialiseEventFilter, toSearchParams } from '@/lib/shared/lists/event-filter';
import type { OutboxEvent } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { ApprovalLimit } from '@/lib/shared/runs/approvals';
import { PLAN_SHOWN, type Approval, type Plan, type PlanSource } from '@/lib/shared/runs/plans';
import type { PauseReason, RunCounts } from '@/lib/shared/runs/runs';
import { PLANS_SHOWN, type PlanLine, type PlanSnapshot, type PlansSnapshot } from '@/lib/shared/runs/screens';
import { approvalsOf, findApproval, openRequests, type ApprovalRow } from '@/lib/store/approvals';
import { findPlan, selectPlans, type PlanFilter, type PlanRow } from '@/lib/store/plans';
import { pageOf, positionOf } from '@/lib/store/pages';
import type { Context } from '../context';
import { invalid } from '../input';
import { ofPlan, type PlanAnswer, type PlanAsked } from '../schemas';
import { readEventsQuery } from './events';
import { onOutbox } from './outboxes';
import { hiddenFilters, seesAll, shownEvents } from './shown';

/** Freezes a plan, once per key and actor. Throws Problem as `createPlan` does. */
export async function makePlan(context: Context, outboxId: string, { source, ...asked }: PlanAsked, key: string): Promise<Plan> {
  const request = { ...asked, source: 'filter' in source ? { filter: filterText(source.filter) } : source };
  return shownPlan(context, await createPlan(context.console.planDeps, context.actor, outboxId, request, key));
}

/** The same filter always as the same text. Throws Problem `invalid` naming what is unknown or wrong. */
function filterText(filter: string | Record<string, string | string[]>): string {
  const params = typeof filter === 'string' ? new URLSearchParams(filter) : toSearchParams(filter);
  // Of a list's address: a plan is of all pages, oldest first.
  if (typeof filter === 'string') for (const name of ['cursor', 'limit', 'order']) params.delete(name);
  if (params.has('cursor') || params.has('limit'))
    throw invalid('A plan takes all events of its filter', { filter: 'has cursor or limit' });
  return serialiseEventFilter(readEventsQuery(params).filter).toString();
}

async function planRow({ console }: Context, id: string): Promise<PlanRow> {
  const plan = ofPlan.safeParse({ plan: id }).success ? await findPlan(console.store.db, id) : null;
  if (plan === null) throw new Problem('not_found', 'There is no such plan');
  return plan;
}

/** Throws Problem `not_found`. */
export const readPlan = async (context: Context, id: string): Promise<Plan> => shownPlan(context, await planRow(context, id));

/** With the first of its events as they are now, where its database answers. Throws Problem `not_found`. */
export async function readPlanSnapshot(context: Context, id: string): Promise<PlanSnapshot> {
  const row = await planRow(context, id);
  const plan = await shownPlan(context, row);
  const events = await firstEventsOf(context, row).catch((error: unknown) => {
    if (error instanceof Problem && (error.code === 'timeout' || error.code === 'unavailable')) return error.code;
    throw error;
  });
  const shown = typeof events === 'string' ? { events: [], unread: events } : { events, unread: null };
  return { asOf: new Date().toISOString(), plan, ...shown };
}

async function firstEventsOf(context: Context, row: PlanRow): Promise<OutboxEvent[]> {
  if (!context.console.directory.ids.includes(row.outbox)) return [];
  const { value: first = [] } = (await plannedEvents(context.console.store.db, row).next()) as { value?: { id: string }[] };
  const ids = first.slice(0, PLAN_SHOWN).map(({ id }) => id);
  return onOutbox(context, row.outbox, async (outbox) => {
    const found = await eventsById(outbox, ids);
    const events = ids.flatMap((id) => found.get(id) ?? []);
    return shownEvents(context, outbox, events);
  });
}

/** Says yes or no to somebody else's plan. Throws Problem as `answerPlan` does. */
export async function sayOfPlan(context: Context, id: string, answer: 'approve' | 'refuse', asked: PlanAnswer): Promise<Plan> {
  const said = { answer, reason: asked.reason, hash: asked.hash ?? null };
  return shownPlan(context, await answerPlan(context.console.planDeps, context.actor, id, said));
}

/** A page of plans, newest first. Throws Problem `invalid` for a foreign cursor. */
export async function readPlans(
  context: Context,
  { cursor, limit, ...filter }: PlanFilter & { cursor?: string; limit: number },
): Promise<PlansSnapshot & { nextCursor: string | null }> {
  const rows = await selectPlans(context.console.store.db, filter, positionOf(cursor, 'plans'), limit + 1);
  const { shown, nextCursor } = pageOf(rows, limit, ({ createdAt: at, id }) => ({ at, id }));
  return { ...(await linesOf(context, shown)), nextCursor };
}

export const readPlansSnapshot = async (context: Context): Promise<PlansSnapshot> =>
  linesOf(context, await selectPlans(context.console.store.db, {}, null, PLANS_SHOWN));

/** Plans that wait for an answer which this reader may give; their number is the badge. */
export async function readApprovals(context: Context): Promise<PlansSnapshot & { count: number }> {
  const { db } = context.console.store;
  const { actor } = context;
  const ids = can(actor.role, 'plan:approve') && actor.kind === 'account' ? await openRequests(db, PLANS_SHOWN) : [];
  const rows = ids.length === 0 ? [] : await selectPlans(db, { ids }, null, PLANS_SHOWN);
  const { asOf, plans: lines } = await linesOf(context, rows);
  const plans = lines.filter(({ own, approval, state }) => !own && state === 'open' && approval?.state === 'requested');
  return { asOf, plans, count: plans.length };
}

async function linesOf(context: Context, rows: readonly PlanRow[]): Promise<PlansSnapshot> {
  const deps = context.console.planDeps;
  const ids = rows.map(({ id }) => id);
  const approvals = await approvalsOf(deps.store.db, ids);
  const plans = await Promise.all(
    rows.map(async (row): Promise<PlanLine> => {
      const approval = approvals.get(row.id) ?? null;
      const { source: _, types: _types, sql: _sql, ...line } = await presented(context, row, approval, isVoidByRules(deps, row, approval));
      return { ...line, progress: progressOf(row) };
    }),
  );
  return { asOf: new Date().toISOString(), plans };
}

function progressOf({ runState, runBecause, runProgress }: PlanRow): PlanLine['progress'] {
  if (runState === null || runProgress === null) return null;
  const { requested, changed, remaining } = (JSON.parse(runProgress) as { counts: RunCounts }).counts;
  return { state: runState, because: runBecause as PauseReason | null, requested, changed, remaining };
}

const isVoidByRules = (deps: PlanDeps, row: PlanRow, approval: ApprovalRow | null): boolean =>
  !deps.directory.ids.includes(row.outbox) || voidByPolicy(deps, row, approval) !== null;

async function shownPlan(context: Context, row: PlanRow): Promise<Plan> {
  const deps = context.console.planDeps;
  const approval = await findApproval(deps.store.db, row.id);
  const isOpen = row.runId === null && !row.expired;
  // What cannot be looked at now is not void: the start looks again.
  const isVoid = isOpen && (isVoidByRules(deps, row, approval) || (await whyVoid(deps, row).catch(() => null)) !== null);
  return presented(context, row, approval, isVoid);
}

async function presented(context: Context, row: PlanRow, approval: ApprovalRow | null, isVoid: boolean): Promise<Plan> {
  const { spend: _spend, samples: _samples, policy: _policy, ...facts } = factsOf(row);
  const { id, outbox, operation, reason, count, hash, createdAt, expiresAt } = row;
  const plan: Plan = {
    ...{ id, outbox, operation, reason, count, hash, createdAt, expiresAt },
    ...facts,
    source: sourceOf(row),
    maker: row.actorName,
    own: row.actorId === context.actor.id,
    approval: approval === null ? null : await shownApproval(context, row, approval, isVoid),
    state: row.runId !== null ? 'started' : row.expired ? 'expired' : isVoid ? 'void' : 'open',
    run: row.runId,
  };
  return seesAll(context) ? plan : masked(context, plan);
}

async function shownApproval({ console }: Context, row: PlanRow, approval: ApprovalRow, isVoid: boolean): Promise<Approval> {
  const waits = row.runId === null && (approval.state === 'requested' || approval.state === 'approved');
  const state = !waits ? approval.state : isVoid ? 'void' : approval.late || row.expired ? 'expired' : approval.state;
  const { answeredAt: at, actorName: by, reason } = approval;
  return {
    state,
    because: JSON.parse(approval.because) as ApprovalLimit[],
    requestedAt: approval.requestedAt,
    until: approval.until,
    answer: at === null || by === null ? null : { by, at, reason: reason ?? '' },
    nobody: state === 'requested' && (await hasNoApprover(console.store.db, row.actorId)),
  };
}

/**
 * Without what lists hide from this reader: versions and values of statements, what its filter or cause read, and the hash over all of it, by
 * which a guess could be tried.
 */
function masked(context: Context, whole: Plan): Plan {
  const sql = whole.sql.map(({ text }) => ({ text, parameters: [] }));
  const plan: Plan = { ...whole, sql, hash: '', source: maskedSource(context, whole) };
  const { directory } = context.console;
  const hidden = directory.ids.includes(plan.outbox) ? hiddenFields(directory.settings(plan.outbox)) : null;
  const noAmounts = hidden === null || hidden.has('amount') || hidden.has('currency');
  const { consumer_not_idempotent: _, ...warnings } = plan.warnings;
  return {
    ...plan,
    ...(noAmounts ? { sums: {}, withoutAmount: plan.count } : {}),
    ...(hidden === null || hidden.has('type') ? { types: [], warnings } : {}),
  };
}

function maskedSource(context: Context, { outbox, source }: Plan): PlanSource {
  if ('cause' in source) return { cause: '' };
  if (!('filter' in source)) return source;
  if (!context.console.directory.ids.includes(outbox)) return { filter: '' };
  const params = new URLSearchParams(source.filter);
  const hidden = hiddenFilters(context, outbox);
  // A cause is told by an error, of which this reader sees a part.
  for (const field of FILTER_FIELDS) if (field in hidden || field === 'cause') params.delete(field);
  return { filter: params.toString() };
}
