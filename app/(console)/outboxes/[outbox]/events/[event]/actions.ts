'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readEventDetail } from '@/lib/server/reads/event-detail';
import { eventId, outboxId } from '@/lib/server/schemas';

/** Everything about one event. */
export const eventSnapshot = defineAction({
  id: 'event.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId, event: eventId }),
  run: (context, { outbox, event }) => readEventDetail(context, outbox, event),
});
