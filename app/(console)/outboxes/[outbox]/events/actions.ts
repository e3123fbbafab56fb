'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readEvents, readEventsQuery } from '@/lib/server/reads/events';
import { outboxId } from '@/lib/server/schemas';

/** A page of events; filter and cursor as the list's URL writes them. */
export const eventsSnapshot = defineAction({
  id: 'events.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({ outbox: outboxId, query: z.string().max(16_000) }),
  run: async (context, { outbox, query }) => {
    const { filter, cursor, limit } = readEventsQuery(new URLSearchParams(query));
    const page = await readEvents(context, outbox, filter, { cursor, limit });
    return { asOf: page.asOf, page, problem: null };
  },
});
