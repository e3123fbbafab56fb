'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { runProof, switchChanges } from '@/lib/server/reads/changes';
import { changesRequest, outboxId, proofRequest } from '@/lib/server/schemas';

/** Proves the mapping of an outbox. */
export const proveMapping = defineAction({
  id: 'proof.run',
  permission: 'mapping:prove',
  input: z.strictObject({ outbox: outboxId, proof: proofRequest }),
  attempted: ({ outbox }) => ({ operation: 'prove', outbox }),
  run: (context, { outbox, proof }) => runProof(context, outbox, proof.events),
});

/** Turns changes of an outbox on or off. */
export const allowChanges = defineAction({
  id: 'proof.switch',
  permission: 'mapping:prove',
  input: z.strictObject({ outbox: outboxId, request: changesRequest }),
  attempted: ({ outbox, request }) => ({
    operation: request.on ? 'turn_changes_on' : 'turn_changes_off',
    outbox,
    reason: request.reason,
  }),
  run: (context, { outbox, request }) => switchChanges(context, outbox, request),
});
