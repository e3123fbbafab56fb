import { z } from 'zod';
import { readEvents, readEventsQuery } from '@/lib/server/reads/events';
import { defineRoute } from '@/lib/server/route';
import { outboxId } from '@/lib/server/schemas';

export const GET = defineRoute({
  id: 'api.events',
  permission: 'outbox:read',
  params: z.object({ outbox: outboxId }),
  run: (context, { params, request }) => {
    const { filter, cursor, limit } = readEventsQuery(request.nextUrl.searchParams);
    return readEvents(context, params.outbox, filter, { cursor, limit });
  },
});
