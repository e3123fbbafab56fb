import 'server-only';
import { keepProof, proofStatus, turnChanges } from '@/lib/proving/keep';
import { prove } from '@/lib/proving/prove';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import type { Context } from '../context';
import { onOutbox } from './source';

/** What is proven of an outbox's mapping and whether it may be changed. Throws Problem `not_found`, `unavailable`. */
export function readProof(context: Context, outboxId: string): Promise<ProofStatus> {
  return onOutbox(context, outboxId, (outbox) => proofStatus(context.console.store, outbox));
}

/** Proves the mapping on events that are taken back, keeps the proof, and answers what it found. Throws Problem as `prove` does. */
export async function runProof(context: Context, outboxId: string, events: string[]): Promise<ProofStatus> {
  const { console, actor } = context;
  // As the table is now, not as it was half a minute ago.
  console.directory.forget(outboxId);
  await onOutbox(context, outboxId, async (outbox) => {
    const document = await prove(outbox, { events, actor: actor.name });
    await keepProof(console.store, console.directory, outbox, document, actor);
  });
  return readProof(context, outboxId);
}

/** Turns changes of an outbox on or off, with a reason, in the audit. Throws Problem `conflict` when nothing is proven. */
export async function switchChanges(context: Context, outboxId: string, request: { on: boolean; reason: string }): Promise<ProofStatus> {
  const { console, actor } = context;
  console.directory.forget(outboxId);
  await onOutbox(context, outboxId, (outbox) => turnChanges(console.store, console.directory, outbox, request, actor));
  return readProof(context, outboxId);
}
