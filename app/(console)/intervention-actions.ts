'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { interventionByKey, readPreview, runIntervention } from '@/lib/server/reads/changes';
import { eventId, idempotencyKey, interventionRequest, outboxId } from '@/lib/server/schemas';
import { INTERVENTION_EVENTS_MAX } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';

/** What an operation would do to these events now; an empty version asks for the row as it is. */
export const previewIntervention = defineAction({
  id: 'intervention.preview',
  permission: 'event:operate',
  input: z.strictObject({
    outbox: outboxId,
    operation: z.string().min(1).max(63),
    events: z
      .array(z.strictObject({ id: eventId, version: z.string().max(4_096) }))
      .min(1)
      .max(INTERVENTION_EVENTS_MAX),
  }),
  run: (context, { outbox, operation, events }) => readPreview(context, outbox, { operation, events }),
});

/** Carries an operation out, once per key. */
export const intervene = defineAction({
  id: 'intervention.carry-out',
  permission: 'event:operate',
  input: z.strictObject({ outbox: outboxId, request: interventionRequest, key: idempotencyKey }),
  attempted: ({ outbox, request }) => ({
    outbox,
    operation: request.operation,
    events: request.events.map(({ id }) => id),
    reason: request.reason,
  }),
  run: runIntervention,
});

/** What became of the intervention with this key of the asker's own; null when no record of it was made. */
export const checkIntervention = defineAction({
  id: 'intervention.check',
  permission: 'event:operate',
  input: z.strictObject({ outbox: outboxId, key: idempotencyKey }),
  run: async (context, { outbox, key }) => {
    try {
      return await interventionByKey(context, outbox, key);
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return null;
      throw error;
    }
  },
});
