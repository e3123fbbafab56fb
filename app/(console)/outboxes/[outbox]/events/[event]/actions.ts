'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readEventUpdate } from '@/lib/server/reads/event';
import { eventId, outboxId } from '@/lib/server/schemas';

/**
 * Everything about one event, newer than what the screen was told `since`; without it, as it is from now on. Content that the
 * screen has is left out.
 */
export const eventSnapshot = defineAction({
  id: 'event.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({
    outbox: outboxId,
    event: eventId,
    full: z.boolean().optional(),
    since: z.iso.datetime().optional(),
    contentKey: z.uuid().optional(),
  }),
  run: (context, { outbox, event, ...request }) => readEventUpdate(context, outbox, event, request),
});
