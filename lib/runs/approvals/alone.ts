/** What one person changes without a second one. */
import { uuidv7 } from 'uuidv7';
import { eventsById } from '@/lib/interventions/classify';
import { findByKey } from '@/lib/interventions/find-intervention';
import { intervene, isUnderWay, type InterventionDeps } from '@/lib/interventions/intervene';
import type { ActorsKey } from '@/lib/interventions/operation';
import { asProblem } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { InterventionPreview, InterventionRequest, InterventionResult, OutboxEvent } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { deleteSpending, replaceSpending } from '@/lib/store/spending';
import { isIdempotent, readsEvents, rulesFor, spendOf } from './limits';
import { hasNoApprover, passedNow, reserve, spendingId, type PolicyDeps } from './policy';

const STORE_AWAY = 'The console cannot count in its own store at the moment what one person may change alone, so this try changed nothing';

type Spender = Pick<OutboxEvent, 'id' | 'type' | 'amount' | 'currency'>;

/** `intervene`, where the rules let one person do it. Throws Problem as that does, and `approval_required`. */
export async function interveneWithinLimits(
  deps: PolicyDeps & { interventions: InterventionDeps },
  by: ActorsKey,
  request: InterventionRequest,
  elapsedMs: () => number,
): Promise<InterventionResult> {
  const { interventions, store } = deps;
  const { outbox: outboxId, actor, key } = by;
  const carryOut = (): Promise<InterventionResult> => intervene(interventions, actor, outboxId, request, key, elapsedMs);
  const rules = rulesFor(deps.approvals, outboxId, request.operation);
  if (rules.length === 0) return carryOut();
  const ids = request.events.map(({ id }) => id);
  const events = readsEvents(rules) ? await spenders(await interventions.directory.get(outboxId), ids) : null;
  const spendFor = (some: readonly string[]) =>
    spendOf(
      some.map((id) => events?.get(id) ?? { type: null, amount: null, currency: null }),
      deps.directory.settings(outboxId),
    );
  const spend = spendFor(ids);
  const [reserved, id] = [uuidv7(), spendingId(outboxId, actor, key)];
  const intended = { actor, outbox: outboxId, operation: request.operation, spend };
  try {
    await store.db.transaction().execute((db) => reserve(deps, db, intended, reserved, id));
  } catch (error) {
    if (!(error instanceof Problem)) throw new Problem('unavailable', STORE_AWAY, { ofStore: true, cause: error });
    // Sent again while it is under way, or after its events were changed, it changes nothing more: it gets the same answer.
    if (error.code === 'approval_required' && (isUnderWay(by) || (await isDone(interventions, by)))) return carryOut();
    throw error;
  }
  const result = await carryOut().catch(async (error: unknown) => {
    // This try changed nothing. What is not settled here counts as changed for an hour.
    if (error instanceof Problem) await deleteSpending(store.db, reserved).catch(() => undefined);
    throw error;
  });
  const { count, sums } = result.outcome === 'unknown' ? spend : spendFor(result.changed);
  const row = { id, outbox: outboxId, actorId: actor.id, operation: request.operation, count, sums };
  await replaceSpending(store.db, reserved, row).catch(() => undefined);
  return result;
}

/** Throws Problem `in_progress` if another process is at it. */
async function isDone(deps: InterventionDeps, by: ActorsKey): Promise<boolean> {
  const found = await findByKey(deps, by).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'in_progress') throw error;
    return null;
  });
  return found !== null && found.changed.length > 0;
}

/** The events as they are now, wherever they are. */
const spenders = (outbox: Outbox, ids: readonly string[]): Promise<Map<string, Spender>> =>
  eventsById(outbox, ids).catch(asProblem(outbox));

/** Whether a second person would be asked now for these events, said before they are sent. */
export async function approvalBefore(
  deps: PolicyDeps,
  actor: Actor,
  outbox: Outbox,
  operation: string,
  events: readonly Spender[],
): Promise<NonNullable<InterventionPreview['approval']> | null> {
  const spend = spendOf(events, outbox.settings);
  const because = await passedNow(deps, { actor, outbox: outbox.id, operation, spend }, uuidv7());
  return because.length === 0 ? null : { because, nobody: await hasNoApprover(deps.store.db, actor.id) };
}

/** Where types are declared: how many of these events a consumer may not take twice. */
export function consumerWarning({ settings: { consumers = {} } }: Outbox, events: readonly Spender[]): InterventionPreview['warnings'] {
  const count = Object.keys(consumers).length === 0 ? 0 : events.filter(({ type }) => !isIdempotent(consumers, type)).length;
  return count === 0 ? [] : [{ code: 'consumer_not_idempotent', count }];
}
