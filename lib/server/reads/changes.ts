import 'server-only';
import { fatesOf } from '@/lib/interventions/fates';
import { findByKey, findIntervention } from '@/lib/interventions/find-intervention';
import { previewIntervention } from '@/lib/interventions/preview';
import { orderWithin } from '@/lib/outbox/lists/neighbours';
import { presentEvent } from '@/lib/outbox/masking/mask';
import { keepProof, proofStatus, turnChanges } from '@/lib/proving/keep';
import { prove } from '@/lib/proving/prove';
import { approvalBefore, consumerWarning, interveneWithinLimits } from '@/lib/runs/approvals/alone';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import { type Fates, isFollowed } from '@/lib/shared/changes/fates';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import type { InterventionPreview, InterventionRequest, InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { onOutbox } from './outboxes';
import { seesAll, shownError } from './shown';
import { together } from './together';

type Asked = Omit<InterventionRequest, 'reason'>;

/** A preview masked for this actor; changes nothing. Throws Problem `not_found`, `invalid`, `timeout`, `unavailable`. */
export function readPreview(context: Context, outboxId: string, request: Asked): Promise<InterventionPreview> {
  return onOutbox(context, outboxId, async (outbox) => {
    const preview = await previewIntervention(outbox, request);
    const unmask = seesAll(context);
    const ids = isFollowed(request.operation) ? preview.rows.flatMap(({ event, allowed }) => (allowed ? event.id : [])) : [];
    const order = ids.length === 0 ? null : await orderWithin(outbox, ids);
    if (order === 'not_looked') preview.orderNotLooked = true;
    else if (order !== null) preview.warnings.push(...order);
    const allowed = preview.rows.flatMap((row) => (row.allowed ? row.event : []));
    if (isFollowed(request.operation)) preview.warnings.push(...consumerWarning(outbox, allowed));
    preview.approval = await approvalBefore(context.console.planDeps, context.actor, outbox, request.operation, allowed);
    return { ...preview, rows: preview.rows.map((row) => ({ ...row, event: presentEvent(outbox, row.event, unmask) })) };
  });
}

/** Once per key and actor, as far as one person may. Throws Problem as `intervene` does, and `approval_required`. */
export const runIntervention = (
  { console, actor, elapsedMs }: Context,
  { outbox, request, key }: { outbox: string; request: InterventionRequest; key: string },
): Promise<InterventionResult> =>
  interveneWithinLimits({ ...console.planDeps, interventions: console.interventions }, { outbox, actor, key }, request, elapsedMs);

/** The result of an intervention, or what became of it since. Throws Problem `not_found`, `unavailable`. */
export async function interventionById({ console }: Context, id: string): Promise<InterventionResult> {
  const found = await findIntervention(console.interventions, id);
  if (found === null) throw new Problem('not_found', 'There is no such intervention');
  return found;
}

/** The result for one of the actor's own keys on an outbox. Throws Problem `not_found`, or as `findByKey` does. */
export async function interventionByKey({ console, actor }: Context, outboxId: string, key: string): Promise<InterventionResult> {
  const found = await findByKey(console.interventions, { outbox: outboxId, actor, key });
  if (found !== null) return found;
  const yet = `One that was sent less than ${NO_RECORD_AFTER_MS / 1_000} seconds ago may be yet`;
  throw new Problem('not_found', `No intervention with this key was carried out on this outbox. ${yet}`);
}

/** What became of the events that an intervention changed. Throws Problem `not_found`, `unavailable`. */
export function readFates(context: Context, outboxId: string, intervention: string): Promise<Fates> {
  return onOutbox(context, outboxId, async (outbox) => {
    const { failed: id, ...fates } = await together(outbox, ['fates', intervention], () => fatesOf(outbox, intervention));
    return id === null ? fates : { ...fates, error: await shownError(context, outbox, id, fates.error) };
  });
}

/** What is proven of an outbox's mapping, and whether it may be changed. Throws Problem `not_found`, `unavailable`. */
export const readProof = (context: Context, outboxId: string): Promise<ProofStatus> =>
  onOutbox(context, outboxId, (outbox) => proofStatus(context.console.store, outbox));

/** Proves the mapping on events, undoing each trial; keeps the proof and returns the status. Throws Problem as `prove` does. */
export async function runProof(context: Context, outboxId: string, events: string[]): Promise<ProofStatus> {
  const { console, actor } = context;
  // With the table as it is now, not as bound up to 30 s ago.
  console.directory.forget(outboxId);
  await onOutbox(context, outboxId, async (outbox) => {
    await keepProof(console.store, console.directory, outbox, await prove(outbox, { events, actor: actor.name }), actor);
  });
  return readProof(context, outboxId);
}

/** Turns changes of an outbox on or off, with a reason and an audit entry. Throws Problem `conflict` if nothing is proven. */
export async function switchChanges(context: Context, outboxId: string, request: { on: boolean; reason: string }): Promise<ProofStatus> {
  const { console, actor } = context;
  console.directory.forget(outboxId);
  await onOutbox(context, outboxId, (outbox) => turnChanges(console.store, console.directory, outbox, request, actor));
  return readProof(context, outboxId);
}
